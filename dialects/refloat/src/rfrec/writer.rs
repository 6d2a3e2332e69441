//! Blocks, one behind the other.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::block::{Block, End, Head, Kind, TimeRef};
use super::recording::Recording;
use crate::wire::Header;

/// Writes a recording block by block, each appended to bytes that are the caller's to keep.
///
/// Samples may come in any order, as replies do; the order that [`Recording`] calls canonical is META, INFO, STATUS, HEADER,
/// SAMPLES as replies hold them, TIMEREF, END.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// How many samples there are to be, and how long each is.
    layout: Option<(u32, usize)>,
    /// The first sample that is not there yet, and the hash of those before it.
    next: u32,
    hash: Sha256,
    /// Samples behind the first that is missing, by their numbers.
    later: BTreeMap<u32, Vec<u8>>,
}

/// Why a block cannot be written. Nothing of it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// The reply lists no ids, or is none.
    #[error("invalid HEADER")]
    BadHeader,
    /// A file has one header.
    #[error("duplicate HEADER")]
    SecondHeader,
    /// Samples say nothing without the header in front of them.
    #[error("missing HEADER before the samples")]
    NoHeader,
    /// Not whole samples.
    #[error("{length} bytes is not a multiple of the sample size of {sample} bytes")]
    Ragged {
        /// How many bytes there are.
        length: usize,
        /// How long a sample is.
        sample: usize,
    },
    /// More samples than the header counts.
    #[error("sample {index} is beyond the {size} of the HEADER")]
    Beyond {
        /// The number of the sample.
        index: u64,
        /// How many there are to be.
        size: u32,
    },
    /// The recording has gaps.
    #[error("sample {index} of {size} is missing")]
    Missing {
        /// The first that is missing.
        index: u32,
        /// How many there are to be.
        size: u32,
    },
}

impl Writer {
    /// Begins a file: appends its head.
    pub fn begin(out: &mut Vec<u8>) -> Self {
        Head::emit(out);
        Self::default()
    }

    /// Goes on with the part of a file that [`Recording::resumable`] found to be whole.
    #[must_use]
    pub fn resume(held: &Recording<'_>) -> Self {
        let mut writer = Self { layout: held.header.as_ref().map(|h| (h.size, h.sample_len())), ..Self::default() };
        for run in held.runs() {
            writer.keep(run.index, held.bytes(run));
        }
        writer
    }

    /// Appends a block about the recording.
    pub fn meta(&mut self, meta: &serde_json::Map<String, serde_json::Value>, out: &mut Vec<u8>) {
        let text = serde_json::to_vec(meta).unwrap_or_default();
        Block { kind: Kind::Meta, payload: &text }.emit(out);
    }

    /// Appends an INFO reply.
    pub fn info(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        Block { kind: Kind::Info, payload }.emit(out);
    }

    /// Appends a STATUS reply.
    pub fn status(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        Block { kind: Kind::Status, payload }.emit(out);
    }

    /// Appends the HEADER reply, of which there is one.
    pub fn header(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        if self.layout.is_some() {
            return Err(WriteError::SecondHeader);
        }
        let header = Header::parse(payload).map_err(|_| WriteError::BadHeader)?;
        self.layout = Some((header.size, header.sample_len()));
        Block { kind: Kind::Header, payload }.emit(out);
        Ok(())
    }

    /// Appends samples, of which `index` is the number of the first. Those that are there already are written again.
    pub fn samples(&mut self, index: u32, samples: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        let (size, sample) = self.layout.ok_or(WriteError::NoHeader)?;
        if !samples.len().is_multiple_of(sample) {
            return Err(WriteError::Ragged { length: samples.len(), sample });
        }
        let end = u64::from(index) + (samples.len() / sample) as u64;
        if end > u64::from(size) {
            return Err(WriteError::Beyond { index: end.saturating_sub(1), size });
        }
        let mut payload = Vec::with_capacity(samples.len() + 4);
        payload.extend_from_slice(&index.to_be_bytes());
        payload.extend_from_slice(samples);
        Block { kind: Kind::Samples, payload: &payload }.emit(out);
        self.keep(index, samples);
        Ok(())
    }

    /// Appends when a tick of the board was.
    pub fn timeref(&mut self, timeref: &TimeRef, out: &mut Vec<u8>) {
        let mut payload = Vec::with_capacity(16);
        timeref.emit(&mut payload);
        Block { kind: Kind::TimeRef, payload: &payload }.emit(out);
    }

    /// Appends the last block, if all samples are there.
    pub fn end(&mut self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let (size, _) = self.layout.ok_or(WriteError::NoHeader)?;
        if self.next < size {
            return Err(WriteError::Missing { index: self.next, size });
        }
        let mut payload = Vec::with_capacity(36);
        End { samples: size, sha256: self.hash.clone().finalize().into() }.emit(&mut payload);
        Block { kind: Kind::End, payload: &payload }.emit(out);
        Ok(())
    }

    /// Whether all samples are there.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.layout.is_some_and(|(size, _)| self.next >= size)
    }

    /// Hashes samples, or keeps them until those before them are there.
    fn keep(&mut self, index: u32, samples: &[u8]) {
        let Some((_, sample)) = self.layout else { return };
        if index > self.next {
            let known = self.later.get(&index).map_or(0, Vec::len);
            if samples.len() > known {
                self.later.insert(index, samples.to_vec());
            }
            return;
        }
        self.hash_from(index, samples, sample);
        while let Some(first) = self.later.first_entry().filter(|first| *first.key() <= self.next) {
            let (index, samples) = first.remove_entry();
            self.hash_from(index, &samples, sample);
        }
    }

    /// Hashes what is new of samples that begin at or before the next one.
    fn hash_from(&mut self, index: u32, samples: &[u8], sample: usize) {
        let known = (self.next - index) as usize;
        let new = samples.get(known.saturating_mul(sample)..).unwrap_or_default();
        self.hash.update(new);
        self.next = self.next.saturating_add(u32::try_from(new.len() / sample).unwrap_or(u32::MAX));
    }
}

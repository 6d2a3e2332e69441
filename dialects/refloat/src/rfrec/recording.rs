//! A whole file, or as much of one as there is.

use std::ops::Range;

use logpose_core::{Problems, Time, array_at};
use serde_json::{Map, Value};

use super::assemble::Assembly;
use super::block::{Head, Kind, TimeRef};
use super::clock::{Clock, TICK_RATE, is_rate};
use super::error::Error;
use super::reader::Reader;
use crate::wire::{Header, Info, Status};

/// A recording: what is known about it, and the samples that there are, each once and in the order of their numbers.
///
/// A file without END, or with a damaged tail, is a partial one: [`Recording::missing`] returns what it lacks, and
/// [`Recording::resumable`] how to go on with it.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    /// The file's version.
    pub head: Head,
    /// What the first META says.
    pub meta: Map<String, Value>,
    /// The first INFO.
    pub info: Option<Info>,
    /// The ids and the number of samples that there should be.
    pub header: Option<Header<'a>>,
    /// The last STATUS.
    pub status: Option<Status>,
    /// When ticks of the board were.
    pub timerefs: Vec<TimeRef>,
    /// Whether END is there and all samples are, with the hash that it says.
    pub complete: bool,
    /// What is wrong with the file.
    pub problems: Problems,
    pub(crate) file: &'a [u8],
    pub(crate) parts: Vec<MetadataBlock<'a>>,
    pub(crate) runs: Vec<Run>,
    pub(crate) tick_rate: u32,
    pub(crate) blocks: u64,
    pub(crate) whole: u64,
}

/// A block besides those with samples.
#[derive(Clone, Copy, Debug)]
pub struct MetadataBlock<'a> {
    /// What it holds: META, INFO, HEADER, STATUS or TIMEREF.
    pub kind: Kind,
    /// Where its payload begins.
    pub at: u64,
    /// Its payload.
    pub payload: &'a [u8],
}

/// Samples that lie one behind the other in the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run {
    /// The number of the first.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// Where the first begins.
    pub at: u64,
}

impl Run {
    /// The number behind the last.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.index.saturating_add(self.count)
    }
}

/// One sample with its number and time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timed<'a> {
    /// Its number.
    pub index: u32,
    /// Where it stands in the file.
    pub at: u64,
    /// When it was, on the board's clock.
    pub time: Time,
    /// Whether that is before the one in front of it.
    pub back: bool,
    /// Its bytes as they were received.
    pub bytes: &'a [u8],
}

impl<'a> Recording<'a> {
    /// Reads a file. Reports what is damaged or missing in `problems`; it is an error if this is not a recording, or
    /// one of a later version, or if two blocks disagree about a sample.
    pub fn read(file: &'a [u8]) -> Result<Self, Error> {
        let reader = Reader::new(file)?;
        Assembly::new(file, reader.head()).read(reader)
    }

    /// What can be gone on with: the recording in the whole part at the front of a file, and the length of that part. Cut
    /// the file there and append what [`Writer::resume`](super::Writer::resume) writes.
    pub fn resumable(file: &'a [u8]) -> Result<(Self, u64), Error> {
        let all = Self::read(file)?;
        if all.complete {
            return Ok((all, file.len() as u64));
        }
        let whole = all.whole;
        let front = usize::try_from(whole).ok().and_then(|whole| file.get(..whole)).unwrap_or(file);
        Ok((Self::read(front)?, whole))
    }

    /// How many samples there should be, by the header.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.header.as_ref().map_or(0, |header| header.size)
    }

    /// How many samples there are.
    #[must_use]
    pub fn held(&self) -> u32 {
        self.runs.iter().fold(0, |sum, run| sum.saturating_add(run.count))
    }

    /// Bytes of one sample; 0 without a header.
    #[must_use]
    pub fn sample_len(&self) -> usize {
        self.header.as_ref().map_or(0, Header::sample_len)
    }

    /// The numbers of samples that are missing.
    #[must_use]
    pub fn missing(&self) -> Vec<Range<u32>> {
        gaps(&self.runs, self.size())
    }

    /// The stretches of samples, in the order of their numbers.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The bytes of a stretch.
    #[must_use]
    pub fn bytes(&self, run: &Run) -> &'a [u8] {
        bytes_of(self.file, run, self.sample_len())
    }

    /// The samples with their numbers, as they were received.
    pub fn samples(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        let length = self.sample_len().max(1);
        self.runs.iter().flat_map(move |run| (run.index..=u32::MAX).zip(self.bytes(run).chunks_exact(length)))
    }

    /// The samples with their numbers and times.
    pub fn timed(&self) -> impl Iterator<Item = Timed<'a>> {
        let length = self.sample_len().max(1);
        let mut clock = self.clock();
        let placed = self.runs.iter().flat_map(move |run| {
            let places = (run.at..).step_by(length);
            (run.index..=u32::MAX).zip(places).zip(self.bytes(run).chunks_exact(length))
        });
        placed.map(move |((index, at), bytes)| {
            let (time, back) = clock.next(tick_of(bytes));
            Timed { index, at, time, back, bytes }
        })
    }

    /// Blocks besides those with samples, in the order of the file.
    #[must_use]
    pub fn parts(&self) -> &[MetadataBlock<'a>] {
        &self.parts
    }

    /// The payload of the first block of a kind.
    #[must_use]
    pub fn payload(&self, kind: Kind) -> Option<&'a [u8]> {
        self.parts.iter().find(|part| part.kind == kind).map(|part| part.payload)
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How long the file is.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file.len() as u64
    }

    /// Ticks a second of the board's clock.
    #[must_use]
    pub fn tick_rate(&self) -> u32 {
        self.tick_rate
    }

    /// A clock for its ticks, before the first one.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::new(self.tick_rate)
    }

    /// What is to be added to the times of samples for nanoseconds since 1970, by the best of the TIMEREFs.
    #[must_use]
    pub fn epoch_ns(&self) -> Option<i64> {
        let best = self.timerefs.iter().min_by_key(|timeref| timeref.uncertainty_us)?;
        let mut clock = self.clock();
        self.samples().for_each(|(_, sample)| {
            clock.next(tick_of(sample));
        });
        let then = clock.later(best.tick)?;
        i64::try_from(best.host_us).ok()?.checked_mul(1000)?.checked_sub(then.nanos())
    }
}

/// The tick of a sample.
pub(crate) fn tick_of(sample: &[u8]) -> u32 {
    array_at(sample, 0).map_or(0, |tick| u32::from_be_bytes(*tick))
}

/// The tick rate of a board, if it says one that can be.
pub(crate) fn rate_of(info: &Info) -> u32 {
    let rate = info.tick_rate();
    if is_rate(rate) { rate } else { TICK_RATE }
}

pub(crate) fn bytes_of<'a>(file: &'a [u8], run: &Run, sample_len: usize) -> &'a [u8] {
    let range = || {
        let start = usize::try_from(run.at).ok()?;
        Some(start..start.checked_add((run.count as usize).checked_mul(sample_len)?)?)
    };
    range().and_then(|range| file.get(range)).unwrap_or_default()
}

/// What lies between stretches, below `size`.
pub(crate) fn gaps(runs: &[Run], size: u32) -> Vec<Range<u32>> {
    let mut next = 0;
    let mut gaps = Vec::new();
    for (start, end) in runs.iter().map(|run| (run.index, run.end())).chain([(size, size)]) {
        if next < start {
            gaps.push(next..start);
        }
        next = next.max(end);
    }
    gaps
}

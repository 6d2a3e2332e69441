//! Bytes in pieces, for files that still grow.

use std::collections::BTreeMap;

use logpose_core::{
    Channel, ChannelId, Decode, DecodeError, Limits, Parcel, Problem, Severity, Sink, SinkError, StreamError, Time,
};

use super::model::{STATES, Source, block_channel, item_channels, state_channel, value};
use super::rows::push_block;
use crate::rfrec::{Block, Clock, Error, ErrorKind, FRAME, HEAD, Head, Kind, TICK_RATE, TimeRef};
use crate::wire::{Header, Info};

/// A recording out of bytes in pieces: samples as soon as all before them are there.
///
/// Damage ends it: only a whole file shows what follows the damage.
pub(crate) struct StreamDecoder {
    limits: Limits,
    /// Bytes used so far.
    at: u64,
    header: Option<Layout>,
    clock: Clock,
    informed: bool,
    /// When the first sample was.
    first: Option<Time>,
    /// The next sample to emit, and those behind it that came early.
    next: u32,
    early: BTreeMap<u32, Vec<u8>>,
    /// Blocks that wait for the time of the first sample.
    parts: Vec<(Kind, Vec<u8>)>,
    /// Bytes that wait.
    held: usize,
    /// Channels of blocks that the sink knows.
    known: Vec<(Kind, ChannelId)>,
    channels: ChannelId,
    ended: bool,
}

/// What samples are made of.
struct Layout {
    size: u32,
    sample_len: usize,
    sources: Vec<(ChannelId, Source)>,
}

impl StreamDecoder {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            at: 0,
            header: None,
            clock: Clock::new(TICK_RATE),
            informed: false,
            first: None,
            next: 0,
            early: BTreeMap::new(),
            parts: Vec::new(),
            held: 0,
            known: Vec::new(),
            channels: 0,
            ended: false,
        }
    }

    /// An error with its place in the stream, and not in what is left of it.
    fn placed(&self, error: Error) -> DecodeError {
        Error { at: error.at + self.at, ..error }.into()
    }

    /// Keeps bytes waiting, unless that are too many.
    fn hold(&mut self, bytes: usize) -> Result<(), DecodeError> {
        self.held += bytes;
        let (claimed, limit) = (self.held as u64, self.limits.held_back as u64);
        if claimed <= limit {
            return Ok(());
        }
        Err(self.placed(Error { at: 0, kind: ErrorKind::TooLong { claimed, limit } }))
    }

    fn block(&mut self, block: &Block<'_>, sink: &mut dyn Sink) -> Result<(), StreamError> {
        let payload = block.payload;
        match block.kind {
            Kind::Samples => return self.samples(payload, sink),
            Kind::Header => {
                if self.header.is_some() || !self.take_header(payload, sink)? {
                    return Ok(());
                }
            }
            Kind::Info if !self.informed => {
                if let Ok(info) = Info::parse(payload) {
                    self.informed = true;
                    if self.first.is_none() {
                        self.clock = Clock::new(info.tick_rate());
                    } else if info.tick_rate() != TICK_RATE {
                        let message = format!(
                            "INFO comes after samples and gives {} ticks per second; using {TICK_RATE}",
                            info.tick_rate()
                        );
                        sink.problem(self.problem("tick-rate", payload.len(), message));
                    }
                }
            }
            Kind::TimeRef if TimeRef::parse(payload).is_none() => return Ok(()),
            Kind::Meta | Kind::Info | Kind::Status | Kind::TimeRef => {}
            Kind::End => {
                self.ended = true;
                return Ok(());
            }
            Kind::Unknown(_) => return Ok(()),
        }
        if self.first.is_none() {
            self.hold(payload.len())?;
            self.parts.push((block.kind, payload.to_vec()));
            return Ok(());
        }
        Ok(self.emit_block(block.kind, payload, sink)?)
    }

    /// Takes the header, and returns whether it is one.
    fn take_header(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<bool, SinkError> {
        let header = match Header::parse(payload) {
            Ok(header) => header,
            Err(error) => {
                sink.problem(self.problem("bad-header", payload.len(), format!("HEADER: {error}")));
                return Ok(false);
            }
        };
        let items = (0..).map(Source::Item).zip(item_channels(header.ids.iter()));
        let states = STATES.map(|state| (Source::State(state), state_channel(state)));
        let mut sources = Vec::new();
        for (source, channel) in items.chain(states) {
            sources.push((self.declare(&channel, sink)?, source));
        }
        self.header = Some(Layout { size: header.size, sample_len: header.sample_len(), sources });
        Ok(true)
    }

    fn problem(&self, code: &'static str, payload: usize, message: impl Into<String>) -> Problem {
        Problem::new(Severity::Damage, code, self.at, (payload + FRAME) as u64, message)
    }

    fn declare(&mut self, channel: &Channel, sink: &mut dyn Sink) -> Result<ChannelId, SinkError> {
        let id = self.channels;
        sink.channel(id, channel)?;
        self.channels += 1;
        Ok(id)
    }

    fn samples(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        let Some(layout) = &self.header else {
            let message = "skipped samples before the HEADER that describes them";
            sink.problem(self.problem("samples-before-header", payload.len(), message));
            return Ok(());
        };
        let (size, length) = (layout.size, layout.sample_len);
        let Some((index, samples)) = payload.split_first_chunk().filter(|(_, rest)| rest.len().is_multiple_of(length))
        else {
            let message = format!("SAMPLES has {} bytes, expected 4 plus a multiple of {length}", payload.len());
            sink.problem(self.problem("bad-samples", payload.len(), message));
            return Ok(());
        };
        let index = u32::from_be_bytes(*index);
        let room = (size.saturating_sub(index) as usize).saturating_mul(length);
        let samples = samples.get(..room).unwrap_or(samples);
        if index > self.next {
            let known = self.early.get(&index).map_or(0, Vec::len);
            if samples.len() > known {
                self.hold(samples.len() - known)?;
                self.early.insert(index, samples.to_vec());
            }
            return Ok(());
        }
        self.emit(index, samples, sink)?;
        while let Some(early) = self.early.first_entry().filter(|early| *early.key() <= self.next) {
            let (index, samples) = early.remove_entry();
            self.held = self.held.saturating_sub(samples.len());
            self.emit(index, &samples, sink)?;
        }
        Ok(())
    }

    /// Emits new samples; those before the next one were emitted already.
    fn emit(&mut self, index: u32, samples: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let Some(layout) = &self.header else { return Ok(()) };
        let known = (self.next.saturating_sub(index) as usize).saturating_mul(layout.sample_len);
        let samples = samples.get(known..).unwrap_or_default();
        if samples.is_empty() {
            return Ok(());
        }
        self.next = self.next.max(index);
        let mut batch = Parcel::default();
        let mut waiting = std::mem::take(&mut self.parts);
        let mut clock = self.clock;
        let mut times = Vec::with_capacity(samples.len() / layout.sample_len);
        for sample in samples.chunks_exact(layout.sample_len) {
            let tick = sample.first_chunk().map_or(0, |tick| u32::from_be_bytes(*tick));
            times.push(clock.next(tick).0);
        }
        if self.first.is_none() {
            self.first = times.first().copied();
            for (kind, payload) in waiting.drain(..) {
                self.held = self.held.saturating_sub(payload.len());
                self.emit_block(kind, &payload, sink)?;
            }
        }
        let Some(layout) = &self.header else { return Ok(()) };
        for (sample, time) in samples.chunks_exact(layout.sample_len).zip(times) {
            for (id, source) in &layout.sources {
                if let Some(value) = value(*source, sample) {
                    batch.push(*id, time, value);
                }
            }
            if batch.is_full() {
                batch.flush(sink)?;
            }
            self.next = self.next.saturating_add(1);
        }
        self.clock = clock;
        batch.flush(sink)
    }

    fn emit_block(&mut self, kind: Kind, payload: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let id = match self.known.iter().find(|(known, _)| *known == kind) {
            Some((_, id)) => *id,
            None => {
                let Some(channel) = block_channel(kind) else { return Ok(()) };
                let id = self.declare(&channel, sink)?;
                self.known.push((kind, id));
                id
            }
        };
        let mut batch = Parcel::default();
        push_block(&mut batch, id, self.first.unwrap_or_default(), kind, payload);
        batch.flush(sink)
    }
}

impl Decode for StreamDecoder {
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let mut used = 0;
        if self.at == 0 {
            if input.len() < HEAD {
                return Ok(0);
            }
            match Head::parse(input) {
                Ok(head) if !head.intact => {
                    let message = "the file header has a bad checksum; reading the blocks, which have their own";
                    sink.problem(Problem::new(Severity::Warning, "bad-head", 0, HEAD as u64, message));
                }
                Ok(_) => {}
                Err(error) => return Err(DecodeError::from(error).into()),
            }
            used = HEAD;
            self.at = HEAD as u64;
        }
        loop {
            let rest = input.get(used..).unwrap_or_default();
            match Block::parse(rest, 0) {
                Ok(block) => {
                    self.block(&block, sink)?;
                    used += block.payload.len() + FRAME;
                    self.at += block.length();
                }
                Err(Error { kind: ErrorKind::Truncated { .. }, .. }) => {
                    let claimed = rest.get(4..8).and_then(<[u8]>::first_chunk);
                    let claimed = claimed.map_or(0, |length| u64::from(u32::from_be_bytes(*length)));
                    let limit = self.limits.record_len;
                    if claimed > limit {
                        let error = Error { at: 0, kind: ErrorKind::TooLong { claimed, limit } };
                        return Err(self.placed(error).into());
                    }
                    return Ok(used);
                }
                Err(error) => return Err(self.placed(error).into()),
            }
        }
    }

    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        if self.at == 0 {
            return match Head::parse(rest) {
                Err(error) => Err(DecodeError::from(error).into()),
                Ok(_) => Ok(()),
            };
        }
        if !rest.is_empty() {
            let message = format!("the last block is truncated after {} bytes", rest.len());
            sink.problem(Problem::new(Severity::Damage, "truncated", self.at, rest.len() as u64, message));
        }
        let missing = self.early.keys().next().map(|index| (self.next, *index));
        for (index, samples) in std::mem::take(&mut self.early) {
            self.emit(index, &samples, sink)?;
        }
        for (kind, payload) in std::mem::take(&mut self.parts) {
            self.emit_block(kind, &payload, sink)?;
        }
        let size = self.header.as_ref().map_or(0, |layout| layout.size);
        if !self.ended || missing.is_some() || self.next < size || self.header.is_none() {
            let first = missing.map_or(self.next, |(first, _)| first);
            let message = format!("the recording is incomplete: it has the first {first} of {size} samples");
            sink.problem(Problem::general(Severity::Damage, "partial", message));
        }
        Ok(())
    }
}

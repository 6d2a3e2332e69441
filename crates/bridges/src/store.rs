//! The store: unpacked samples, flat, one behind the other.
//!
//! ```text
//! magic | records | header (JSON) | blocks | place of the header | place of the blocks | magic
//!   8   |         |               | 32 each|          8          |          8          |   8
//!
//! record: kind and channel | payload size | time ns | payload
//!               4          |      4       |    8    |  size
//! block:  first byte | lowest time | highest time | 1 if it holds more than samples
//!             8      |      8      |       8      |     8
//! ```
//!
//! All numbers are little-endian. The two highest bits of the first word of a record are its kind. We write it
//! ourselves, into memory or a nameless file, so it has no versions; it is checked all the same.

use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Cursor, DecodeError, EncodeError, Layout, Limits, Lookup, Problem, Problems, Sample, Sink,
    SinkError, Span, Time, Truncated, Type, Value, array_at, word_at,
};

use crate::Header;

/// A sink that writes the store.
pub struct Pack<W> {
    out: W,
    buffer: Vec<u8>,
    /// Where in the store the buffer begins.
    at: u64,
    channels: Vec<Option<Channel>>,
    types: Vec<Option<Type>>,
    blocks: Vec<Block>,
    problems: Problems,
}

impl<W: Write> Pack<W> {
    /// A store that goes to `out`.
    pub fn new(out: W) -> Self {
        let mut buffer = Vec::with_capacity(FLUSH + (FLUSH >> 2));
        buffer.extend_from_slice(MAGIC);
        let (channels, types, blocks) = (Vec::new(), Vec::new(), Vec::new());
        Self { out, buffer, at: 0, channels, types, blocks, problems: Problems::default() }
    }

    /// Writes what stands at the end. The header's channels are those of the log, where it has them; others are as
    /// they were declared.
    pub fn finish(mut self, mut header: Header) -> io::Result<Problems> {
        let known = header.channels.len();
        let declared = self.channels.iter_mut().skip(known).map(|channel| channel.take().unwrap_or_default());
        header.channels.extend(declared);
        let header_at = self.here();
        self.buffer.extend_from_slice(header.to_json(&[]).as_bytes());
        let blocks_at = self.here();
        self.blocks.iter().for_each(|block| block.emit(&mut self.buffer));
        self.buffer.extend_from_slice(&header_at.to_le_bytes());
        self.buffer.extend_from_slice(&blocks_at.to_le_bytes());
        self.buffer.extend_from_slice(MAGIC);
        self.out.write_all(&self.buffer)?;
        self.out.flush()?;
        Ok(self.problems)
    }

    fn here(&self) -> u64 {
        self.at + self.buffer.len() as u64
    }

    /// Appends the head of a record, and behind it what `payload` appends.
    fn record(&mut self, kind: Kind, channel: ChannelId, time: Time, payload: impl FnOnce(&mut Vec<u8>)) -> bool {
        let here = self.here();
        let block = match self.blocks.last_mut() {
            Some(block) if here - block.at < BLOCK => block,
            _ => {
                self.blocks.push(Block { at: here, ..Block::default() });
                match self.blocks.last_mut() {
                    Some(block) => block,
                    None => return false,
                }
            }
        };
        if kind == Kind::Sample {
            block.low = block.low.min(time.nanos());
            block.high = block.high.max(time.nanos());
        } else {
            block.eventful = true;
        }
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&(kind.bits() | channel).to_le_bytes());
        self.buffer.extend_from_slice(&[0; 4]);
        self.buffer.extend_from_slice(&time.nanos().to_le_bytes());
        payload(&mut self.buffer);
        let len = self.buffer.len() - start - HEAD;
        let (Ok(size), Some(place)) = (u32::try_from(len), self.buffer.get_mut(start + 4..start + 8)) else {
            self.buffer.truncate(start);
            return false;
        };
        place.copy_from_slice(&size.to_le_bytes());
        true
    }

    /// A record that is no sample.
    fn event(&mut self, kind: Kind, channel: ChannelId, time: Time, text: &str) -> Result<(), SinkError> {
        if self.record(kind, channel, time, |out| out.extend_from_slice(text.as_bytes())) {
            self.flush()
        } else {
            Err(self.refuse(channel, "more than 4 GiB of metadata"))
        }
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        if self.buffer.len() < FLUSH {
            return Ok(());
        }
        self.at += self.buffer.len() as u64;
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    #[cold]
    fn refuse(&self, channel: ChannelId, message: impl Into<String>) -> SinkError {
        let name = self.channels.get(channel as usize).and_then(|c| Some(c.as_ref()?.name.clone()));
        let channel = name.unwrap_or_else(|| format!("number {channel}"));
        EncodeError::new("store", channel, message).into()
    }
}

impl<W: Write> Sink for Pack<W> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if id >= MOST_CHANNELS {
            return Err(self.refuse(id, format!("too many channels (max {MOST_CHANNELS})")));
        }
        if place >= self.channels.len() {
            self.channels.resize(place + 1, None);
            self.types.resize(place + 1, None);
        }
        if let (Some(known), Some(ty)) = (self.channels.get_mut(place), self.types.get_mut(place)) {
            *known = Some(channel.clone());
            *ty = Some(channel.ty());
        }
        self.event(Kind::Start, id, Time::ZERO, &channel.metadata)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let ty = self.types.get(sample.channel as usize).copied().flatten();
            if ty != Some(sample.value.ty()) {
                let message = match ty {
                    Some(ty) => format!("the sample is a {:?}, the channel is declared as {ty:?}", sample.value.ty()),
                    None => "sample of an undeclared channel".to_owned(),
                };
                return Err(self.refuse(sample.channel, message));
            }
            let value = &sample.value;
            if !self.record(Kind::Sample, sample.channel, sample.time, |out| value.emit(Layout::Little, out)) {
                return Err(self.refuse(sample.channel, "the value has more than 4 GiB"));
            }
        }
        self.flush()
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let Some(Some(channel)) = self.channels.get_mut(id as usize) else { return Ok(()) };
        if !metadata.is_empty() {
            metadata.clone_into(&mut channel.metadata);
        }
        self.event(Kind::Metadata, id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.event(Kind::End, id & CHANNEL, time, "")
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// A store, opened: where its records are.
pub(crate) struct Store {
    blocks: Vec<Block>,
    /// Where the records end and the header begins.
    end: u64,
    /// Where the header ends.
    header_end: u64,
}

/// A run of records of about 1 MiB, and the times of its samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    at: u64,
    low: i64,
    high: i64,
    /// Whether it holds more than samples.
    eventful: bool,
}

/// One record, borrowed from the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) channel: ChannelId,
    pub(crate) time: Time,
    pub(crate) payload: &'a [u8],
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Sample,
    Start,
    Metadata,
    End,
}

impl Store {
    /// Reads the end of a store.
    pub(crate) fn open(log: &[u8], name: &'static str) -> Result<Self, DecodeError> {
        let (end, header_end, tail_at) = places(log).ok_or_else(|| damaged(name, 0, "incomplete store"))?;
        let blocks = slice(log, header_end, tail_at).map(Block::list).unwrap_or_default();
        Ok(Self { blocks, end, header_end })
    }

    /// Reads the header.
    pub(crate) fn header(&self, log: &[u8], name: &'static str, limits: &Limits) -> Result<Header, DecodeError> {
        let text = slice(log, self.end, self.header_end).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let text = text.ok_or_else(|| damaged(name, self.end, "the header is not text"))?;
        let header = Header::from_json(text, limits.channels);
        header.map(|(header, _)| header).map_err(|message| damaged(name, self.end, &message))
    }

    /// The stretches of the blocks.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Span, &Block)> {
        let ends = self.blocks.iter().skip(1).map(|block| block.at).chain([self.end]);
        self.blocks.iter().zip(ends).map(|(block, end)| (Span { start: block.at, end }, block))
    }

    /// The stretches that can hold something wanted, cut to what is wanted of them.
    pub(crate) fn wanted(&self, lookup: &Lookup) -> Vec<Span> {
        let within = lookup.within.unwrap_or(Span { start: 0, end: u64::MAX });
        let far = |block: &Block| {
            lookup.start.is_some_and(|start| block.high < start.nanos())
                || lookup.end.is_some_and(|end| block.low > end.nanos())
        };
        let any = self.spans().filter(|(_, block)| block.eventful || !lookup.always.is_empty() || !far(block));
        let cut = any.map(|(span, _)| Span { start: span.start.max(within.start), end: span.end.min(within.end) });
        cut.filter(|span| span.start < span.end).collect()
    }
}

/// Where header, blocks and tail begin.
fn places(log: &[u8]) -> Option<(u64, u64, u64)> {
    let tail = log.len().checked_sub(TAIL)?;
    if !log.starts_with(MAGIC) || !log.ends_with(MAGIC) {
        return None;
    }
    let (header, blocks, tail) = (word_at(log, tail)?, word_at(log, tail + 8)?, tail as u64);
    let whole = MAGIC.len() as u64 <= header && header <= blocks && blocks <= tail;
    whole.then_some((header, blocks, tail))
}

fn slice(log: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    log.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

fn damaged(dialect: &'static str, at: u64, message: &str) -> DecodeError {
    DecodeError { dialect, code: "store", at, message: format!("the unpacked samples: {message}"), help: None }
}

impl Default for Block {
    fn default() -> Self {
        Self { at: 0, low: i64::MAX, high: i64::MIN, eventful: false }
    }
}

impl Block {
    fn emit(&self, out: &mut Vec<u8>) {
        for word in [self.at.to_le_bytes(), self.low.to_le_bytes(), self.high.to_le_bytes()] {
            out.extend_from_slice(&word);
        }
        out.extend_from_slice(&u64::from(self.eventful).to_le_bytes());
    }

    fn list(bytes: &[u8]) -> Vec<Self> {
        let word = |bytes: &[u8], at| word_at(bytes, at).unwrap_or_default();
        let blocks = bytes.chunks_exact(BLOCK_BYTES).map(|b| Self {
            at: word(b, 0),
            low: word(b, 8).cast_signed(),
            high: word(b, 16).cast_signed(),
            eventful: word(b, 24) != 0,
        });
        blocks.collect()
    }
}

impl Kind {
    fn bits(self) -> u32 {
        match self {
            Self::Sample => 0,
            Self::Start => 1 << 30,
            Self::Metadata => 2 << 30,
            Self::End => 3 << 30,
        }
    }

    fn of(word: u32) -> Self {
        match word >> 30 {
            0 => Self::Sample,
            1 => Self::Start,
            2 => Self::Metadata,
            _ => Self::End,
        }
    }
}

impl<'a> Record<'a> {
    /// The record at a place, if it is whole.
    #[inline]
    pub(crate) fn at(log: &'a [u8], at: u64) -> Option<Self> {
        let rest = log.get(usize::try_from(at).ok()?..)?;
        let word = u32::from_le_bytes(*rest.first_chunk()?);
        let size = u32::from_le_bytes(*array_at(rest, 4)?) as usize;
        let time = Time::from_nanos(i64::from_le_bytes(*array_at(rest, 8)?));
        let payload = rest.get(HEAD..)?.get(..size)?;
        Some(Self { at, kind: Kind::of(word), channel: word & CHANNEL, time, payload })
    }

    /// Its length in bytes.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        (HEAD + self.payload.len()) as u64
    }

    /// Its payload as text, for all but samples.
    pub(crate) fn text(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.payload)
    }
}

/// Visits the records that begin in a stretch, until the visitor breaks off. A record that is not whole is an error:
/// the store was written by this program, so what lies behind it is lost, and nobody must take the rest for all of it.
#[inline]
pub(crate) fn walk<'a>(
    dialect: &'static str,
    log: &'a [u8],
    span: Span,
    mut visit: impl FnMut(Record<'a>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, DecodeError> {
    let mut at = span.start;
    while at < span.end {
        let Some(record) = Record::at(log, at) else { return Err(not_whole(dialect, log, at)) };
        at += record.len();
        if visit(record).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The error of a record that is not whole.
#[cold]
pub(crate) fn not_whole(dialect: &'static str, log: &[u8], at: u64) -> DecodeError {
    let mut cur = Cursor::new(log.get(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default(), at);
    let size = cur.u32_le("channel").and_then(|_| cur.u32_le("payload size"));
    let end = size.and_then(|size| cur.take(8, "time").and_then(|_| cur.take(size.into(), "payload")));
    let message = end.map_or_else(|error: Truncated| error.to_string(), |_| "truncated record".to_owned());
    damaged(dialect, at, &message)
}

/// A record in one line, for `dump`.
pub(crate) struct Line<'a> {
    pub(crate) record: Record<'a>,
    pub(crate) channel: Option<&'a Channel>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { kind, channel, time, payload, .. } = self.record;
        match (kind, self.channel) {
            (Kind::Sample, _) => {
                write!(f, "Sample channel={channel} time={}ns size={}", time.nanos(), payload.len())?;
                let shown = payload.get(..SHOWN).unwrap_or(payload);
                f.write_str(if shown.is_empty() { "" } else { " " })?;
                shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if shown.len() < payload.len() { "…" } else { "" })
            }
            (Kind::Start, known) => {
                let (name, ty) = known.map_or(("", ""), |known| (&known.name, &known.type_name));
                write!(f, "Channel channel={channel} name={name:?} type={ty:?} metadata={:?}", self.record.text())
            }
            (Kind::Metadata, _) => {
                write!(f, "Metadata channel={channel} metadata={:?} time={}ns", self.record.text(), time.nanos())
            }
            (Kind::End, _) => write!(f, "End channel={channel} time={}ns", time.nanos()),
        }
    }
}

/// A value of a channel, out of its payload.
#[inline]
pub(crate) fn value(ty: Type, payload: &[u8]) -> Option<Value<'_>> {
    Value::parse(ty, payload, Layout::Little).ok()
}

const MAGIC: &[u8; 8] = b"LPSTORE\n";
/// Bytes of a record before its payload.
const HEAD: usize = 16;
/// Bytes behind the blocks.
const TAIL: usize = 24;
const BLOCK_BYTES: usize = 32;
/// Bytes of records after which a new block begins.
const BLOCK: u64 = 1 << 20;
const FLUSH: usize = 256 << 10;
/// The bits of a record's first word that are the channel.
const CHANNEL: u32 = (1 << 30) - 1;
const MOST_CHANNELS: u32 = 1 << 24;
/// Bytes of a payload in a line of `dump`.
const SHOWN: usize = 32;

//! The records of an MCAP file: where they lie, and what is in them.

use std::borrow::Cow;
use std::ops::Range;

use logpose_core::{Cursor, array_at};
use mcap::records::{Record, op};
use mcap::sans_io::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{McapError, McapResult};

use crate::tabular::guarded;

/// The records in some bytes, as far as they are whole. The readers of the `mcap` crate copy them and do not say where
/// they were; what is damaged is reported by its place.
pub(crate) struct Frames<'a> {
    bytes: &'a [u8],
    /// Where the next record starts.
    pub(crate) at: usize,
}

/// A record that was not looked into.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) at: usize,
    pub(crate) opcode: u8,
    pub(crate) body: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        let at = self.at;
        // No record has the opcode 0: a loss of power left zeros here.
        let opcode = *self.bytes.get(at).filter(|opcode| **opcode != 0)?;
        let length = usize::try_from(u64::from_le_bytes(*array_at(self.bytes, at + 1)?)).ok()?;
        let start = at + HEAD;
        let end = start.checked_add(length)?;
        let body = self.bytes.get(start..end)?;
        self.at = end;
        Some(Frame { at, opcode, body })
    }
}

impl<'a> Frame<'a> {
    /// How long it is with what stands in front of its body.
    pub(crate) fn length(&self) -> u64 {
        (HEAD + self.body.len()) as u64
    }

    /// Looks into it; the sentence says what is wrong.
    pub(crate) fn parse(&self) -> Result<Record<'a>, String> {
        safely(|| parse(self.opcode, self.body))
    }
}

/// A stretch of the data section that can be unpacked on its own.
#[derive(Clone, Copy)]
pub(crate) enum DataBlock<'a> {
    /// A chunk: its record, and how many bytes of records it claims.
    Chunk(&'a [u8], u64),
    /// Messages outside of chunks.
    Loose(&'a [u8]),
}

/// The contents of a block.
#[derive(Default)]
pub(crate) struct Unpacked<'a> {
    /// The payloads of the messages.
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) items: Vec<Item>,
}

pub(crate) enum Item {
    Message {
        topic: u16,
        time: u64,
        /// Its place in the bytes.
        data: Range<usize>,
    },
    /// A schema or a channel.
    Declaration(Box<Record<'static>>),
    /// A record that cannot be read, and why.
    Bad(u8, String),
}

impl<'a> DataBlock<'a> {
    /// How much memory it takes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Chunk(_, claimed) => *claimed,
            Self::Loose(_) => 0,
        }
    }

    /// Decompresses and looks through it; the sentence says what is wrong with it.
    pub(crate) fn unpack(&self) -> Result<Unpacked<'a>, String> {
        match *self {
            Self::Loose(bytes) => Ok(loose(bytes)),
            Self::Chunk(record, claimed) => chunk(record, claimed),
        }
    }
}

fn loose(bytes: &[u8]) -> Unpacked<'_> {
    let item = |frame: Frame<'_>| match parse(frame.opcode, frame.body) {
        Ok(Record::Message { header, data }) => {
            let end = frame.at + HEAD + frame.body.len();
            Item::Message { topic: header.channel_id, time: header.log_time, data: end - data.len()..end }
        }
        Ok(other) => Item::Declaration(Box::new(other.into_owned())),
        Err(error) => Item::Bad(frame.opcode, sentence(&error)),
    };
    Unpacked { bytes: Cow::Borrowed(bytes), items: Frames::new(bytes, 0).map(item).collect() }
}

fn chunk(record: &[u8], claimed: u64) -> Result<Unpacked<'static>, String> {
    let mut bytes = Vec::new();
    let mut items = Vec::new();
    chunk_records(record, claimed, |opcode, record| match record {
        Ok(Record::Message { header, data }) => {
            if bytes.is_empty() {
                bytes.reserve(usize::try_from(claimed).unwrap_or(0));
            }
            let start = bytes.len();
            bytes.extend_from_slice(&data);
            items.push(Item::Message { topic: header.channel_id, time: header.log_time, data: start..bytes.len() });
        }
        Ok(record @ (Record::Schema { .. } | Record::Channel(_))) => {
            items.push(Item::Declaration(Box::new(record.into_owned())));
        }
        Ok(_) => {}
        Err(error) => items.push(Item::Bad(opcode, sentence(&error))),
    })?;
    Ok(Unpacked { bytes: Cow::Owned(bytes), items })
}

/// Decompresses a chunk, which claims so many bytes of records, and gives each of them to `each`.
pub(crate) fn chunk_records(
    record: &[u8],
    claimed: u64,
    mut each: impl FnMut(u8, McapResult<Record<'_>>),
) -> Result<(), String> {
    // The crate takes memory for what is claimed, so a claim is believed as far as it is small or likely.
    let most = (record.len() as u64).saturating_mul(DENSEST).clamp(SMALL, LARGEST);
    if claimed > most {
        return Err(format!("{} bytes would decompress to {claimed}, the limit is {most}", record.len()));
    }
    let options = LinearReaderOptions::default()
        .with_skip_start_magic(true)
        .with_skip_end_magic(true)
        .with_prevalidate_chunk_crcs(true)
        .with_record_length_limit(usize::try_from(claimed).unwrap_or(usize::MAX).max(record.len()));
    pull(record, options, |opcode, body| each(opcode, parse(opcode, body)))
}

/// Looks into a record whose inner lengths fit into it. The crate takes memory for a length before it looks whether
/// there are so many bytes: 23 bytes can ask for 4 GiB.
#[inline]
fn parse(opcode: u8, body: &[u8]) -> McapResult<Record<'_>> {
    match fits(opcode, body) {
        Some(()) => mcap::parse_record(opcode, body),
        None => Err(McapError::UnexpectedEof),
    }
}

/// Whether the lengths inside a record stay within it.
#[inline]
fn fits(opcode: u8, body: &[u8]) -> Option<()> {
    /// Leaves out what has a length of four bytes in front, and gives it.
    fn counted(cur: &mut Cursor<'_>) -> Option<usize> {
        let length = cur.u32_le("length").ok()?;
        cur.take(length.into(), "content").ok().map(<[u8]>::len)
    }
    // Bytes in front of the first length, texts, and whether a map of texts follows.
    let (front, texts, map) = match opcode {
        op::HEADER => (0, 2, false),
        op::SCHEMA => (2, 3, false),
        op::CHANNEL => (4, 2, true),
        op::CHUNK => (28, 1, false),
        op::MESSAGE_INDEX => (2, 1, false),
        op::CHUNK_INDEX => (32, 1, false),
        op::ATTACHMENT => (16, 2, false),
        op::ATTACHMENT_INDEX => (40, 2, false),
        op::STATISTICS => (42, 1, false),
        op::METADATA => (0, 1, true),
        op::METADATA_INDEX => (16, 1, false),
        _ => return Some(()),
    };
    let mut cur = Cursor::new(body, 0);
    cur.take(front, "front").ok()?;
    for _ in 0..texts {
        counted(&mut cur)?;
    }
    if opcode == op::CHUNK_INDEX {
        cur.take(8, "size of the message indexes").ok()?;
        counted(&mut cur)?;
    }
    if map {
        let length = cur.u32_le("length").ok()?;
        let mut inner = Cursor::new(cur.take(length.into(), "map").ok()?, 0);
        while !inner.is_empty() {
            counted(&mut inner)?;
        }
    }
    if matches!(opcode, op::CHUNK | op::ATTACHMENT) {
        let length = cur.uint_le(8, "length").ok()?;
        cur.take(length, "content").ok()?;
    }
    Some(())
}

/// Checks the sum of a data section, which the bytes are up to the end of the record that says so.
pub(crate) fn check_data(bytes: &[u8]) -> Result<(), String> {
    let options = LinearReaderOptions::default()
        .with_skip_end_magic(true)
        .with_emit_chunks(true)
        .with_validate_data_section_crc(true)
        .with_record_length_limit(bytes.len());
    pull(bytes, options, |_, _| {})
}

/// Gives every record that the crate's reader finds to `each`.
fn pull(mut bytes: &[u8], options: LinearReaderOptions, mut each: impl FnMut(u8, &[u8])) -> Result<(), String> {
    safely(|| {
        let mut reader = LinearReader::new_with_options(options);
        while let Some(event) = reader.next_event() {
            match event? {
                LinearReadEvent::ReadRequest(need) => {
                    let (now, rest) = bytes.split_at(need.min(bytes.len()));
                    reader.insert(now.len()).copy_from_slice(now);
                    reader.notify_read(now.len());
                    bytes = rest;
                }
                LinearReadEvent::Record { opcode, data } => each(opcode, data),
            }
        }
        Ok(())
    })
}

/// Runs the crate's readers, which panic on some damaged files.
fn safely<T>(run: impl FnOnce() -> McapResult<T>) -> Result<T, String> {
    match guarded("mcap", || Ok(run())) {
        Ok(result) => result.map_err(|error| sentence(&error)),
        Err(_) => Err("the contents are inconsistent".to_owned()),
    }
}

fn sentence(error: &McapError) -> String {
    match error {
        // These say where in the crate; the record is named in front.
        McapError::Parse(_) => "truncated, or text that is not UTF-8".to_owned(),
        McapError::UnexpectedEof => "truncated inside a record".to_owned(),
        McapError::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// Bytes in front of a record's body: opcode and length.
const HEAD: usize = 9;

/// The largest chunk that is read, in bytes of its records.
const LARGEST: u64 = 1 << 31;

/// What a chunk may claim without having to be likely.
const SMALL: u64 = 64 << 20;

/// What a byte of a larger chunk becomes at most. It is the bound of LZ4; zstd comes there with nothing but zeros.
const DENSEST: u64 = 255;

//! A recording that arrives in pieces, to samples.

use logpose_core::{
    Channel, ChannelId, Cursor, Decode, DecodeError, Limits, Problem, Severity, Sink, SinkError, SlotId, StreamError,
    Time, Type,
};

use crate::error::{Error, ErrorKind};
use crate::model::{Key, Topic};
use crate::rows::Batch;
use crate::schema::Struct;
use crate::walk::{Found, Slots, Visit, Walk};
use crate::wire::{FrameStart, Header, PACKET_HEADER, Packet};
use crate::wire_format::detect;

/// A recording that arrives in pieces, to samples. Nothing comes before its first frame is whole, because the bytes do
/// not say of themselves how they are written; from then on every packet comes as it arrives.
pub(crate) struct StreamDecoder {
    limits: Limits,
    offset: u64,
    /// Version, date and map.
    header: Option<(u16, i64, Vec<u8>)>,
    walk: Option<Walk>,
    channels: Channels,
    batch: Batch,
}

/// The channels that the sink knows.
#[derive(Default)]
struct Channels {
    next: ChannelId,
    /// By slot the channel and its type.
    slots: Vec<(ChannelId, Type)>,
    schemas: Vec<Struct>,
}

impl StreamDecoder {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, offset: 0, header: None, walk: None, channels: Channels::default(), batch: Batch::default() }
    }

    /// Reads what is whole at the front of `input`; returns how many bytes that was.
    fn read(&mut self, input: &[u8], last: bool, sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let mut cur = Cursor::new(input, self.offset);
        if self.header.is_none() {
            match Header::parse(&mut cur) {
                Ok(header) if matches!(header.version, 1 | 2) => {
                    self.header = Some((header.version, header.date, header.map.to_vec()));
                }
                Ok(header) => return Err(decode(Error { at: 0, kind: ErrorKind::Version(header.version) })),
                Err(Error { kind: ErrorKind::Truncated(_), .. }) if !last => return Ok(0),
                Err(error) => return Err(decode(error)),
            }
        }
        let Some((version, date, map)) = &self.header else { return Ok(0) };
        let header = Header { version: *version, date: *date, map };
        let mut fresh = false;
        let walk = match &mut self.walk {
            Some(walk) => walk,
            None if last || shows_format(cur, self.limits.held_back) => {
                let mut ahead = cur;
                let form = detect(*version, std::iter::from_fn(|| Packet::parse(&mut ahead).ok()));
                // The channel of frames says what the recording is, so that it comes first in any case.
                fresh = cur.rest().first() != Some(&0);
                self.walk.insert(Walk::new(form, Slots::new(self.limits.channels)))
            }
            None => {
                check_claim(cur, &self.limits)?;
                return Ok(input.len() - cur.rest().len());
            }
        };
        let mut visit =
            Streaming { header, channels: &mut self.channels, batch: &mut self.batch, sink, time: 0, result: Ok(()) };
        if fresh {
            walk.declare_frame(&mut visit);
        }
        loop {
            check_claim(cur, &self.limits)?;
            let before = cur;
            let Ok(packet) = Packet::parse(&mut cur) else {
                cur = before;
                break;
            };
            if packet.id == 0 {
                walk.end_stretch(&mut visit);
            }
            let taken = walk.packet(&packet, &mut visit);
            std::mem::replace(&mut visit.result, Ok(()))?;
            walk.problems.list().iter().for_each(|problem| visit.sink.problem(problem.clone()));
            walk.problems = logpose_core::Problems::default();
            if let Err(error) = taken {
                visit.batch.flush(visit.sink)?;
                return Err(decode(error));
            }
        }
        if last {
            walk.end_stretch(&mut visit);
            std::mem::replace(&mut visit.result, Ok(()))?;
        }
        visit.batch.flush(visit.sink)?;
        Ok(input.len() - cur.rest().len())
    }
}

impl Decode for StreamDecoder {
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let used = self.read(input, false, sink)?;
        self.offset += used as u64;
        Ok(used)
    }

    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        let used = self.read(rest, true, sink)?;
        self.offset += used as u64;
        let left = rest.len() - used;
        if left > 0 {
            let rest = rest.get(used..).unwrap_or_default();
            let error = Packet::parse(&mut Cursor::new(rest, self.offset)).err();
            let why = error.map_or_else(String::new, |error| format!("{}; ", error.kind));
            let message = format!("{why}skipped the last {left} bytes");
            sink.problem(Problem::new(Severity::Damage, "truncated", self.offset, left as u64, message));
        }
        Ok(())
    }
}

/// Whether the packets at hand show how the recording is written: a whole frame, and vectors of any kind.
fn shows_format(mut cur: Cursor<'_>, most: usize) -> bool {
    let start = cur.rest().len();
    let (mut whole, mut vectors) = (false, false);
    while let Ok(packet) = Packet::parse(&mut cur) {
        whole |= packet.id == 1;
        vectors |= matches!(packet.id, 2 | 6 | 12 | 13 | 17) && packet.total() > 0;
        if whole && vectors {
            return true;
        }
    }
    start >= most
}

/// Refuses a packet that claims more than a stream may.
fn check_claim(mut cur: Cursor<'_>, limits: &Limits) -> Result<(), StreamError> {
    let at = cur.offset();
    let Ok([id, size @ ..]) = cur.array::<PACKET_HEADER>("packet") else { return Ok(()) };
    let size = u64::from(u32::from_le_bytes(*size));
    if size <= limits.record_len {
        return Ok(());
    }
    let message = format!("packet {id} has {size} bytes, the limit for streams is {}", limits.record_len);
    Err(DecodeError { dialect: "carla", code: "packet-size", at, message, help: None }.into())
}

/// Hands the records of a walk to a sink that learns of channels as they come.
struct Streaming<'a, 's> {
    header: Header<'a>,
    channels: &'a mut Channels,
    batch: &'a mut Batch,
    sink: &'s mut dyn Sink,
    time: i64,
    result: Result<(), SinkError>,
}

impl Streaming<'_, '_> {
    fn declare(&mut self, key: &Key, form: crate::wire::WireFormat) -> Result<(), SinkError> {
        self.batch.flush(self.sink)?;
        if let Some(schema) = key.topic.schema(form.vectors)
            && !self.channels.schemas.contains(&schema)
        {
            self.channels.schemas.push(schema);
            let channel = Channel::new(schema.channel(), "structschema");
            self.sink.channel(self.channels.next, &channel)?;
            self.batch.push(self.channels.next, Time::from_nanos(self.time), Type::String, schema.text.as_bytes());
            self.batch.flush(self.sink)?;
            self.channels.next += 1;
        }
        let channel = key.channel(&self.header, form);
        self.channels.slots.push((self.channels.next, channel.ty()));
        self.sink.channel(self.channels.next, &channel)?;
        self.channels.next += 1;
        Ok(())
    }
}

impl Visit for Streaming<'_, '_> {
    fn slot(&mut self, _: SlotId, key: &Key, form: crate::wire::WireFormat) {
        if self.result.is_ok() {
            self.result = self.declare(key, form);
        }
    }

    fn frame(&mut self, _: u64, _: &FrameStart, time: i64) {
        self.time = time;
    }

    fn wants(&self, _: Topic) -> bool {
        self.result.is_ok()
    }

    fn sample(&mut self, found: Found<'_>) {
        let Some((channel, ty)) = self.channels.slots.get(found.slot as usize).copied() else { return };
        self.batch.push_record(channel, Time::from_nanos(found.time), ty, &found);
        if self.batch.is_full() && self.result.is_ok() {
            self.result = self.batch.flush(self.sink);
        }
    }
}

fn decode(error: Error) -> StreamError {
    StreamError::Decode(error.into())
}

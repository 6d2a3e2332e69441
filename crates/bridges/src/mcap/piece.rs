use std::sync::Arc;

use logpose_core::{Channel, ChannelId, EncodeError, Layout, Sample, Sink, SinkError, Time, Value, array_at};
use serde_json::json;

use super::Compression;
use super::plan::{Derived, Form, Lane, Plan};
use super::wire::{self, FRAME, MESSAGE_HEAD, op};
use crate::Piece;

/// Messages of an MCAP file, which become chunks when it is sealed.
pub struct McapPiece {
    plan: Arc<Plan>,
    compression: Compression,
    /// Message records, one after the other.
    raw: Vec<u8>,
    /// Where chunks end.
    cuts: Vec<usize>,
    /// Where the open chunk starts.
    start: usize,
    rows: usize,
    /// Starts that wait for a time: they have none, and a message needs one.
    starts: Vec<String>,
    /// The time of the last message.
    last: u64,
    sealed: Option<Sealed>,
}

/// Chunks with their message indexes, as they stand in the file.
#[derive(Default)]
pub(crate) struct Sealed {
    pub(crate) bytes: Vec<u8>,
    pub(crate) crc: crc32fast::Hasher,
    pub(crate) chunks: Vec<SealedChunk>,
}

/// What the summary says about a chunk. Places count from the start of the piece.
pub(crate) struct SealedChunk {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) at: usize,
    pub(crate) length: usize,
    /// By MCAP channel: where its index is, and how many messages it has.
    pub(crate) indexes: Vec<(u16, usize, u64)>,
    pub(crate) indexes_length: usize,
    pub(crate) compressed: usize,
    pub(crate) uncompressed: usize,
}

impl McapPiece {
    pub(crate) fn new(plan: Arc<Plan>, compression: Compression) -> Self {
        Self {
            plan,
            compression,
            raw: Vec::new(),
            cuts: Vec::new(),
            start: 0,
            rows: 0,
            starts: Vec::new(),
            last: 0,
            sealed: None,
        }
    }

    pub(crate) fn into_sealed(mut self) -> Result<Sealed, SinkError> {
        self.seal()?;
        Ok(self.sealed.take().unwrap_or_default())
    }

    /// Appends the front of a message.
    #[inline]
    fn head(&mut self, topic: u16, time: u64, data: usize) {
        let mut head = [0; MESSAGE_HEAD];
        head[0] = op::MESSAGE;
        head[1..9].copy_from_slice(&((MESSAGE_HEAD - FRAME + data) as u64).to_le_bytes());
        head[9..11].copy_from_slice(&topic.to_le_bytes());
        // The sequence number in between stays 0: there is no such thing here.
        head[15..23].copy_from_slice(&time.to_le_bytes());
        head[23..31].copy_from_slice(&time.to_le_bytes());
        self.raw.extend_from_slice(&head);
    }

    #[inline]
    fn message(&mut self, topic: u16, time: u64, data: &[u8]) {
        self.head(topic, time, data.len());
        self.raw.extend_from_slice(data);
    }

    /// Appends a message whose data is what `write` appends.
    fn message_with(&mut self, topic: u16, time: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.raw.len();
        self.head(topic, time, 0);
        write(&mut self.raw);
        let length = (self.raw.len() - start - FRAME) as u64;
        wire::patch(&mut self.raw, start + 1, length);
    }

    /// Appends a message with a number of elements in front.
    fn counted(&mut self, topic: u16, time: u64, size: usize, bytes: &[u8]) -> Result<(), &'static str> {
        let count = u32::try_from(bytes.len() / size.max(1)).map_err(|_| TOO_LONG)?;
        self.head(topic, time, 4 + bytes.len());
        self.raw.extend_from_slice(&count.to_le_bytes());
        self.raw.extend_from_slice(bytes);
        Ok(())
    }

    fn payload(&mut self, lane: &Lane, time: u64, bytes: &[u8]) -> Result<(), &'static str> {
        match lane.form {
            Form::Plain => self.message(lane.topic, time, bytes),
            Form::Exact(size) if bytes.len() == size => self.message(lane.topic, time, bytes),
            Form::Counted(size) if bytes.len().is_multiple_of(size) => self.counted(lane.topic, time, size, bytes)?,
            _ => return self.counted(lane.rest, time, 1, bytes),
        }
        if let Some(derived) = lane.derived {
            self.derive(derived, time, bytes);
        }
        Ok(())
    }

    fn derive(&mut self, derived: Derived, time: u64, bytes: &[u8]) {
        let Derived { pose, message, topic, robot } = derived;
        self.message_with(topic, time, |out| message.emit(pose, time, bytes, out));
        if let Some(topic) = robot {
            self.message_with(topic, time, |out| super::foxglove::Message::Robot.emit(pose, time, bytes, out));
        }
    }

    fn sample(&mut self, lane: &Lane, time: u64, value: &Value<'_>) -> Result<(), &'static str> {
        if value.ty() != lane.ty {
            return Err("a value of another type came than was declared");
        }
        match *value {
            Value::Boolean(b) => self.message(lane.topic, time, &[b.into()]),
            Value::Int64(x) => self.message(lane.topic, time, &x.to_le_bytes()),
            Value::Float(x) => self.message(lane.topic, time, &x.to_le_bytes()),
            Value::Double(x) => self.message(lane.topic, time, &x.to_le_bytes()),
            Value::String(bytes) | Value::Bytes(bytes) | Value::BooleanArray(bytes) => {
                self.payload(lane, time, bytes)?;
            }
            Value::Int64Array(numbers) => self.array(lane.topic, time, numbers.len(), value)?,
            Value::FloatArray(numbers) => self.array(lane.topic, time, numbers.len(), value)?,
            Value::DoubleArray(numbers) => self.array(lane.topic, time, numbers.len(), value)?,
            Value::StringArray(_) => self.message_with(lane.topic, time, |out| value.emit(Layout::Little, out)),
        }
        Ok(())
    }

    fn array(&mut self, topic: u16, time: u64, count: usize, value: &Value<'_>) -> Result<(), &'static str> {
        let count = u32::try_from(count).map_err(|_| TOO_LONG)?;
        self.message_with(topic, time, |out| {
            out.extend_from_slice(&count.to_le_bytes());
            value.emit(Layout::Little, out);
        });
        Ok(())
    }

    /// Writes the starts that wait, at the time of what follows them.
    fn flush_starts(&mut self, time: u64) {
        for start in std::mem::take(&mut self.starts) {
            self.message(self.plan.events, time, start.as_bytes());
        }
    }

    fn event(&mut self, time: Time, event: &serde_json::Value) {
        // Events are not among the times that were promised; theirs is in the text.
        let at = self.plan.log_time(time).unwrap_or(0);
        self.flush_starts(at);
        self.message(self.plan.events, at, event.to_string().as_bytes());
        self.last = at;
    }

    fn refuse(&self, id: ChannelId, message: String) -> SinkError {
        let channel = self.plan.channels.get(id as usize).map_or(String::new(), |channel| channel.name.clone());
        EncodeError { dialect: "mcap", channel, message }.into()
    }
}

impl Sink for McapPiece {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let Some(known) = self.plan.channels.get(id as usize) else {
            return Err(self.refuse(id, format!("{:?} was not among the channels of the header", channel.name)));
        };
        let mut event = json!({"event": "start", "channel": id, "name": channel.name});
        if known.metadata != channel.metadata
            && let Some(object) = event.as_object_mut()
        {
            object.insert("metadata".into(), channel.metadata.as_str().into());
        }
        self.starts.push(event.to_string());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let plan = Arc::clone(&self.plan);
        for sample in samples {
            let Some(lane) = plan.lanes.get(sample.channel as usize) else {
                return Err(self.refuse(sample.channel, "a sample of a channel that was not declared".to_owned()));
            };
            let Some(time) = plan.log_time(sample.time) else {
                let message = format!("a sample at {} s, before the earliest that was promised", sample.time);
                return Err(self.refuse(sample.channel, message));
            };
            if !self.starts.is_empty() {
                self.flush_starts(time);
            }
            if let Err(message) = self.sample(lane, time, &sample.value) {
                return Err(self.refuse(sample.channel, message.to_owned()));
            }
            self.last = time;
            if self.raw.len() - self.start >= CHUNK {
                self.start = self.raw.len();
                self.cuts.push(self.start);
            }
        }
        self.rows += samples.len();
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let event = json!({"event": "metadata", "channel": id, "time_ns": time.nanos(), "metadata": metadata});
        self.event(time, &event);
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.event(time, &json!({"event": "end", "channel": id, "time_ns": time.nanos()}));
        Ok(())
    }
}

impl Piece for McapPiece {
    fn size(&self) -> usize {
        self.raw.len() + self.sealed.as_ref().map_or(0, |sealed| sealed.bytes.len())
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn seal(&mut self) -> Result<(), SinkError> {
        if self.sealed.is_some() {
            return Ok(());
        }
        self.flush_starts(self.last);
        if self.raw.len() > self.start {
            self.cuts.push(self.raw.len());
        }
        let mut sealed = Sealed::default();
        let mut indexes: Vec<Vec<u8>> = vec![Vec::new(); self.plan.topics.len()];
        let mut packer = self.compression.packer()?;
        let mut start = 0;
        for cut in &self.cuts {
            let raw = self.raw.get(start..*cut).unwrap_or_default();
            start = *cut;
            sealed.chunk(raw, &mut packer, &mut indexes)?;
        }
        sealed.crc.update(&sealed.bytes);
        self.raw = Vec::new();
        self.sealed = Some(sealed);
        Ok(())
    }
}

impl Sealed {
    /// Appends the chunk of the records in `raw` and its message indexes.
    fn chunk(&mut self, raw: &[u8], packer: &mut super::Packer, indexes: &mut [Vec<u8>]) -> Result<(), SinkError> {
        let (mut first, mut last) = (u64::MAX, 0);
        let mut at = 0;
        while let Some(length) = array_at(raw, at + 1).map(|b| u64::from_le_bytes(*b)) {
            let topic = array_at(raw, at + 9).map_or(0, |b| u16::from_le_bytes(*b));
            let time = array_at(raw, at + 15).map_or(0, |b| u64::from_le_bytes(*b));
            first = first.min(time);
            last = last.max(time);
            if let Some(index) = indexes.get_mut(usize::from(topic)) {
                index.extend_from_slice(&time.to_le_bytes());
                index.extend_from_slice(&(at as u64).to_le_bytes());
            }
            // The length was written by this piece, so it stays within the memory that holds the records.
            at += FRAME + usize::try_from(length).unwrap_or(usize::MAX - FRAME - at);
        }
        let start = self.bytes.len();
        let mut compressed = 0;
        let mut result = Ok(());
        wire::record(&mut self.bytes, op::CHUNK, |out| {
            out.extend_from_slice(&first.to_le_bytes());
            out.extend_from_slice(&last.to_le_bytes());
            out.extend_from_slice(&(raw.len() as u64).to_le_bytes());
            out.extend_from_slice(&crc32fast::hash(raw).to_le_bytes());
            wire::text(out, packer.name());
            let length = out.len();
            out.extend_from_slice(&[0; 8]);
            result = packer.pack(raw, out);
            compressed = out.len() - length - 8;
            wire::patch(out, length, compressed as u64);
        });
        result?;
        let length = self.bytes.len() - start;
        let mut places = Vec::new();
        for (index, topic) in indexes.iter_mut().zip(0_u16..).filter(|(index, _)| !index.is_empty()) {
            places.push((topic, self.bytes.len(), (index.len() / 16) as u64));
            wire::record(&mut self.bytes, op::MESSAGE_INDEX, |out| {
                out.extend_from_slice(&topic.to_le_bytes());
                wire::block(out, index);
            });
            index.clear();
        }
        let indexes_length = self.bytes.len() - start - length;
        let uncompressed = raw.len();
        let chunk =
            SealedChunk { first, last, at: start, length, indexes: places, indexes_length, compressed, uncompressed };
        self.chunks.push(chunk);
        Ok(())
    }
}

/// Bytes of records after which a chunk is full: small enough to jump, large enough to compress.
const CHUNK: usize = 1 << 20;

const TOO_LONG: &str = "a value longer than 4 GiB, which no message can hold";

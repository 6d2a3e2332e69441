use logpose_core::{
    Channel, ChannelId, Confidence, DecodeError, Layout, Problem, Problems, ReadOptions, Sample, Severity, Sink,
    StreamError, Time, Value,
};
use mcap::records::{Channel as Topic, Metadata, Record, op};
use mcap::{MAGIC, Schema};

use super::plan::{NAME, VERSION, key};
use super::ros;
use super::topics::{Kind, TopicMap};
use super::unpack::{DataBlock, Frame, Frames, Item, Unpacked, check_data};
use crate::Header;
use crate::header::channel_from_json;

/// Whether bytes from the front of a file look like MCAP.
#[must_use]
pub fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Yes } else { Confidence::No }
}

/// Reads an MCAP file: one of ours gives back the log that it was made of, others what their encodings describe.
///
/// A file that was cut is read as far as it is whole.
pub fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    if !file.starts_with(MAGIC) {
        return Err(DecodeError {
            dialect: "mcap",
            code: "bad-magic",
            at: 0,
            message: "expected the MCAP magic bytes 89 4d 43 41 50 30 0d 0a".to_owned(),
            help: None,
        }
        .into());
    }
    let outline = Outline::of(file, problems);
    let mut reader = Reader::new(sink, problems, read.limits.channels);
    let header = reader.begin(&outline);
    let mut blocks = outline.blocks.as_slice();
    while let Some((batch, rest)) = next_batch(blocks, read.threads) {
        blocks = rest;
        let mut jobs: Vec<Job<'_>> = batch.iter().map(|(_, block)| (*block, None)).collect();
        run(&mut jobs, read, read.threads);
        for ((at, _), (block, result)) in batch.iter().zip(jobs) {
            match (block, result) {
                (DataBlock::Loose(_), Some(Ok(unpacked))) => reader.items(unpacked, Place::File(*at))?,
                (DataBlock::Chunk(..), Some(Ok(unpacked))) => reader.items(unpacked, Place::Chunk(*at))?,
                (DataBlock::Chunk(record, _) | DataBlock::Loose(record), Some(Err(reason))) => {
                    let message = format!("cannot read a chunk: {reason}; lost its messages");
                    let length = record.len() as u64;
                    reader.problems.push(Problem::new(Severity::Damage, "bad-chunk", *at, length, message));
                }
                (_, None) => {}
            }
        }
    }
    reader.finish(header)
}

/// A file seen from outside: which records it has, without opening chunks.
#[derive(Default)]
struct Outline<'a> {
    schemas: Vec<Schema<'a>>,
    topics: Vec<Topic>,
    metadata: Vec<Metadata>,
    facts: Vec<(String, String)>,
    blocks: Vec<BlockAt<'a>>,
}

/// A block of the data section that has messages, and where it starts.
type BlockAt<'a> = (u64, DataBlock<'a>);

impl<'a> Outline<'a> {
    fn of(file: &'a [u8], problems: &mut Problems) -> Self {
        let mut outline = Self::default();
        let mut frames = Frames::new(file, MAGIC.len());
        // Where loose messages begin, while there are some.
        let mut loose: Option<usize> = None;
        let mut any_loose = false;
        let (mut data_end, mut footer) = (false, false);
        while let Some(frame) = frames.by_ref().next() {
            if let Some(start) = loose
                && (frame.opcode != op::MESSAGE || frame.at - start >= LOOSE)
            {
                outline.loose(file, start, frame.at);
                loose = None;
            }
            match frame.opcode {
                op::MESSAGE if !data_end => {
                    any_loose = true;
                    loose.get_or_insert(frame.at);
                }
                op::DATA_END => {
                    data_end = true;
                    // Chunks have sums of their own; only messages outside of them need that of the whole section.
                    if any_loose && let Err(reason) = check_data(file.get(..frames.at).unwrap_or_default()) {
                        let message = format!("the data section is damaged: {reason}; some messages may be wrong");
                        problems.push(Problem::new(Severity::Damage, "data-crc", frame.at as u64, 0, message));
                    }
                }
                op::FOOTER => {
                    footer = true;
                    break;
                }
                _ => outline.record(file, &frame, problems),
            }
        }
        let end = frames.at;
        if let Some(start) = loose {
            outline.loose(file, start, end);
        }
        let rest = file.get(end..).unwrap_or_default();
        let (at, lost) = (end as u64, rest.len() as u64);
        if !data_end {
            let (severity, message) = match lost {
                0 => {
                    let message = "the file has no footer: it was truncated or is still being written; all messages in it are complete";
                    (Severity::Warning, message.to_owned())
                }
                lost => {
                    let message = format!("the file is truncated; lost an incomplete record of {lost} bytes");
                    (Severity::Damage, message)
                }
            };
            problems.push(Problem::new(severity, "truncated", at, lost, message));
        } else if !footer || !rest.starts_with(MAGIC) {
            let message = "the end of the file is incomplete; all messages are readable";
            problems.push(Problem::new(Severity::Warning, "truncated-end", at, lost, message));
        }
        outline
    }

    fn loose(&mut self, file: &'a [u8], start: usize, end: usize) {
        self.blocks.push((start as u64, DataBlock::Loose(file.get(start..end).unwrap_or_default())));
    }

    fn record(&mut self, file: &'a [u8], frame: &Frame<'a>, problems: &mut Problems) {
        // Indexes and statistics are not needed: everything is read, in the order of the file.
        if ![op::HEADER, op::SCHEMA, op::CHANNEL, op::METADATA, op::CHUNK, op::ATTACHMENT].contains(&frame.opcode) {
            return;
        }
        let mut report = |severity, code, message| {
            problems.push(Problem::new(severity, code, frame.at as u64, frame.length(), message));
        };
        match frame.parse() {
            Ok(Record::Header(header)) => {
                let facts = [("profile", header.profile), ("library", header.library)].into_iter();
                self.facts.extend(facts.filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key.to_owned(), text)));
            }
            Ok(Record::Schema { header, data }) => {
                self.schemas.push(Schema { id: header.id, name: header.name, encoding: header.encoding, data });
            }
            Ok(Record::Channel(topic)) => self.topics.push(topic),
            Ok(Record::Metadata(metadata)) => self.metadata.push(metadata),
            Ok(Record::Chunk { header, .. }) => {
                let record = file.get(frame.at..).and_then(|rest| rest.get(..usize::try_from(frame.length()).ok()?));
                self.blocks
                    .push((frame.at as u64, DataBlock::Chunk(record.unwrap_or_default(), header.uncompressed_size)));
            }
            Ok(Record::Attachment { header, .. }) => {
                let message = format!("skipped the attachment {:?}: only samples are read", header.name);
                report(Severity::Warning, "attachment", message);
            }
            Ok(_) => {}
            Err(reason) if frame.opcode == op::CHUNK => {
                let message = format!("cannot read a chunk: {reason}; lost its messages");
                report(Severity::Damage, "bad-chunk", message);
            }
            Err(reason) => {
                let message = format!("record {:#04x}: {reason}; skipped", frame.opcode);
                report(Severity::Damage, "bad-record", message);
            }
        }
    }
}

/// A block to be unpacked, and what was in it.
type Job<'a> = (DataBlock<'a>, Option<Result<Unpacked<'a>, String>>);

/// So many blocks that every thread has some, and not so many that they fill the memory.
fn next_batch<'p, 'a>(blocks: &'p [BlockAt<'a>], threads: usize) -> Option<(&'p [BlockAt<'a>], &'p [BlockAt<'a>])> {
    let mut bytes = 0_u64;
    let fits = |(_, block): &&BlockAt<'_>| {
        let before = bytes;
        bytes = bytes.saturating_add(block.size());
        before == 0 || bytes <= BATCH_BYTES
    };
    let count = blocks.iter().take(threads.max(1) * 4).take_while(fits).count();
    blocks.split_at_checked(count).filter(|(batch, _)| !batch.is_empty())
}

/// Unpacks blocks side by side.
fn run(jobs: &mut [Job<'_>], read: &ReadOptions<'_>, threads: usize) {
    if threads < 2 || jobs.len() < 2 {
        jobs.iter_mut().for_each(|(block, result)| *result = Some(block.unpack()));
        return;
    }
    let (left, right) = jobs.split_at_mut(jobs.len() / 2);
    (read.join)(&mut || run(left, read, threads / 2), &mut || run(right, read, threads - threads / 2));
}

/// Where records lie: records outside chunks have offsets in the file, those in a compressed chunk do not.
#[derive(Clone, Copy)]
enum Place {
    File(u64),
    Chunk(u64),
}

impl Place {
    fn of(self, at: usize) -> u64 {
        match self {
            Self::File(start) => start + at as u64,
            Self::Chunk(start) => start,
        }
    }
}

struct Reader<'a> {
    sink: &'a mut dyn Sink,
    problems: &'a mut Problems,
    topics: TopicMap,
    /// By channel: whether the sink knows it.
    declared: Vec<bool>,
    /// What is subtracted from times.
    offset: u64,
    first: Option<u64>,
    most_channels: u32,
    text: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn new(sink: &'a mut dyn Sink, problems: &'a mut Problems, most_channels: u32) -> Self {
        let topics = TopicMap::default();
        Self { sink, problems, topics, declared: Vec::new(), offset: 0, first: None, most_channels, text: Vec::new() }
    }

    /// Takes the outline: the header, schemas and channels.
    fn begin(&mut self, outline: &Outline<'_>) -> Header {
        let mut header = Header { origin: "mcap".to_owned(), facts: outline.facts.clone(), ..Header::default() };
        for metadata in &outline.metadata {
            let find = |key: &str| metadata.metadata.get(key).map(String::as_str);
            if metadata.name == NAME && find("version") == Some(VERSION) {
                self.topics.ours = true;
                self.offset = find("offset_ns").and_then(|text| text.parse().ok()).unwrap_or(0);
                header.origin = find("origin").unwrap_or_default().to_owned();
                header.epoch_ns = find("epoch_ns").and_then(|text| text.parse().ok());
                header.facts = find("facts").and_then(facts).unwrap_or_default();
            } else {
                let name = &metadata.name;
                header
                    .facts
                    .extend(metadata.metadata.iter().map(|(key, text)| (format!("{name}/{key}"), text.clone())));
            }
        }
        outline.schemas.iter().for_each(|schema| self.topics.schema(owned(schema)));
        let mut topics: Vec<&Topic> = outline.topics.iter().collect();
        // Numbers of channels are their places, so the first comes first; in files of others the order stays.
        let number =
            |topic: &Topic| topic.metadata.get(key::ID).and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
        topics.sort_by_key(|topic| number(topic));
        topics.into_iter().for_each(|topic| self.topic(topic.clone(), 0));
        header
    }

    /// Whether there may be another channel.
    fn has_room(&mut self, at: u64) -> bool {
        let has_room = (self.topics.channels.len() as u64) < u64::from(self.most_channels);
        if !has_room {
            let message = format!("more than {} channels; skipped the others", self.most_channels);
            self.problems.push(Problem::new(Severity::Damage, "too-many-channels", at, 0, message));
        }
        has_room
    }

    /// Takes a channel of a stream, whose topic may still be to come.
    fn announce(&mut self, number: u64, channel: Channel, at: u64) {
        if self.topics.number(number).is_some() || self.has_room(at) {
            self.topics.announce(number, channel);
            self.declared.resize(self.topics.channels.len(), false);
        }
    }

    fn topic(&mut self, topic: Topic, at: u64) {
        let number = topic.metadata.get(key::ID).and_then(|number| number.parse().ok());
        let known = self.topics.ours && number.is_some_and(|number| self.topics.number(number).is_some());
        if !known && !self.has_room(at) {
            return;
        }
        let id = topic.id;
        if self.topics.topic(topic) {
            let message =
                format!("channel {id} is declared a second time with another definition, which applies from here on");
            self.problems.push(Problem::new(Severity::Warning, "channel-changed", at, 0, message));
        }
        self.declared.resize(self.topics.channels.len(), false);
    }

    /// Pushes the messages of a block.
    fn items(&mut self, unpacked: Unpacked<'_>, place: Place) -> Result<(), StreamError> {
        let mut batch: Vec<Sample<'_>> = Vec::with_capacity(BATCH_ROWS);
        let mut last = 0;
        for item in unpacked.items {
            match item {
                Item::Message { topic, time, data } => {
                    let at = place.of(data.start);
                    last = data.end;
                    self.message(topic, time, unpacked.bytes.get(data).unwrap_or_default(), at, &mut batch)?;
                }
                Item::Declaration(record) => self.declaration(*record, place.of(last)),
                Item::Bad(opcode, reason) => {
                    let message = format!("record {opcode:#04x}: {reason}; skipped");
                    self.problems.push(Problem::new(Severity::Damage, "bad-record", place.of(last), 0, message));
                }
            }
            if batch.len() >= BATCH_ROWS {
                self.sink.samples(&batch)?;
                batch.clear();
            }
        }
        if !batch.is_empty() {
            self.sink.samples(&batch)?;
        }
        Ok(())
    }

    #[cold]
    fn declaration(&mut self, record: Record<'static>, at: u64) {
        match record {
            Record::Schema { header, data } => {
                self.topics.schema(Schema { id: header.id, name: header.name, encoding: header.encoding, data });
            }
            Record::Channel(topic) => self.topic(topic, at),
            _ => {}
        }
    }

    #[inline]
    fn message<'b>(
        &mut self,
        topic: u16,
        log_time: u64,
        data: &'b [u8],
        at: u64,
        batch: &mut Vec<Sample<'b>>,
    ) -> Result<(), StreamError> {
        let time = i64::try_from(i128::from(log_time) - i128::from(self.offset));
        let Some(mapped) = self.topics.mapped(topic) else {
            return self.lost(at, data, &format!("message of undeclared channel {topic}"));
        };
        let channel = mapped.channel;
        let payload = match mapped.kind {
            Kind::Plain => data,
            Kind::Counted => match data.get(4..) {
                Some(payload) => payload,
                None => return self.misfit(at, data, channel, "missing count"),
            },
            Kind::Skip => return Ok(()),
            _ => return self.special(topic, time.unwrap_or(i64::MAX), data, at, batch),
        };
        let value = match Value::parse(mapped.ty, payload, Layout::Little) {
            Ok(value) => value,
            Err(misfit) => return self.misfit(at, data, channel, &misfit.to_string()),
        };
        let Ok(time) = time else {
            return self.lost(at, data, &format!("timestamp {log_time} ns is out of range"));
        };
        if self.declared.get(channel as usize) != Some(&true) || self.first.is_none() {
            self.first(topic, log_time, Time::from_nanos(time), batch)?;
        }
        batch.push(Sample { channel, time: Time::from_nanos(time), value });
        Ok(())
    }

    /// The first message of a channel: whoever reads on needs the channel and its schemas first.
    #[cold]
    fn first(&mut self, topic: u16, log_time: u64, time: Time, batch: &mut Vec<Sample<'_>>) -> Result<(), StreamError> {
        self.first.get_or_insert(log_time);
        self.sink.samples(batch)?;
        batch.clear();
        let Some(mapped) = self.topics.mapped(topic) else { return Ok(()) };
        let (channel, needs) = (mapped.channel, mapped.needs.take());
        for need in &needs {
            if self.topics.gives(need) {
                let (channel, payload) = need;
                self.declare(*channel, None)?;
                let ty = self.topics.channels.get(*channel as usize).map(Channel::ty);
                let value = ty.and_then(|ty| Value::parse(ty, payload, Layout::Little).ok());
                if let Some(value) = value {
                    self.sink.samples(&[Sample { channel: *channel, time, value }])?;
                }
            }
        }
        self.declare(channel, None)
    }

    fn declare(&mut self, id: ChannelId, metadata: Option<&str>) -> Result<(), StreamError> {
        let (Some(channel), Some(declared)) =
            (self.topics.channels.get(id as usize), self.declared.get_mut(id as usize))
        else {
            return Ok(());
        };
        if !std::mem::replace(declared, true) {
            match metadata {
                Some(text) => {
                    self.sink.channel(id, &Channel { metadata: text.to_owned(), ..channel.clone() })?;
                }
                None => self.sink.channel(id, channel)?,
            }
        }
        Ok(())
    }

    /// A message that is not its value as it stands.
    #[cold]
    fn special<'b>(
        &mut self,
        topic: u16,
        ns: i64,
        data: &'b [u8],
        at: u64,
        batch: &mut Vec<Sample<'b>>,
    ) -> Result<(), StreamError> {
        let Some(mapped) = self.topics.mapped(topic) else { return Ok(()) };
        let (channel, time, kind) = (mapped.channel, Time::from_nanos(ns), mapped.kind.clone());
        if let Kind::Events = kind {
            self.sink.samples(batch)?;
            batch.clear();
            return self.event(data, time, at);
        }
        if self.declared.get(channel as usize) != Some(&true) || self.first.is_none() {
            let log_time = u64::try_from(ns).unwrap_or(0);
            self.first(topic, log_time, time, batch)?;
        }
        match kind {
            Kind::Integer(scalar) => match ros::integer(scalar, data) {
                Some(number) => batch.push(Sample { channel, time, value: Value::Int64(number) }),
                None => {
                    self.misfit(at, data, channel, &format!("a {} has {} bytes", scalar.name(), scalar.size()))?;
                }
            },
            Kind::Json(message) => {
                self.sink.samples(batch)?;
                batch.clear();
                self.text.clear();
                match message.json(data, &mut self.text) {
                    Some(()) => self.sink.samples(&[Sample { channel, time, value: Value::String(&self.text) }])?,
                    None => self.misfit(at, data, channel, "the bytes do not match the definition")?,
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What happened to a channel between two samples.
    fn event(&mut self, text: &[u8], time: Time, at: u64) -> Result<(), StreamError> {
        let event: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
        let text = |key: &str| event.get(key).and_then(serde_json::Value::as_str);
        let number = event.get("channel").and_then(serde_json::Value::as_u64);
        if let (Some("start"), Some(number), Some(channel)) = (text("event"), number, channel_from_json(&event)) {
            self.announce(number, channel, at);
        }
        let Some(id) = number.and_then(|number| self.topics.number(number)) else {
            return self.lost(at, &[], "event without a channel");
        };
        let time = event.get("time_ns").and_then(serde_json::Value::as_i64).map_or(time, Time::from_nanos);
        match text("event") {
            Some("start") => self.declare(id, text("metadata"))?,
            Some("metadata") => {
                let metadata = text("metadata").unwrap_or_default();
                self.declare(id, None)?;
                self.topics.metadata(id, metadata);
                self.sink.metadata(id, time, metadata)?;
            }
            Some("end") => {
                self.declare(id, None)?;
                self.sink.end(id, time)?;
            }
            Some("sample") => {
                self.declare(id, None)?;
                let bytes = event.get("payload").and_then(serde_json::Value::as_array);
                let byte = |byte: &serde_json::Value| u8::try_from(byte.as_u64()?).ok();
                let payload: Option<Vec<u8>> = bytes.and_then(|bytes| bytes.iter().map(byte).collect());
                let ty = self.topics.channels.get(id as usize).map(Channel::ty);
                let value = payload.as_deref().zip(ty).map(|(payload, ty)| Value::parse(ty, payload, Layout::Little));
                match value {
                    Some(Ok(value)) => self.sink.samples(&[Sample { channel: id, time, value }])?,
                    _ => self.lost(at, &[], "a sample event whose value has another type than its channel")?,
                }
            }
            _ => self.lost(at, &[], "unknown event, expected start, metadata, end or sample")?,
        }
        Ok(())
    }

    /// Declares the channels that got no sample.
    fn finish(mut self, mut header: Header) -> Result<Header, StreamError> {
        for id in (0..).take(self.topics.channels.len()) {
            self.declare(id, None)?;
        }
        if !self.topics.ours && self.first.is_some_and(|first| first >= UNIX) {
            header.epoch_ns = Some(0);
        }
        header.channels = self.topics.channels;
        Ok(header)
    }

    #[cold]
    fn lost(&mut self, at: u64, bytes: &[u8], what: &str) -> Result<(), StreamError> {
        let message = format!("{what}; skipped");
        self.problems.push(Problem::new(Severity::Damage, "bad-message", at, bytes.len() as u64, message));
        Ok(())
    }

    #[cold]
    fn misfit(&mut self, at: u64, bytes: &[u8], id: ChannelId, reason: &str) -> Result<(), StreamError> {
        let channel = self.topics.channels.get(id as usize).cloned().unwrap_or_default();
        let message = format!("invalid value of {:?} ({}): {reason}; skipped", channel.name, channel.type_name);
        self.problems.push(Problem::new(Severity::Damage, "misfit", at, bytes.len() as u64, message));
        Ok(())
    }
}

fn facts(text: &str) -> Option<Vec<(String, String)>> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let pair = |pair: &serde_json::Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
    json.as_array()?.iter().map(pair).collect()
}

fn owned(schema: &Schema<'_>) -> Schema<'static> {
    let data = schema.data.clone().into_owned().into();
    Schema { id: schema.id, name: schema.name.clone(), encoding: schema.encoding.clone(), data }
}

/// Bytes of messages outside of chunks that are read as one block.
const LOOSE: usize = 1 << 20;

/// Samples given to the sink at once.
const BATCH_ROWS: usize = 4096;

/// Bytes of records unpacked at once, as far as more than one chunk is concerned.
const BATCH_BYTES: u64 = 64 << 20;

/// Times from September 2001 on, in nanoseconds, are those of Unix; no robot has run for 31 years.
const UNIX: u64 = 1_000_000_000_000_000_000;

use logpose_core::{
    Channel, ChannelId, Confidence, Cursor, DecodeError, Layout, Problem, Problems, Read, Sample, Severity, Sink,
    StreamError, Time, Truncated, Value, array_at,
};

use super::compression;
use super::lanes::{Kind, Lanes};
use super::plan::{NAME, VERSION, key};
use super::ros;
use super::wire::{self, Chunk, FRAME, MAGIC, Metadata, Record, Schema, Topic, op};
use crate::Header;

/// Whether bytes from the front of a file look like MCAP.
#[must_use]
pub fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(&MAGIC) { Confidence::Yes } else { Confidence::No }
}

/// Reads an MCAP file: one of ours gives back the log that it was made of, others what their encodings tell.
///
/// A file that was cut is read as far as it is whole.
pub fn read(file: &[u8], read: &Read<'_>, sink: &mut dyn Sink, problems: &mut Problems) -> Result<Header, StreamError> {
    if !file.starts_with(&MAGIC) {
        return Err(DecodeError {
            dialect: "mcap",
            code: "bad-magic",
            at: 0,
            message: "an MCAP file starts with 89 4d 43 41 50 30 0d 0a".to_owned(),
            help: None,
        }
        .into());
    }
    let outline = Outline::of(file, problems);
    let mut reader = Reader::new(sink, problems, read.limits.channels);
    let header = reader.begin(&outline);
    let mut parts = outline.parts.as_slice();
    while let Some((batch, rest)) = next_batch(parts, read.threads) {
        parts = rest;
        let mut jobs: Vec<Job<'_>> = batch.iter().map(|part| Job { part: *part, result: None }).collect();
        run(&mut jobs, read, read.threads);
        for job in jobs {
            let (at, length) = job.part.place();
            match (job.part, job.result) {
                (Part::Loose(at, bytes), _) => reader.records(bytes, Place::File(at))?,
                (Part::Chunk(chunk, _), Some(Ok(Unpacked::Same))) => reader.records(chunk.records, Place::Chunk(at))?,
                (Part::Chunk(..), Some(Ok(Unpacked::Fresh(bytes)))) => reader.records(&bytes, Place::Chunk(at))?,
                (Part::Chunk(..), Some(Err(reason))) => {
                    let message = format!("a chunk {reason}; its messages are lost");
                    reader.problems.push(Problem::new(Severity::Damage, "bad-chunk", at, length, message));
                }
                (Part::Chunk(..), None) => {}
            }
        }
    }
    reader.finish(header)
}

/// A file seen from outside: which records it has, without opening chunks.
#[derive(Default)]
struct Outline<'a> {
    schemas: Vec<Schema>,
    topics: Vec<Topic>,
    metadata: Vec<Metadata>,
    facts: Vec<(String, String)>,
    parts: Vec<Part<'a>>,
}

/// A stretch of the data section.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// A chunk, and the length of its record.
    Chunk(Chunk<'a>, u64),
    /// Records outside of chunks, and where they start.
    Loose(u64, &'a [u8]),
}

impl Part<'_> {
    fn place(&self) -> (u64, u64) {
        match self {
            Self::Chunk(chunk, length) => (chunk.at, *length),
            Self::Loose(at, bytes) => (*at, bytes.len() as u64),
        }
    }
}

impl<'a> Outline<'a> {
    fn of(file: &'a [u8], problems: &mut Problems) -> Self {
        let mut outline = Self::default();
        let mut cur = Cursor::new(file.get(MAGIC.len()..).unwrap_or_default(), MAGIC.len() as u64);
        // Where loose messages begin, while there are some.
        let mut loose: Option<u64> = None;
        let mut any_loose = false;
        let (mut data_end, mut footer) = (false, false);
        while !cur.is_empty() && !footer {
            let at = cur.offset();
            let record = match Record::parse(&mut cur) {
                Ok(record) => record,
                Err(_) => break,
            };
            if record.opcode != op::MESSAGE
                && let Some(start) = loose.take()
            {
                outline.parts.push(Part::Loose(start, between(file, start, at)));
            }
            let parsed = match record.opcode {
                op::MESSAGE if !data_end => {
                    any_loose = true;
                    loose.get_or_insert(at);
                    Ok(())
                }
                op::DATA_END => {
                    data_end = true;
                    check_data(file, &record, any_loose, problems);
                    Ok(())
                }
                op::FOOTER => {
                    footer = true;
                    Ok(())
                }
                _ => outline.record(&record, problems),
            };
            if let Err(truncated) = parsed {
                let message = format!("record {:#04x}: {truncated}; it is skipped", record.opcode);
                let length = (FRAME + record.body.len()) as u64;
                problems.push(Problem::new(Severity::Damage, "bad-record", at, length, message));
            }
        }
        let at = cur.offset();
        if let Some(start) = loose {
            outline.parts.push(Part::Loose(start, between(file, start, at)));
        }
        let lost = cur.rest().len() as u64;
        if !data_end {
            let message = format!("the file ends in the middle: {lost} bytes are no whole record and are lost");
            problems.push(Problem::new(Severity::Damage, "truncated", at, lost, message));
        } else if !footer || !cur.rest().starts_with(&MAGIC) {
            let message = "the end of the file is not whole; all messages are there";
            problems.push(Problem::new(Severity::Warning, "truncated-end", at, lost, message));
        }
        outline
    }

    fn record(&mut self, record: &Record<'a>, problems: &mut Problems) -> Result<(), Truncated> {
        match record.opcode {
            op::HEADER => {
                let mut cur = record.cursor();
                for (key, what) in [("profile", "profile"), ("library", "library")] {
                    let text = wire::string(&mut cur, what)?;
                    if !text.is_empty() {
                        self.facts.push((key.to_owned(), text));
                    }
                }
            }
            op::SCHEMA => self.schemas.push(Schema::parse(record.cursor())?),
            op::CHANNEL => self.topics.push(Topic::parse(record.cursor())?),
            op::METADATA => self.metadata.push(Metadata::parse(record.cursor())?),
            op::CHUNK => {
                self.parts.push(Part::Chunk(Chunk::parse(record)?, (FRAME + record.body.len()) as u64));
            }
            op::ATTACHMENT => {
                let mut cur = record.cursor();
                cur.take(16, "attachment times")?;
                let name = wire::string(&mut cur, "attachment name")?;
                let message = format!("the attachment {name:?} is left out: a log holds samples alone");
                let length = (FRAME + record.body.len()) as u64;
                problems.push(Problem::new(Severity::Warning, "attachment", record.at, length, message));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Chunks have sums of their own; only messages outside of them need that of the whole data section.
fn check_data(file: &[u8], record: &Record<'_>, any_loose: bool, problems: &mut Problems) {
    let claimed = array_at(record.body, 0).map_or(0, |b| u32::from_le_bytes(*b));
    if any_loose && claimed != 0 && crc32fast::hash(between(file, 0, record.at)) != claimed {
        let message = "the checksum of the data section does not match; some messages are damaged";
        problems.push(Problem::new(Severity::Damage, "data-crc", record.at, 0, message));
    }
}

fn between(file: &[u8], start: u64, end: u64) -> &[u8] {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    file.get(place(start)..place(end)).unwrap_or_default()
}

/// One chunk to be unpacked.
struct Job<'a> {
    part: Part<'a>,
    result: Option<Result<Unpacked, String>>,
}

enum Unpacked {
    /// It was not compressed.
    Same,
    Fresh(Vec<u8>),
}

impl Job<'_> {
    fn run(&mut self) {
        let Part::Chunk(chunk, _) = &self.part else { return };
        let check = |bytes: &[u8]| match chunk.uncompressed_crc {
            0 => Ok(()),
            crc if crc32fast::hash(bytes) == crc => Ok(()),
            _ => Err("does not match its checksum".to_owned()),
        };
        self.result = Some(if chunk.compression.is_empty() {
            check(chunk.records).map(|()| Unpacked::Same)
        } else {
            compression::unpack(chunk).and_then(|bytes| check(&bytes).map(|()| Unpacked::Fresh(bytes)))
        });
    }
}

/// So many parts that every thread has some, and not so many that they fill the memory.
fn next_batch<'p, 'a>(parts: &'p [Part<'a>], threads: usize) -> Option<(&'p [Part<'a>], &'p [Part<'a>])> {
    let mut bytes = 0_u64;
    let fits = |part: &&Part<'_>| {
        let before = bytes;
        if let Part::Chunk(chunk, _) = part {
            bytes = bytes.saturating_add(chunk.uncompressed_size);
        }
        before == 0 || bytes <= BATCH_BYTES
    };
    let count = parts.iter().take(threads.max(1) * 4).take_while(fits).count();
    parts.split_at_checked(count).filter(|(batch, _)| !batch.is_empty())
}

/// Unpacks chunks side by side.
fn run(jobs: &mut [Job<'_>], read: &Read<'_>, threads: usize) {
    if threads < 2 || jobs.len() < 2 {
        jobs.iter_mut().for_each(Job::run);
        return;
    }
    let (left, right) = jobs.split_at_mut(jobs.len() / 2);
    (read.join)(&mut || run(left, read, threads / 2), &mut || run(right, read, threads - threads / 2));
}

/// Where records lie: their offsets in the file can be told, those in a compressed chunk cannot.
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
    lanes: Lanes,
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
        let lanes = Lanes::default();
        Self { sink, problems, lanes, declared: Vec::new(), offset: 0, first: None, most_channels, text: Vec::new() }
    }

    /// Takes what the outline tells: the header, schemas and channels.
    fn begin(&mut self, outline: &Outline<'_>) -> Header {
        let mut header = Header { origin: "mcap".to_owned(), facts: outline.facts.clone(), ..Header::default() };
        for metadata in &outline.metadata {
            let find = |key: &str| metadata.pairs.iter().find(|(found, _)| found == key).map(|(_, text)| text.as_str());
            if metadata.name == NAME && find("version") == Some(VERSION) {
                self.lanes.ours = true;
                self.offset = find("offset_ns").and_then(|text| text.parse().ok()).unwrap_or(0);
                header.origin = find("origin").unwrap_or_default().to_owned();
                header.epoch_ns = find("epoch_ns").and_then(|text| text.parse().ok());
                header.facts = find("facts").and_then(facts).unwrap_or_default();
            } else {
                let name = &metadata.name;
                header.facts.extend(metadata.pairs.iter().map(|(key, text)| (format!("{name}/{key}"), text.clone())));
            }
        }
        outline.schemas.iter().for_each(|schema| self.lanes.schema(schema.clone()));
        let mut topics: Vec<&Topic> = outline.topics.iter().collect();
        // Numbers of channels are their places, so the first comes first; in files of others the order stays.
        let number = |topic: &Topic| topic.about(key::ID).and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
        topics.sort_by_key(|topic| number(topic));
        topics.into_iter().for_each(|topic| self.topic(topic.clone(), 0));
        header
    }

    fn topic(&mut self, topic: Topic, at: u64) {
        if self.lanes.channels.len() as u64 >= u64::from(self.most_channels) {
            let message = format!("more than {} channels; the others are left out", self.most_channels);
            self.problems.push(Problem::new(Severity::Damage, "too-many-channels", at, 0, message));
            return;
        }
        let id = topic.id;
        if self.lanes.topic(topic) {
            let message = format!("channel {id} is declared a second time, differently; its messages are read as that");
            self.problems.push(Problem::new(Severity::Warning, "channel-changed", at, 0, message));
        }
        self.declared.resize(self.lanes.channels.len(), false);
    }

    /// Pushes the messages among some records.
    fn records(&mut self, bytes: &[u8], place: Place) -> Result<(), StreamError> {
        let mut batch: Vec<Sample<'_>> = Vec::with_capacity(BATCH_ROWS);
        let mut at = 0;
        while at < bytes.len() {
            let record = array_at(bytes, at + 1).and_then(|length| {
                let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
                let start = at + FRAME;
                Some((*bytes.get(at)?, bytes.get(start..start.checked_add(length)?)?))
            });
            let Some((opcode, body)) = record else {
                let left = (bytes.len() - at) as u64;
                let message = format!("a record needs more than the {left} bytes that are left; they are lost");
                self.problems.push(Problem::new(Severity::Damage, "bad-record", place.of(at), left, message));
                break;
            };
            match opcode {
                op::MESSAGE => self.message(body, place.of(at), &mut batch)?,
                op::SCHEMA | op::CHANNEL => self.declaration(opcode, body, place.of(at)),
                _ => {}
            }
            if batch.len() >= BATCH_ROWS {
                self.sink.samples(&batch)?;
                batch.clear();
            }
            at += FRAME + body.len();
        }
        if !batch.is_empty() {
            self.sink.samples(&batch)?;
        }
        Ok(())
    }

    #[cold]
    fn declaration(&mut self, opcode: u8, body: &[u8], at: u64) {
        let cur = Cursor::new(body, at);
        let parsed = match opcode {
            op::SCHEMA => Schema::parse(cur).map(|schema| self.lanes.schema(schema)),
            _ => Topic::parse(cur).map(|topic| self.topic(topic, at)),
        };
        if let Err(truncated) = parsed {
            let message = format!("record {opcode:#04x}: {truncated}; it is skipped");
            self.problems.push(Problem::new(Severity::Damage, "bad-record", at, body.len() as u64, message));
        }
    }

    #[inline]
    fn message<'b>(&mut self, body: &'b [u8], at: u64, batch: &mut Vec<Sample<'b>>) -> Result<(), StreamError> {
        let (Some(topic), Some(time), Some(data)) = (array_at(body, 0), array_at(body, 6), body.get(22..)) else {
            return self.lost(at, body, "a message without a header");
        };
        let (topic, log_time) = (u16::from_le_bytes(*topic), u64::from_le_bytes(*time));
        let time = i64::try_from(i128::from(log_time) - i128::from(self.offset));
        let Some(lane) = self.lanes.lane(topic) else {
            return self.lost(at, body, &format!("a message of channel {topic}, which is not declared"));
        };
        let channel = lane.channel;
        let payload = match lane.kind {
            Kind::Plain => data,
            Kind::Counted => match data.get(4..) {
                Some(payload) => payload,
                None => return self.misfit(at, body, channel, "there is no count in front"),
            },
            Kind::Skip => return Ok(()),
            _ => return self.special(topic, time.unwrap_or(i64::MAX), data, at, batch),
        };
        let value = match Value::parse(lane.ty, payload, Layout::Little) {
            Ok(value) => value,
            Err(misfit) => return self.misfit(at, body, channel, &misfit.to_string()),
        };
        let Ok(time) = time else {
            return self.lost(at, body, &format!("a message at {log_time} ns, beyond what 64 bits with a sign hold"));
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
        let Some(lane) = self.lanes.lane(topic) else { return Ok(()) };
        let (channel, needs) = (lane.channel, lane.needs.take());
        for need in &needs {
            if self.lanes.gives(need) {
                let (channel, payload) = need;
                self.declare(*channel, None)?;
                let ty = self.lanes.channels.get(*channel as usize).map(Channel::ty);
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
            (self.lanes.channels.get(id as usize), self.declared.get_mut(id as usize))
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
        let Some(lane) = self.lanes.lane(topic) else { return Ok(()) };
        let (channel, time, kind) = (lane.channel, Time::from_nanos(ns), lane.kind.clone());
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
                    None => self.misfit(at, data, channel, "its bytes do not fit its definition")?,
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
        let Some(id) = number.and_then(|number| self.lanes.number(number)) else {
            return self.lost(at, &[], "an event of no channel");
        };
        let time = event.get("time_ns").and_then(serde_json::Value::as_i64).map_or(time, Time::from_nanos);
        match text("event") {
            Some("start") => self.declare(id, text("metadata"))?,
            Some("metadata") => {
                self.declare(id, None)?;
                self.sink.metadata(id, time, text("metadata").unwrap_or_default())?;
            }
            Some("end") => {
                self.declare(id, None)?;
                self.sink.end(id, time)?;
            }
            _ => self.lost(at, &[], "an event of another kind than start, metadata and end")?,
        }
        Ok(())
    }

    /// Declares the channels that got no sample.
    fn finish(mut self, mut header: Header) -> Result<Header, StreamError> {
        for id in (0..).take(self.lanes.channels.len()) {
            self.declare(id, None)?;
        }
        if !self.lanes.ours && self.first.is_some_and(|first| first >= UNIX) {
            header.epoch_ns = Some(0);
        }
        header.channels = self.lanes.channels;
        Ok(header)
    }

    #[cold]
    fn lost(&mut self, at: u64, bytes: &[u8], what: &str) -> Result<(), StreamError> {
        let message = format!("{what}; it is skipped");
        self.problems.push(Problem::new(Severity::Damage, "bad-message", at, bytes.len() as u64, message));
        Ok(())
    }

    #[cold]
    fn misfit(&mut self, at: u64, bytes: &[u8], id: ChannelId, reason: &str) -> Result<(), StreamError> {
        let channel = self.lanes.channels.get(id as usize).cloned().unwrap_or_default();
        let message = format!("no value of {:?} ({}): {reason}; skipped", channel.name, channel.type_name);
        self.problems.push(Problem::new(Severity::Damage, "misfit", at, bytes.len() as u64, message));
        Ok(())
    }
}

fn facts(text: &str) -> Option<Vec<(String, String)>> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let pair = |pair: &serde_json::Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
    json.as_array()?.iter().map(pair).collect()
}

/// Samples given to the sink at once.
const BATCH_ROWS: usize = 4096;

/// Bytes of records unpacked at once, as far as more than one chunk is concerned.
const BATCH_BYTES: u64 = 64 << 20;

/// Times from September 2001 on, in nanoseconds, are those of Unix; no robot has run for 31 years.
const UNIX: u64 = 1_000_000_000_000_000_000;

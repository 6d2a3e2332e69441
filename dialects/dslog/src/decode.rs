//! Bytes in pieces, for files that still grow.

use logpose_core::{
    ChannelId, Cursor, Decode, DecodeError, Limits, Parcel, Problem, Severity, Sink, SinkError, StreamError, Time,
};

use crate::dialect::name_of;
use crate::error::{Error, ErrorKind};
use crate::model::{TOPICS, Topic, Values};
use crate::pair::{Front, Half, MAGIC};
use crate::rows::push_said;
use crate::walk::{Found, Records, TextSample, Visit, met_text, place};
use crate::wire::{Event, HEADER, Header, Record, Status, Version, is_events};

/// A log out of bytes in pieces: whole records only.
pub(crate) struct StreamDecoder {
    limits: Limits,
    /// Bytes used so far, and where the file that they are of began.
    at: u64,
    from: u64,
    stage: Stage,
    /// Bytes of this file and of the next one that are still to come, in a pair.
    left: Option<(u64, u64)>,
    /// Unix nanoseconds of time 0.
    start: Option<i64>,
    channels: Channels,
}

#[derive(Default)]
struct Channels {
    of_topics: Vec<Option<ChannelId>>,
    next: ChannelId,
    event: Option<String>,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Before the first byte.
    Begin,
    /// Before the header of a file.
    Head(Half),
    /// Among records, with zeros behind the last one: perhaps they fill the end of the file.
    Records(Version, Records, u64),
    /// Among texts.
    Texts,
}

/// What one step did.
enum Step {
    /// Used so many bytes.
    Used(usize),
    /// Nothing: more bytes are needed.
    Wait,
}

impl StreamDecoder {
    pub(crate) fn new(limits: Limits) -> Self {
        let channels = Channels { of_topics: vec![None; TOPICS], ..Channels::default() };
        Self { limits, at: 0, from: 0, stage: Stage::Begin, left: None, start: None, channels }
    }

    /// Of a file that begins with `input`.
    fn begin(&mut self, input: &[u8], last: bool) -> Result<Step, Error> {
        let length = MAGIC.len().min(input.len());
        if length > 0 && input.get(..length) == MAGIC.get(..length) {
            return match Front::parse(input) {
                Ok(front) => {
                    self.left = Some((front.log, front.events));
                    self.stage = Stage::Head(Half::Log);
                    Ok(Step::Used(front.size))
                }
                Err(error) if error.is_truncation() && !last => Ok(Step::Wait),
                Err(error) => Err(error),
            };
        }
        // The first seconds behind the header show which file it is.
        if input.len() < HEADER + 8 && !last {
            return Ok(Step::Wait);
        }
        self.stage = Stage::Head(if is_events(input) { Half::Events } else { Half::Log });
        Ok(Step::Used(0))
    }

    fn head(&mut self, half: Half, input: &[u8]) -> Result<Step, Error> {
        let header = Header::parse(&mut Cursor::new(input, self.at - self.from))?;
        self.start.get_or_insert(header.start.unix_ns());
        let body = place(self.at).saturating_add(HEADER);
        self.stage = match half {
            Half::Log => Stage::Records(header.version, Records::of_stream(header.version, body), 0),
            Half::Events => Stage::Texts,
        };
        Ok(Step::Used(HEADER))
    }

    fn step<'a>(&mut self, input: &'a [u8], last: bool, emit: &mut Emit<'a, '_>) -> Result<Step, Error> {
        match &mut self.stage {
            Stage::Begin => self.begin(input, last),
            Stage::Head(half) => {
                let half = *half;
                match self.head(half, input) {
                    Err(error) if error.is_truncation() && !last => Ok(Step::Wait),
                    end => end,
                }
            }
            Stage::Records(version, records, zeros) => {
                let mut cur = Cursor::new(input, self.at - self.from);
                let record = match Record::parse(&mut cur, *version) {
                    Ok(record) => record,
                    Err(error) => return waits(error, self.limits),
                };
                if record == zero_of(*version) {
                    *zeros += 1;
                } else {
                    release(*version, records, zeros, emit);
                    records.met(&record, emit);
                }
                Ok(Step::Used(record.size(*version)))
            }
            Stage::Texts => {
                let mut cur = Cursor::new(input, self.at - self.from);
                match Event::parse(&mut cur) {
                    Ok(event) => {
                        met_text(self.start.unwrap_or(0), self.at, &event, emit);
                        Ok(Step::Used(event.size()))
                    }
                    Err(error) => waits(error, self.limits),
                }
            }
        }
    }

    fn run(&mut self, input: &[u8], last: bool, sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let mut channels = std::mem::take(&mut self.channels);
        let mut emit = Emit { channels: &mut channels, sink, batch: Parcel::default(), result: Ok(()) };
        let mut used = 0;
        let end = loop {
            let rest = input.get(used..).unwrap_or_default();
            // Of this file alone.
            let own = self.left.map_or(u64::MAX, |(left, _)| left);
            let whole = matches!(self.stage, Stage::Begin) || own >= rest.len() as u64;
            let file = if whole { rest } else { rest.get(..place(own)).unwrap_or(rest) };
            if file.is_empty() || emit.result.is_err() {
                break Ok(());
            }
            let in_pair = self.left.is_some();
            match self.step(file, last, &mut emit) {
                Ok(Step::Used(n)) => {
                    used += n;
                    self.at += n as u64;
                    if let Some((left, _)) = self.left.as_mut().filter(|_| in_pair) {
                        *left -= (n as u64).min(*left);
                    }
                }
                // What is left of a file that has an end will not become more.
                Ok(Step::Wait) if !whole || (in_pair && own == file.len() as u64) => {
                    self.end(file, &mut emit);
                    used += file.len();
                    self.at += file.len() as u64;
                    self.left = self.left.map(|(_, next)| (0, next));
                }
                Ok(Step::Wait) => break Ok(()),
                Err(error) => break Err(error),
            }
            if let Some((0, next)) = self.left.filter(|(_, next)| *next > 0) {
                self.end(&[], &mut emit);
                (self.left, self.from, self.stage) = (Some((next, 0)), self.at, Stage::Head(Half::Events));
            }
        };
        emit.settle();
        let result = std::mem::replace(&mut emit.result, Ok(()));
        self.channels = channels;
        result?;
        end.map_err(DecodeError::from)?;
        Ok(used)
    }

    /// No more bytes of a file will come, and these are left: zeros fill its end, or its last record was cut.
    fn end(&mut self, rest: &[u8], emit: &mut Emit<'_, '_>) {
        let at = self.at - self.from;
        if let Stage::Records(version, records, zeros) = &mut self.stage {
            if *zeros > 0 && rest.iter().all(|byte| *byte == 0) {
                let before = std::mem::take(zeros) * version.shortest() as u64;
                let length = before + rest.len() as u64;
                let message = format!("the file ends with {length} zero bytes after the last record; skipped");
                emit.sink.problem(Problem::new(Severity::Note, "padding", at - before, length, message));
                return;
            }
            release(*version, records, zeros, emit);
        }
        if !rest.is_empty() {
            let message = format!("the last record is truncated; skipped the last {} bytes", rest.len());
            emit.sink.problem(Problem::new(Severity::Damage, "truncated", at, rest.len() as u64, message));
        }
    }
}

/// Hands over zeros that turned out to be records: something stands behind them.
fn release(version: Version, records: &mut Records, zeros: &mut u64, emit: &mut Emit<'_, '_>) {
    for _ in 0..std::mem::take(zeros) {
        records.met(&zero_of(version), emit);
    }
}

/// A record that is not whole yet, unless it claims more than is allowed.
fn waits(error: Error, limits: Limits) -> Result<Step, Error> {
    match error.kind {
        ErrorKind::Truncated { needed, .. } if needed > limits.record_len => {
            let kind = ErrorKind::TooLong { claimed: needed, limit: limits.record_len };
            Err(Error { at: error.at, kind })
        }
        ErrorKind::Truncated { .. } => Ok(Step::Wait),
        _ => Err(error),
    }
}

/// A record of zeros.
fn zero_of(version: Version) -> Record<'static> {
    let pd: &[u8] = match version {
        Version::V3 => &[0; 25],
        Version::V4 => &[],
    };
    Record { trip: 0, loss: 0, battery: 0, cpu: 0, status: Status(0), can: 0, wifi: 0, bandwidth: 0, pd }
}

impl Decode for StreamDecoder {
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        self.run(input, false, sink)
    }

    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        let used = self.run(rest, true, sink)?;
        let rest = rest.get(used..).unwrap_or_default();
        if matches!(self.stage, Stage::Begin) {
            // Nothing came at all.
            Header::of(rest).map_err(DecodeError::from)?;
        }
        let mut emit = Emit { channels: &mut Channels::default(), sink, batch: Parcel::default(), result: Ok(()) };
        std::mem::swap(emit.channels, &mut self.channels);
        self.end(rest, &mut emit);
        emit.settle();
        Ok(emit.result?)
    }
}

/// Hands samples to a sink.
struct Emit<'a, 's> {
    channels: &'s mut Channels,
    sink: &'s mut dyn Sink,
    batch: Parcel<'a>,
    result: Result<(), SinkError>,
}

impl Emit<'_, '_> {
    fn channel(&mut self, topic: Topic) -> Option<ChannelId> {
        let known = self.channels.of_topics.get_mut(topic.place())?;
        if known.is_none() {
            let id = self.channels.next;
            self.channels.next += 1;
            *known = Some(id);
            self.settle();
            if self.result.is_ok() {
                self.result = self.sink.channel(id, &topic.channel());
            }
            return Some(id);
        }
        *known
    }

    fn settle(&mut self) {
        if self.result.is_ok() {
            self.result = self.batch.flush(self.sink);
        }
    }
}

impl<'a> Visit<'a> for Emit<'a, '_> {
    fn record(&mut self, found: &Found<'_, 'a>) {
        let values = Values::new(found.record, found.power);
        for topic in Topic::of(found.topics) {
            if let (Some(id), Some(value)) = (self.channel(topic), values.value(topic)) {
                self.batch.push(id, Time::from_nanos(found.time), value);
            }
        }
        if self.batch.is_full() {
            self.settle();
        }
    }

    fn event(&mut self, name: &'a [u8]) {
        self.channels.event = self.channels.event.take().or_else(|| name_of(name));
    }

    fn said(&mut self, sample: TextSample<'a>) {
        if let Some(id) = self.channel(sample.topic) {
            push_said(&mut self.batch, id, Time::from_nanos(sample.time), &sample.said, self.channels.event.as_deref());
        }
        if self.batch.is_full() {
            self.settle();
        }
    }
}

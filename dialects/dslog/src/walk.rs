//! The one loop over the records of a log and over its texts.

use logpose_core::{Cursor, DecodeError, Index, Mark, Problem, Severity, Span, Time};
use logpose_driverstation::pd::PowerDistribution;

use crate::dialect::NAME;
use crate::error::{Error, ErrorKind};
use crate::model::{Place, Said, State, Topic, TopicSet, event_in, read_text};
use crate::pair::{Envelope, Half, MAGIC};
use crate::wire::{EVENT, Event, HEADER, Header, PERIOD_NS, Record, Version};

/// What a walk meets.
pub(crate) trait Visit<'a> {
    /// Whether it wants to know which topics have samples.
    const TOPICS: bool = true;
    /// From this record on all have the same length, until another such place is met.
    fn run(&mut self, at: u64, time: i64) {
        let _ = (at, time);
    }
    /// A record, and the topics that have a sample in it.
    fn record(&mut self, found: &Found<'_, 'a>);
    /// A text begins.
    fn text(&mut self, at: u64, time: i64) {
        let _ = (at, time);
    }
    /// A text names the event.
    fn event(&mut self, name: &'a [u8]) {
        let _ = name;
    }
    /// A text contains a sample.
    fn said(&mut self, sample: TextSample<'a>);
    /// Whether it wants no more.
    fn is_done(&self) -> bool {
        false
    }
}

/// A record that a walk met.
pub(crate) struct Found<'r, 'a> {
    pub(crate) at: u64,
    pub(crate) time: i64,
    pub(crate) topics: TopicSet,
    pub(crate) record: &'r Record<'a>,
    pub(crate) power: Option<PowerDistribution>,
}

/// A sample that a walk found in a text.
pub(crate) struct TextSample<'a> {
    pub(crate) topic: Topic,
    pub(crate) at: u64,
    pub(crate) time: i64,
    pub(crate) said: Said<'a>,
    /// Bytes of the log that belong to it.
    pub(crate) length: u64,
}

/// The files of a log, and where they lie in its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    bytes: &'a [u8],
    pub(crate) log: Option<File>,
    pub(crate) events: Option<File>,
    named: Half,
    companion: &'a [u8],
    /// Unix nanoseconds of the log's time 0.
    pub(crate) start: i64,
}

/// One file of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    pub(crate) half: Half,
    pub(crate) header: Header,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl File {
    /// Where its records begin.
    pub(crate) fn body(&self) -> usize {
        self.from + HEADER
    }

    pub(crate) fn contains(&self, at: u64) -> bool {
        (self.from as u64..self.to as u64).contains(&at)
    }
}

impl<'a> Plan<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut plan = Self { bytes, log: None, events: None, named: Half::Log, companion: b"", start: 0 };
        if bytes.starts_with(MAGIC) {
            let pair = Envelope::parse(bytes)?;
            let behind = bytes.len() - pair.events.len();
            let front = behind - pair.log.len();
            (plan.named, plan.companion) = (pair.named, pair.companion);
            plan.log = Some(plan.file(Half::Log, front, behind)?);
            plan.events = Some(plan.file(Half::Events, behind, bytes.len())?);
        } else {
            plan.named = Half::of(bytes);
            let file = plan.file(plan.named, 0, bytes.len())?;
            *(if plan.named == Half::Log { &mut plan.log } else { &mut plan.events }) = Some(file);
        }
        plan.start = plan.log.or(plan.events).map_or(0, |file| file.header.start.unix_ns());
        Ok(plan)
    }

    fn file(&self, half: Half, from: usize, to: usize) -> Result<File, DecodeError> {
        let header = Header::of(self.bytes.get(from..to).unwrap_or_default());
        let header = header.map_err(|error| {
            let error = DecodeError::from(error);
            DecodeError { message: self.names(half, error.message), ..error }
        })?;
        Ok(File { half, header, from, to })
    }

    /// The files, in the order in which they lie.
    pub(crate) fn files(&self) -> impl Iterator<Item = File> {
        [self.log, self.events].into_iter().flatten()
    }

    /// The file that was asked for.
    pub(crate) fn named(&self) -> Option<File> {
        self.files().find(|file| file.half == self.named)
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// A sentence about a file: that of the one that nobody asked for has its name.
    fn names(&self, half: Half, message: String) -> String {
        if half == self.named { message } else { format!("{}: {message}", String::from_utf8_lossy(self.companion)) }
    }

    /// A problem at a byte of the log, reported with the offset in its file.
    pub(crate) fn problem(
        &self,
        file: &File,
        severity: Severity,
        code: &'static str,
        (at, length): (usize, usize),
        message: String,
    ) -> Problem {
        let at = at.saturating_sub(file.from) as u64;
        Problem::new(severity, code, at, length as u64, self.names(file.half, message))
    }

    /// What is wrong where a walk over a file stopped.
    pub(crate) fn complain(&self, file: &File, stop: &Stop) -> Option<Problem> {
        match stop {
            Stop::At(_) => None,
            Stop::Bad(at, error) => {
                let rest = file.to - at;
                let claims = match error.kind {
                    ErrorKind::NegativeLength { .. } => ", so the next record cannot be found",
                    _ => "",
                };
                let message = format!("{}{claims}; skipped the last {rest} bytes", error.kind);
                Some(self.problem(file, Severity::Damage, error.code(), (*at, rest), message))
            }
            Stop::Padding(at) => {
                let rest = file.to - at;
                let message = format!("the file ends with {rest} zero bytes after the last record; skipped");
                Some(self.problem(file, Severity::Note, "padding", (*at, rest), message))
            }
        }
    }
}

/// Where a walk ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Stop {
    /// At the end of what it was to walk over.
    At(usize),
    /// At a record that is not whole.
    Bad(usize, Error),
    /// Before zeros that fill the rest of the file.
    Padding(usize),
}

impl Stop {
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::At(at) | Self::Bad(at, _) | Self::Padding(at) => *at,
        }
    }
}

/// A walk over the records of a `.dslog`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    version: Version,
    /// The next record's place and number.
    at: usize,
    number: i64,
    state: State,
    /// The length of the last record.
    length: usize,
    /// From where on the file is zeros.
    zeros: usize,
}

impl Records {
    /// From the first record on.
    pub(crate) fn new(plan: &Plan<'_>, file: &File) -> Self {
        let bytes = plan.slice(file.body(), file.to);
        let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
        Self {
            version: file.header.version,
            at: file.body(),
            number: 0,
            state: State::default(),
            length: 0,
            zeros: file.to - zeros,
        }
    }

    /// Of a stream, from the first record on.
    pub(crate) fn of_stream(version: Version, at: usize) -> Self {
        Self { version, at, number: 0, state: State::default(), length: 0, zeros: usize::MAX }
    }

    /// How many records lie behind the walk.
    pub(crate) fn met_so_far(&self) -> u64 {
        self.number.unsigned_abs()
    }

    /// From a place on where a record begins; what came before is found through the marks.
    pub(crate) fn from(plan: &Plan<'_>, file: &File, index: &Index, at: usize) -> Result<Self, DecodeError> {
        let mut records = Self::new(plan, file);
        let marks = runs(file, index);
        let begun = marks.get(..marks.partition_point(|mark| mark.at < at as u64)).unwrap_or_default();
        let mut end = at;
        for mark in begun.iter().rev() {
            let start = place(mark.at);
            let length = length_at(plan, file, start)?;
            if end == at {
                records.number = mark.time.nanos() / PERIOD_NS + number(at - start, length);
            }
            let mut place = end;
            while let Some(before) = place.checked_sub(length).filter(|before| *before >= start) {
                let mut cur = Cursor::new(plan.slice(before, file.to), before as u64);
                let Ok(record) = Record::parse(&mut cur, records.version) else { break };
                // The panels of a run are of one kind, and most runs contain nothing more.
                if !records.state.recall(&record) {
                    break;
                }
                place = before;
            }
            end = start;
        }
        records.at = at;
        Ok(records)
    }

    /// Walks up to a place.
    #[inline]
    pub(crate) fn walk<'a, V: Visit<'a>>(&mut self, plan: &Plan<'a>, file: &File, until: usize, visit: &mut V) -> Stop {
        let mut cur = Cursor::new(plan.slice(self.at, file.to), self.at as u64);
        while self.at < until {
            if self.at >= self.zeros && file.to - self.at >= self.version.shortest() {
                return Stop::Padding(self.at);
            }
            let record = match Record::parse(&mut cur, self.version) {
                Ok(record) => record,
                Err(error) => return Stop::Bad(self.at, error),
            };
            self.met(&record, visit);
            if visit.is_done() {
                break;
            }
        }
        Stop::At(self.at)
    }

    /// Hands over the next record.
    #[inline]
    pub(crate) fn met<'a, V: Visit<'a>>(&mut self, record: &Record<'a>, visit: &mut V) {
        let (at, time) = (self.at as u64, self.number.saturating_mul(PERIOD_NS));
        let length = record.size(self.version);
        if length != self.length {
            self.length = length;
            visit.run(at, time);
        }
        let power = if V::TOPICS { record.power() } else { None };
        let topics = if V::TOPICS { self.state.step(record, power.as_ref()) } else { 0 };
        visit.record(&Found { at, time, topics, record, power });
        self.at += length;
        self.number += 1;
    }
}

/// The marks of the records of a `.dslog`: where the length of records changes.
fn runs<'i>(file: &File, index: &'i Index) -> &'i [Mark] {
    let end = index.marks.partition_point(|mark| mark.at < file.to as u64);
    index.marks.get(..end).unwrap_or_default()
}

/// How many records of a length lie in so many bytes.
fn number(bytes: usize, length: usize) -> i64 {
    i64::try_from(bytes / length.max(1)).unwrap_or(i64::MAX)
}

/// The length of the record at a place where a walk has met one.
fn length_at(plan: &Plan<'_>, file: &File, at: usize) -> Result<usize, DecodeError> {
    let mut cur = Cursor::new(plan.slice(at, file.to), at as u64);
    let version = file.header.version;
    let record = Record::parse(&mut cur, version).map_err(|_| DecodeError::stale_index(NAME, at as u64))?;
    Ok(record.size(version))
}

/// Where the first record at a time or later begins; the end of the file if there is none.
pub(crate) fn seek(plan: &Plan<'_>, file: &File, index: &Index, time: Time) -> Result<usize, DecodeError> {
    let marks = runs(file, index);
    let wanted = time.nanos().max(0);
    let begun = marks.partition_point(|mark| mark.time.nanos() <= wanted);
    let Some(mark) = begun.checked_sub(1).and_then(|last| marks.get(last)) else {
        return Ok(file.body());
    };
    let start = place(mark.at);
    let records = (wanted - mark.time.nanos()).saturating_add(PERIOD_NS - 1) / PERIOD_NS;
    let skipped = usize::try_from(records).unwrap_or(usize::MAX).saturating_mul(length_at(plan, file, start)?);
    let end = marks.get(begun).map_or(file.to, |next| place(next.at));
    Ok(start.saturating_add(skipped).min(end))
}

/// The times of records, found through the marks.
pub(crate) struct Clock<'a, 'i> {
    plan: &'a Plan<'a>,
    index: &'i Index,
    /// The run that was asked for last: its bytes, the length of its records, its first time.
    run: (std::ops::Range<u64>, usize, i64),
}

impl<'a, 'i> Clock<'a, 'i> {
    pub(crate) fn new(plan: &'a Plan<'a>, index: &'i Index) -> Self {
        Self { plan, index, run: (0..0, 1, 0) }
    }

    pub(crate) fn time(&mut self, at: u64) -> Result<Time, DecodeError> {
        if !self.run.0.contains(&at) {
            let marks = &self.index.marks;
            let after = marks.partition_point(|mark| mark.at <= at);
            let Some(mark) = after.checked_sub(1).and_then(|i| marks.get(i)) else {
                return Err(DecodeError::stale_index(NAME, at));
            };
            let end = marks.get(after).map_or(u64::MAX, |next| next.at);
            let length = match self.plan.log.filter(|file| file.contains(mark.at)) {
                Some(file) => length_at(self.plan, &file, place(mark.at))?,
                // All values of a text have the same time.
                None => usize::MAX,
            };
            self.run = (mark.at..end, length, mark.time.nanos());
        }
        let (bytes, length, time) = &self.run;
        let records = number(place(at - bytes.start), *length);
        Ok(Time::from_nanos(time.saturating_add(records.saturating_mul(PERIOD_NS))))
    }

    /// The text that a place lies in, from there on.
    pub(crate) fn rest_of_text(&self, file: &File, at: u64) -> Option<&'a [u8]> {
        let marks = &self.index.marks;
        let after = marks.partition_point(|mark| mark.at <= at);
        let start = place(marks.get(after.checked_sub(1)?)?.at);
        let event = Event::parse(&mut Cursor::new(self.plan.slice(start, file.to), start as u64)).ok()?;
        event.text.get(mirrored(event.text, place(at).checked_sub(start + EVENT)?)..)
    }
}

/// Walks over the texts of a `.dsevents`, from a place where one begins up to another.
pub(crate) fn walk_texts<'a, V: Visit<'a>>(
    plan: &Plan<'a>,
    file: &File,
    from: usize,
    until: usize,
    visit: &mut V,
) -> (Stop, u64) {
    each_text(plan, file, from, until, |at, event| {
        met_text(plan.start, at, event, visit);
        !visit.is_done()
    })
}

/// The events of a `.dsevents`, from a place where one begins up to another, as long as `take` wants more; with how many
/// there were.
pub(crate) fn each_text<'a>(
    plan: &Plan<'a>,
    file: &File,
    from: usize,
    until: usize,
    mut take: impl FnMut(u64, &Event<'a>) -> bool,
) -> (Stop, u64) {
    let mut cur = Cursor::new(plan.slice(from, file.to), from as u64);
    let (mut met, mut more) = (0, true);
    while more && !cur.is_empty() && place(cur.offset()) < until {
        let at = cur.offset();
        match Event::parse(&mut cur) {
            Ok(event) => more = take(at, &event),
            Err(error) => return (Stop::Bad(place(at), error), met),
        }
        met += 1;
    }
    (Stop::At(place(cur.offset())), met)
}

/// Emits the values of a text; `start` is the log's, and `at` the place of the event.
pub(crate) fn met_text<'a, V: Visit<'a>>(start: i64, at: u64, event: &Event<'a>, visit: &mut V) {
    let time = event.time.unix_ns().saturating_sub(start);
    visit.text(at, time);
    let text = at + EVENT as u64;
    event_in(event.text).into_iter().for_each(|name| visit.event(name));
    read_text(event.text, |Place { topic, at, length }, said| {
        let at = text + mirrored(event.text, at) as u64;
        visit.said(TextSample { topic, at, time, said, length: length as u64 });
    });
}

/// Places in a text are counted from its end, because what happened first stands last: so they ascend with time. What is
/// mirrored twice is where it was.
fn mirrored(text: &[u8], at: usize) -> usize {
    text.len().saturating_sub(1).saturating_sub(at)
}

/// A place in memory.
pub(crate) fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The stretch of a file that holds whole records, of those of an index.
pub(crate) fn span_of(index: &Index, file: &File) -> Result<Span, DecodeError> {
    let start = file.body() as u64;
    let span = index.spans.iter().find(|span| span.start == start);
    span.copied().ok_or_else(|| DecodeError::stale_index(NAME, start))
}

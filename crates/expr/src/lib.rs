#![doc = include_str!("../README.md")]

mod bind;
mod eval;
mod finder;
mod lex;
mod parse;
mod show;
mod walk;
mod watch;
mod watcher;

use std::fmt;
use std::ops::Range;

use logpose_core::{Lookup, Time};

use logpose_files::{Error, Log};
use logpose_files::{Mode, ModeSpan};

pub use finder::Finder;
pub use show::{Summary, summaries};
pub use watcher::Watcher;

/// An expression over channels, not yet bound to a log.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    expr: parse::Expr,
}

/// Why an expression is invalid, and which part of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueryError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the expression that are at fault.
    pub at: Range<usize>,
    /// What would help.
    pub help: Option<String>,
}

/// How raw stretches become intervals: first they are joined, then short ones are dropped, then the rest is widened.
#[derive(Clone, Copy, Debug, Default)]
pub struct FindOptions {
    /// Stretches closer than so many nanoseconds are one.
    pub merge_ns: i64,
    /// Shorter ones are left out.
    pub min_duration_ns: i64,
    /// Nanoseconds added at both ends, within the log; what then overlaps is one.
    pub pad_ns: i64,
}

/// A stretch of time in which an expression holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Interval {
    /// From when.
    pub start: Time,
    /// Until when, this moment not included; the start itself for something that holds for one moment.
    pub end: Time,
    /// The driver station's mode at the start, if the log states it.
    pub mode: Option<Mode>,
    /// Whether it still held when the log, or the wanted part of it, ended.
    pub open: bool,
}

impl Interval {
    /// How long, in nanoseconds.
    #[must_use]
    pub fn duration_ns(&self) -> i64 {
        self.end.since(self.start)
    }
}

/// All intervals together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Found {
    /// How many.
    pub count: u64,
    /// How long together, in nanoseconds.
    pub total_ns: i64,
}

/// Why a search failed.
#[derive(Debug)]
pub enum FindError {
    /// The expression does not fit the log.
    Query(QueryError),
    /// The log cannot be read.
    Log(Error),
}

impl Query {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { text: text.to_owned(), expr: parse::parse(text)? })
    }

    /// The expression as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The intervals of a log in which the expression holds, in the order of time, with the default options.
    ///
    /// ```
    /// use logpose::find::Query;
    /// use logpose::{Log, OpenOptions};
    ///
    /// let csv = b"time,channel,value\n1,/Volts,12.5\n2,/Volts,6.5\n4,/Volts,12.0\n".to_vec();
    /// let log = Log::from_bytes("battery.csv", csv, &OpenOptions::default())?;
    /// let low = Query::parse("Volts < 7")?.intervals(&log)?;
    /// assert_eq!((low[0].start.seconds(), low[0].end.seconds()), (2.0, 4.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn intervals(&self, log: &Log) -> Result<Vec<Interval>, FindError> {
        let mut intervals = Vec::new();
        self.find(log, &Lookup::default(), &FindOptions::default(), &mut |interval| intervals.push(interval))?;
        Ok(intervals)
    }

    /// Gives every interval of a log in which the expression holds to `each`, in the order of time. The lookup's times
    /// limit the intervals; values from before its start still count. Its channels are ignored.
    ///
    /// Only the channels in the expression are read, through the index. Memory does not grow with the log.
    pub fn find(
        &self,
        log: &Log,
        lookup: &Lookup,
        options: &FindOptions,
        each: &mut dyn FnMut(Interval),
    ) -> Result<Found, FindError> {
        let bound = bind::bind(&self.expr, &bind::Catalog::of(log)).map_err(FindError::Query)?;
        let range = log.robust_range().unwrap_or((Time::ZERO, Time::ZERO));
        let mut found = Found::default();
        let modes = log.modes();
        let mut report = |start: Time, end: Time, open: bool| {
            found.count += 1;
            found.total_ns = found.total_ns.saturating_add(end.since(start));
            each(Interval { start, end, mode: mode_at(modes, start), open });
        };
        let first = lookup.start.map_or(range.0, |start| start.max(range.0));
        let last = lookup.end.map_or(range.1, |end| end.min(range.1));
        let mut shaper = Shaper::new(*options, first, last);
        walk::run(bound, log, lookup, &mut |start, end, open| shaper.push(start, end, open, &mut report))
            .map_err(FindError::Log)?;
        shaper.finish(&mut report);
        Ok(found)
    }
}

/// The mode of a moment.
fn mode_at(modes: &[ModeSpan], time: Time) -> Option<Mode> {
    let place = modes.partition_point(|span| span.start <= time);
    let span = modes.get(place.checked_sub(1)?)?;
    // The last mode ends with the log, and the log's last moment is still in it.
    (time < span.end || place == modes.len()).then_some(span.mode)
}

type Stretch = (Time, Time, bool);

/// Joins, drops and widens stretches as they come.
struct Shaper {
    options: FindOptions,
    /// Widening stops at the ends of the log.
    first: Time,
    last: Time,
    held: Option<Stretch>,
    padded: Option<Stretch>,
}

/// Takes an interval: its ends, and whether it is open.
type TakeStretch<'t> = dyn FnMut(Time, Time, bool) + 't;

impl Shaper {
    fn new(options: FindOptions, first: Time, last: Time) -> Self {
        Self { options, first, last, held: None, padded: None }
    }

    /// The log ends there.
    fn end_at(&mut self, last: Time) {
        self.last = last;
    }

    /// No stretch will begin before a moment: stretches too far away to be merged with later ones are passed on.
    fn reach(&mut self, now: Time, report: &mut TakeStretch<'_>) {
        if self.held.is_some_and(|held| now.since(held.1) >= self.options.merge_ns) {
            self.release(report);
        }
        let nearest = now.plus(self.options.pad_ns.saturating_neg());
        let nearest = self.held.map_or(nearest, |held| held.0.plus(self.options.pad_ns.saturating_neg()));
        if let Some((start, end, open)) = self.padded.take_if(|padded| nearest > padded.1) {
            report(start, end, open);
        }
    }

    fn push(&mut self, start: Time, end: Time, open: bool, report: &mut TakeStretch<'_>) {
        match &mut self.held {
            Some(held) if start.since(held.1) < self.options.merge_ns => (held.1, held.2) = (end, open),
            _ => {
                self.release(report);
                self.held = Some((start, end, open));
            }
        }
    }

    fn release(&mut self, report: &mut TakeStretch<'_>) {
        let Some((start, end, open)) = self.held.take() else { return };
        if end.since(start) < self.options.min_duration_ns {
            return;
        }
        let pad = self.options.pad_ns;
        if pad <= 0 {
            return report(start, end, open);
        }
        let start = start.plus(pad.saturating_neg()).max(self.first.min(start));
        let end = end.plus(pad).min(self.last.max(end));
        match &mut self.padded {
            Some(padded) if start <= padded.1 => (padded.1, padded.2) = (end, open),
            padded => {
                if let Some((start, end, open)) = padded.replace((start, end, open)) {
                    report(start, end, open);
                }
            }
        }
    }

    fn finish(&mut self, report: &mut TakeStretch<'_>) {
        self.release(report);
        if let Some((start, end, open)) = self.padded.take() {
            report(start, end, open);
        }
    }
}

impl QueryError {
    fn new(message: impl Into<String>, at: Range<usize>) -> Self {
        Self { message: message.into(), at, help: None }
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The expression with a line of marks below the part at fault.
    #[must_use]
    pub fn marked(&self, expression: &str) -> String {
        let width = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
        let before = width(expression.get(..self.at.start));
        let marks = width(expression.get(self.at.clone())).max(1);
        let line: String = expression.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("{line}\n{}{}", " ".repeat(before), "^".repeat(marks))
    }
}

/// What is wrong and where, counted in bytes from 1.
impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expression, byte {}: {}", self.at.start + 1, self.message)
    }
}

impl std::error::Error for QueryError {}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        let text = error.to_string();
        let usage = Self::usage(text);
        match error.help {
            Some(help) => usage.with_help(help),
            None => usage,
        }
    }
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Query(error) => Some(error),
            Self::Log(error) => Some(error),
        }
    }
}

impl From<FindError> for Error {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Query(error) => error.into(),
            FindError::Log(error) => error,
        }
    }
}

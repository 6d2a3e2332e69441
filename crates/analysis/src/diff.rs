//! Two logs, channel by channel: which part, when, by how much.
//!
//! ```
//! use logpose::diff::{self, DiffOptions};
//! # let dir = tempfile::tempdir()?;
//! # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 1, force: false })?;
//! # let open = |i: usize| logpose::Log::open_with(&files[i], &logpose::OpenOptions::default(), &logpose::Quiet);
//! let (wpilog, rlog) = (open(1)?, open(2)?);
//! let filter = logpose::Filter::new(&["/Drive/*".to_owned()], &[])?;
//! let diff = diff::of(&wpilog, &rlog, &filter, (None, None), &DiffOptions::default())?;
//! assert!(!diff.differs(false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use logpose_core::{Channel, ChannelId, Columns, Time, Type, Value};
use logpose_schema::Registry;

use crate::frc::Mode;
use logpose_files::internal::nanos;
use logpose_files::internal::threads;
use logpose_files::{Error, FieldReader, Filter, Log, Moment, Period, ScalarValue, Visit};

/// How two logs are laid beside each other.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Align {
    /// By the times that the logs have.
    #[default]
    Time,
    /// Both begin together.
    Start,
    /// Both first enter a mode together.
    Mode(Period),
    /// By wall-clock time, which both must have.
    Wall,
    /// So many nanoseconds are added to the times of the second log.
    Offset(i64),
    /// By wall-clock time if the logs then have time in common, else by the moment at which the robot was first
    /// enabled, else by their starts.
    Best,
}

impl Align {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Start => "start",
            Self::Mode(Period::Enabled) => "enabled",
            Self::Mode(Period::Only(mode)) => mode.name(),
            Self::Wall => "wall",
            Self::Offset(_) => "offset",
            Self::Best => "best",
        }
    }
}

/// Reads `time`, `start`, `auto`, `teleop`, `test`, `enabled`, `wall`, `offset:-1.5s` or `best`.
impl FromStr for Align {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "time" => Self::Time,
            "start" => Self::Start,
            "auto" => Self::Mode(Period::Only(Mode::Auto)),
            "teleop" => Self::Mode(Period::Only(Mode::Teleop)),
            "test" => Self::Mode(Period::Only(Mode::Test)),
            "enabled" => Self::Mode(Period::Enabled),
            "wall" => Self::Wall,
            "best" => Self::Best,
            _ => {
                let offset = text.strip_prefix("offset:").and_then(|text| match text.strip_prefix('-') {
                    Some(rest) => nanos(rest).map(i64::saturating_neg),
                    None => nanos(text.strip_prefix('+').unwrap_or(text)),
                });
                let bad = || Error::usage(format!("unknown alignment {text:?}")).with_help(HELP);
                Self::Offset(offset.ok_or_else(bad)?)
            }
        })
    }
}

/// What counts as the same.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// How the logs are laid beside each other.
    pub align: Align,
    /// Numbers that differ by no more are within tolerance.
    pub abs: f64,
    /// Numbers that differ by no more than this part of the greater one are, too.
    pub rel: f64,
    /// For the channels of a filter, another absolute tolerance; the last one that fits holds.
    pub tolerances: Vec<(Filter, f64)>,
    /// Values may come so many nanoseconds earlier or later.
    pub time_tolerance_ns: i64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { align: Align::default(), abs: 1e-6, rel: 1e-9, tolerances: Vec::new(), time_tolerance_ns: 1_000_000 }
    }
}

/// Two logs compared.
#[derive(Clone, Debug)]
pub struct Diff {
    /// How they were laid beside each other; never [`Align::Best`].
    pub align: Align,
    /// What was added to the times of the second log. All times here are on the clock of the first.
    pub offset_ns: i64,
    /// The time that both logs have, if both have samples.
    pub common: Option<(Time, Time)>,
    /// The channels: those that differ by the time of their first divergence, then the others by name.
    pub channels: Vec<ChannelDiff>,
}

impl Diff {
    /// The earliest divergence, and its channel.
    #[must_use]
    pub fn first(&self) -> Option<(&ChannelDiff, &Divergence)> {
        let diverged = self.channels.iter().filter(|channel| channel.verdict == Verdict::Differs);
        diverged.filter_map(|channel| Some((channel, channel.first.as_ref()?))).min_by_key(|(_, first)| first.time)
    }

    /// Whether the logs differ; on request without regard to what only one of them has.
    #[must_use]
    pub fn differs(&self, ignore_missing: bool) -> bool {
        self.channels.iter().any(|channel| match channel.verdict {
            Verdict::Equal | Verdict::Within => false,
            Verdict::Differs | Verdict::Types => true,
            Verdict::Missing | Verdict::OnlyA | Verdict::OnlyB => !ignore_missing,
        })
    }
}

/// What comparing a channel came to.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// Some values differ.
    Differs,
    /// The types differ, so values were not compared.
    Types,
    /// The values that both have are the same, but one log has samples where the other has none: before its first,
    /// or outside the time of that log.
    Missing,
    /// Only the first log has the channel.
    OnlyA,
    /// Only the second log has it.
    OnlyB,
    /// All values are within tolerance, and some are not equal.
    Within,
    /// All values are equal.
    Equal,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::Types => "types",
            Self::Missing => "missing",
            Self::OnlyA => "only-a",
            Self::OnlyB => "only-b",
            Self::Within => "within",
            Self::Equal => "equal",
        }
    }
}

/// One channel of both logs. Pairs are of the first log and the second.
#[derive(Clone, Debug)]
pub struct ChannelDiff {
    /// Its name.
    pub name: String,
    /// Its type in each log that has it.
    pub types: (Option<String>, Option<String>),
    /// What it came to.
    pub verdict: Verdict,
    /// Samples within the wanted times.
    pub samples: (u64, u64),
    /// Samples whose value is not that of the other log.
    pub differing: (u64, u64),
    /// Samples where the other log has nothing.
    pub missing: (u64, u64),
    /// The first difference beyond tolerance.
    pub first: Option<Divergence>,
    /// The largest difference of numbers, also within tolerance.
    pub largest: Option<Divergence>,
}

/// A place at which values are not equal.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// When, on the clock of the first log.
    pub time: Time,
    /// Where in the value, such as `.translation.x`; empty for the value itself, `.length` behind the path of a list
    /// for its length.
    pub path: String,
    /// What the first log has there.
    pub a: ScalarValue<'static>,
    /// What the second log has there.
    pub b: ScalarValue<'static>,
    /// How far numbers are apart; none for other values.
    pub amount: Option<f64>,
}

/// Compares the wanted channels of two logs from one moment to another, on the clock of the first.
///
/// Where the samples of a channel are as many in both logs and come at the same times, they are compared one by one.
/// Else every sample is compared with the value that the other log holds at that time. Memory holds one channel of
/// both logs a thread.
pub fn of(
    a: &Log,
    b: &Log,
    filter: &Filter,
    (start, end): (Option<Time>, Option<Time>),
    options: &DiffOptions,
) -> Result<Diff, Error> {
    let (align, offset_ns) = aligned(a, b, options.align)?;
    let common = common(a, b, offset_ns);
    if let (None, Some(_), Some(_)) = (common, a.index.range(), b.index.range()) {
        let error = Error::usage(format!("the logs do not overlap when aligned by {}", align.name()));
        return Err(error.with_help("try --align best, or --align auto to compare two matches"));
    }
    let bounds = (start.unwrap_or(Time::MIN), end.unwrap_or(Time::MAX));
    let pairs = pairs(a, b, filter);
    let compare = |place: usize| {
        let pair = pairs.get(place)?;
        Some(Comparison { logs: [a, b], offset_ns, common, bounds, options }.pair(pair))
    };
    let done = threads::map(pairs.len(), a.how().threads, compare);
    let mut channels: Vec<ChannelDiff> = done.into_iter().flatten().collect::<Result<_, _>>()?;
    channels.sort_by(|x, y| {
        let key = |channel: &ChannelDiff| {
            let first = channel.first.as_ref().filter(|_| channel.verdict == Verdict::Differs);
            (channel.verdict, first.map(|first| first.time))
        };
        key(x).cmp(&key(y)).then_with(|| x.name.cmp(&y.name))
    });
    Ok(Diff { align, offset_ns, common, channels })
}

/// What to add to the times of the second log.
fn aligned(a: &Log, b: &Log, align: Align) -> Result<(Align, i64), Error> {
    let apart = |a: Time, b: Time| a.since(b);
    Ok(match align {
        Align::Time => (align, 0),
        Align::Offset(ns) => (align, ns),
        Align::Start => match (a.robust_range(), b.robust_range()) {
            (Some(a), Some(b)) => (align, apart(a.0, b.0)),
            _ => (align, 0),
        },
        Align::Mode(period) => {
            let moment = Moment::Mode(period);
            (align, apart(moment.as_start(a)?, moment.as_start(b)?))
        }
        Align::Wall => {
            let epoch = |log: &Log| {
                let unknown = || Error::usage("the log does not contain the wall-clock time").in_file(&log.path);
                log.epoch_ns().ok_or_else(|| unknown().with_help("use another alignment, such as --align start"))
            };
            let (a, b) = (epoch(a)?, epoch(b)?);
            (align, b.saturating_sub(a))
        }
        Align::Best => {
            let ways = [Align::Wall, Align::Mode(Period::Enabled), Align::Start];
            let fits = |way: &(Align, i64)| common(a, b, way.1).is_some();
            let mut found = ways.into_iter().filter_map(|way| aligned(a, b, way).ok());
            found.find(fits).unwrap_or((Align::Start, 0))
        }
    })
}

/// The time that both logs have, on the clock of the first.
fn common(a: &Log, b: &Log, offset_ns: i64) -> Option<(Time, Time)> {
    let (a, b) = (a.robust_range()?, b.robust_range()?);
    let common = (a.0.max(b.0.plus(offset_ns)), a.1.min(b.1.plus(offset_ns)));
    (common.0 <= common.1).then_some(common)
}

/// A channel's number in each log.
type Pair = (Option<ChannelId>, Option<ChannelId>);

/// Channels of equal name and type belong together; what is left over, by name.
fn pairs(a: &Log, b: &Log, filter: &Filter) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let wanted = |log: &'_ Log| -> Vec<(ChannelId, Channel)> {
        let channels = (0..).zip(&log.index.channels).filter(|(_, c)| filter.accepts(&c.channel.name));
        channels.map(|(id, c)| (id, c.channel.clone())).collect()
    };
    let mut typed: HashMap<(String, Result<Type, String>), Vec<ChannelId>> = HashMap::new();
    let mut rest_b: BTreeMap<ChannelId, String> = BTreeMap::new();
    for (id, channel) in wanted(b) {
        typed.entry(key(&channel)).or_default().push(id);
        rest_b.insert(id, channel.name);
    }
    let mut rest_a = Vec::new();
    for (id, channel) in wanted(a) {
        let same = typed.get_mut(&key(&channel)).filter(|ids| !ids.is_empty());
        match same.map(|ids| ids.remove(0)) {
            Some(other) => {
                rest_b.remove(&other);
                pairs.push((Some(id), Some(other)));
            }
            None => rest_a.push((id, channel.name)),
        }
    }
    for (id, name) in rest_a {
        let other = rest_b.iter().find(|(_, other)| **other == name).map(|(id, _)| *id);
        if let Some(other) = other {
            rest_b.remove(&other);
        }
        pairs.push((Some(id), other));
    }
    pairs.extend(rest_b.into_keys().map(|id| (None, Some(id))));
    pairs
}

/// Types that are spelt differently and mean the same are the same; bytes mean what their type string says.
fn key(channel: &Channel) -> (String, Result<Type, String>) {
    let ty = match channel.ty() {
        Type::Bytes => Err(channel.type_name.clone()),
        Type::String if channel.type_name != "string" => Err(channel.type_name.clone()),
        ty => Ok(ty),
    };
    (channel.name.clone(), ty)
}

struct Comparison<'c> {
    logs: [&'c Log; 2],
    offset_ns: i64,
    common: Option<(Time, Time)>,
    bounds: (Time, Time),
    options: &'c DiffOptions,
}

/// The samples of one channel, in the order of time, on the clock of the first log.
type Samples<'s> = Vec<(Time, Value<'s>)>;

impl Comparison<'_> {
    fn pair(&self, pair: &Pair) -> Result<ChannelDiff, Error> {
        let [log_a, log_b] = self.logs;
        let of = |log: &Log, id: Option<ChannelId>| {
            id.and_then(|id| log.index.channels.get(id as usize)).map(|found| found.channel.clone())
        };
        let (a, b) = (of(log_a, pair.0), of(log_b, pair.1));
        let name = a.as_ref().or(b.as_ref()).map(|channel| channel.name.clone()).unwrap_or_default();
        let types = |channel: &Option<Channel>| channel.as_ref().map(|channel| channel.type_name.clone());
        let mut diff = ChannelDiff {
            name,
            types: (types(&a), types(&b)),
            verdict: Verdict::Equal,
            samples: (0, 0),
            differing: (0, 0),
            missing: (0, 0),
            first: None,
            largest: None,
        };
        let (columns_a, columns_b) = (read(log_a, pair.0)?, read(log_b, pair.1)?);
        let (samples_a, samples_b) = (in_order(&columns_a, 0), in_order(&columns_b, self.offset_ns));
        let inside = |time: Time| self.bounds.0 <= time && time <= self.bounds.1;
        let count = |samples: &Samples<'_>| samples.iter().filter(|(time, _)| inside(*time)).count() as u64;
        diff.samples = (count(&samples_a), count(&samples_b));
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (a, _) => {
                diff.verdict = if a.is_some() { Verdict::OnlyA } else { Verdict::OnlyB };
                return Ok(diff);
            }
        };
        if key(&a) != key(&b) {
            diff.verdict = Verdict::Types;
            return Ok(diff);
        }
        let mut judge = Judge::new(self.options, [&a, &b], self.logs.map(|log| log.schemas().registry()));
        let tolerance = self.options.time_tolerance_ns;
        let together = |((a, _), (b, _)): (&(Time, Value<'_>), &(Time, Value<'_>))| {
            a.since(*b).unsigned_abs() <= tolerance.unsigned_abs()
        };
        if samples_a.len() == samples_b.len() && samples_a.iter().zip(&samples_b).all(together) {
            for ((time, a), (_, b)) in samples_a.iter().zip(&samples_b).filter(|((time, _), _)| inside(*time)) {
                let differs = u64::from(judge.differs(*time, a, b));
                diff.differing = (diff.differing.0 + differs, diff.differing.1 + differs);
            }
        } else {
            (diff.differing.0, diff.missing.0) = self.held(&samples_a, &samples_b, false, &mut judge);
            (diff.differing.1, diff.missing.1) = self.held(&samples_b, &samples_a, true, &mut judge);
        }
        diff.verdict = match () {
            () if diff.differing != (0, 0) => Verdict::Differs,
            () if diff.missing != (0, 0) => Verdict::Missing,
            () if judge.unequal => Verdict::Within,
            () => Verdict::Equal,
        };
        diff.first = judge.first;
        diff.largest = judge.largest;
        Ok(diff)
    }

    /// Compares every sample with what the other log holds at about that time. Returns how many differ, and for how
    /// many the other log has nothing.
    fn held(&self, samples: &Samples<'_>, other: &Samples<'_>, swapped: bool, judge: &mut Judge) -> (u64, u64) {
        let tolerance = self.options.time_tolerance_ns;
        let (mut differing, mut missing) = (0, 0);
        // How many samples of the other log lie at or before the window's start, the sample, and the window's end.
        let (mut low, mut middle, mut high) = (0, 0, 0);
        let advance = |place: &mut usize, time: Time| {
            while other.get(*place).is_some_and(|(at, _)| *at <= time) {
                *place += 1;
            }
        };
        for (time, value) in samples {
            advance(&mut low, time.plus(tolerance.saturating_neg()));
            advance(&mut middle, *time);
            advance(&mut high, time.plus(tolerance));
            if *time < self.bounds.0 || *time > self.bounds.1 {
                continue;
            }
            let common = self.common.is_some_and(|(first, last)| {
                first.plus(tolerance.saturating_neg()) <= *time && *time <= last.plus(tolerance)
            });
            let candidates = other.get(low.saturating_sub(1)..high).unwrap_or_default();
            // The value held at the very moment comes first: if none fits, it is the one to report.
            let exact = middle.checked_sub(1).and_then(|place| other.get(place)).or(candidates.first());
            let (true, Some((_, exact))) = (common, exact) else {
                missing += 1;
                continue;
            };
            let mut compare = |near: &Value<'_>| {
                if swapped { judge.compare(near, value) } else { judge.compare(value, near) }
            };
            let mut sight = compare(exact);
            if sight.as_ref().is_some_and(|sight| !sight.within) {
                let near = candidates.iter().map(|(_, near)| compare(near));
                let fits = |sight: &Option<Sight>| sight.as_ref().is_none_or(|sight| sight.within);
                if let Some(fitting) = near.into_iter().find(fits) {
                    sight = fitting;
                }
            }
            differing += u64::from(judge.note(*time, sight));
        }
        (differing, missing)
    }
}

/// How two values that are not equal differ.
struct Sight {
    within: bool,
    path: String,
    a: ScalarValue<'static>,
    b: ScalarValue<'static>,
    amount: Option<f64>,
}

/// Compares the values of one channel and remembers what matters.
struct Judge {
    abs: f64,
    rel: f64,
    parts: [FieldReader; 2],
    unequal: bool,
    first: Option<Divergence>,
    largest: Option<Divergence>,
}

impl Judge {
    fn new(options: &DiffOptions, channels: [&Channel; 2], registries: [&Registry; 2]) -> Self {
        let [a, b] = channels;
        let [registry_a, registry_b] = registries;
        let own = options.tolerances.iter().rev().find(|(filter, _)| filter.accepts(&a.name));
        Self {
            abs: own.map_or(options.abs, |(_, abs)| *abs),
            rel: options.rel,
            parts: [FieldReader::of(a, registry_a), FieldReader::of(b, registry_b)],
            unequal: false,
            first: None,
            largest: None,
        }
    }

    /// Compares two values and remembers the result; true if they differ beyond tolerance.
    fn differs(&mut self, time: Time, a: &Value<'_>, b: &Value<'_>) -> bool {
        let sight = self.compare(a, b);
        self.note(time, sight)
    }

    fn note(&mut self, time: Time, sight: Option<Sight>) -> bool {
        let Some(Sight { within, path, a, b, amount }) = sight else { return false };
        self.unequal = true;
        let larger = |largest: &Divergence| amount > largest.amount;
        let is_largest = amount.is_some() && self.largest.as_ref().is_none_or(larger);
        let is_first = !within && self.first.as_ref().is_none_or(|first| time < first.time);
        if is_largest || is_first {
            let divergence = Divergence { time, path, a, b, amount };
            if is_largest {
                self.largest = Some(divergence.clone());
            }
            if is_first {
                self.first = Some(divergence);
            }
        }
        !within
    }

    /// How two values differ; none if they are equal. Of several parts, the one that is farthest apart is returned.
    fn compare(&mut self, a: &Value<'_>, b: &Value<'_>) -> Option<Sight> {
        match (a, b) {
            (Value::Double(x), Value::Double(y)) if x == y => return None,
            (Value::Double(x), Value::Double(y)) => {
                return self.part("", ScalarValue::Double(*x), ScalarValue::Double(*y));
            }
            _ if a.same(b) => return None,
            _ => {}
        }
        let [of_a, of_b] = &mut self.parts;
        let (mut leaves_a, mut leaves_b) = (Leaves::default(), Leaves::default());
        of_a.visit(a, &mut leaves_a);
        of_b.visit(b, &mut leaves_b);
        let (mut leaves_a, mut leaves_b) = (leaves_a.0.into_iter().peekable(), leaves_b.0.into_iter().peekable());
        let mut worst: Option<Sight> = None;
        loop {
            let sight = match (leaves_a.next(), leaves_b.next()) {
                (None, None) => return worst,
                (Some((path, a)), Some((other, b))) if path == other => self.part(&path, a, b),
                // From here on the values have different shapes.
                (a, b) => {
                    let path = a.as_ref().or(b.as_ref()).map(|(path, _)| path.clone()).unwrap_or_default();
                    let part = |leaf: Option<(String, ScalarValue<'static>)>| {
                        leaf.map_or(ScalarValue::Nothing, |(_, part)| part)
                    };
                    let sight = Sight { within: false, path, a: part(a), b: part(b), amount: None };
                    return Some(worst.filter(|worst| !worst.within).unwrap_or(sight));
                }
            };
            let worse = |worst: &Sight, sight: &Sight| (worst.within, sight.amount) > (sight.within, worst.amount);
            if let Some(sight) = sight
                && worst.as_ref().is_none_or(|worst| worse(worst, &sight))
            {
                worst = Some(sight);
            }
        }
    }

    fn part(&self, path: &str, a: ScalarValue<'_>, b: ScalarValue<'_>) -> Option<Sight> {
        let (within, amount) = match (a.number(), b.number()) {
            (Some(x), Some(y)) => {
                let exact = a.integer().zip(b.integer()).map(|(a, b)| a.abs_diff(b));
                if exact.map_or(x == y || (x.is_nan() && y.is_nan()), |exact| exact == 0) {
                    return None;
                }
                #[expect(clippy::cast_precision_loss, reason = "a tolerance is a double")]
                let amount = exact.map_or((x - y).abs(), |exact| exact as f64);
                let within = amount <= self.abs || amount <= self.rel * x.abs().max(y.abs());
                // Infinities and NaN are apart, but not by any number.
                (within && amount.is_finite(), amount.is_finite().then_some(amount))
            }
            _ if a == b => return None,
            _ => (false, None),
        };
        Some(Sight { within, path: path.to_owned(), a: a.into_owned(), b: b.into_owned(), amount })
    }
}

/// The parts of a value, with the lengths of lists.
#[derive(Default)]
struct Leaves(Vec<(String, ScalarValue<'static>)>);

impl Visit for Leaves {
    fn list(&mut self, path: &str, len: usize) -> usize {
        let length = ScalarValue::Integer(i64::try_from(len).unwrap_or(i64::MAX));
        self.0.push((format!("{path}.length"), length));
        len
    }

    fn scalar(&mut self, path: &str, part: ScalarValue<'_>) {
        self.0.push((path.to_owned(), part.into_owned()));
    }
}

/// The column of a channel, if there is one.
fn read(log: &Log, id: Option<ChannelId>) -> Result<Columns, Error> {
    log.columns(id.as_slice())
}

fn in_order(columns: &Columns, offset_ns: i64) -> Samples<'_> {
    let samples = columns.columns.iter().flat_map(|column| columns.samples(column));
    let mut samples: Samples<'_> = samples.map(|(time, value)| (time.plus(offset_ns), value)).collect();
    if columns.columns.iter().any(|column| !column.sorted) {
        samples.sort_by_key(|(time, _)| *time);
    }
    samples
}

const HELP: &str =
    "expected time, start, auto, teleop, test, enabled, wall, best, or offset:1.5 (seconds added to the second log)";

//! Counts, extremes, means, percentiles, rates and gaps of channels.
//!
//! ```
//! use logpose::core::Lookup;
//! use logpose::stats::{self, Kind, StatsOptions};
//! # let dir = tempfile::tempdir()?;
//! # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 1, force: false })?;
//! # let log = logpose::Log::open_with(&files[2], &logpose::OpenOptions::default(), &logpose::Quiet)?;
//! for channel in stats::of(&log, &Lookup::default(), &StatsOptions::default())? {
//!     for row in &channel.rows {
//!         if let Kind::Numbers(numbers) = &row.kind {
//!             println!("{}{}: mean {}", channel.name, row.path, numbers.mean);
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use logpose_core::{ChannelId, Lookup, Time};

use logpose_files::in_time_order;
use logpose_files::internal::threads;
use logpose_files::{Error, FieldReader, Log, ScalarValue, Visit};

/// What to work out.
#[derive(Clone, Debug)]
pub struct StatsOptions {
    /// Percentiles, from 0 to 100.
    pub percentiles: Vec<f64>,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { percentiles: vec![5.0, 95.0] }
    }
}

/// One channel in numbers.
#[derive(Clone, Debug)]
pub struct ChannelStats {
    /// Its number in the log.
    pub id: ChannelId,
    /// Its name.
    pub name: String,
    /// Its type.
    pub type_name: String,
    /// Its samples within the wanted times.
    pub samples: u64,
    /// When they came.
    pub timing: Timing,
    /// Its scalars: one for a plain channel, more for arrays and structs, none for a channel without samples.
    pub rows: Vec<Row>,
    /// Whether it has more than [`MOST_ROWS`] scalars, so that some are left out.
    pub cut: bool,
}

/// When samples came.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// The first.
    pub first: Option<Time>,
    /// The last.
    pub last: Option<Time>,
    /// The middle one of all intervals between samples, in nanoseconds.
    pub median_interval_ns: Option<i64>,
    /// The longest interval: its start and its end.
    pub longest_gap: Option<(Time, Time)>,
    /// How many intervals are longer than [`GAP`] times the middle one.
    pub gaps: u64,
}

impl Timing {
    /// Samples a second, by the middle interval.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "no rate needs more than 53 bits")]
    pub fn rate_hz(&self) -> Option<f64> {
        self.median_interval_ns.filter(|ns| *ns > 0).map(|ns| 1e9 / ns as f64)
    }

    /// Out of times in their order. A sample far from all others of its log is no end of a gap.
    fn within(times: &[Time], range: Option<(Time, Time)>) -> Self {
        let Some((first, last)) = range else { return Self::of(times) };
        let start = times.partition_point(|time| *time < first);
        let end = times.partition_point(|time| *time <= last);
        let (first, last) = (times.first().copied(), times.last().copied());
        Self { first, last, ..Self::of(times.get(start..end).unwrap_or_default()) }
    }

    /// Out of times in their order.
    fn of(times: &[Time]) -> Self {
        let mut timing = Self { first: times.first().copied(), last: times.last().copied(), ..Self::default() };
        let mut intervals: Vec<i64> = Vec::with_capacity(times.len());
        for (earlier, later) in times.iter().zip(times.iter().skip(1)) {
            let interval = later.since(*earlier);
            if timing.longest_gap.is_none_or(|(start, end)| interval > end.since(start)) {
                timing.longest_gap = Some((*earlier, *later));
            }
            intervals.push(interval);
        }
        if intervals.is_empty() {
            return timing;
        }
        let middle = intervals.len() / 2;
        let (_, median, _) = intervals.select_nth_unstable(middle);
        let median = *median;
        timing.median_interval_ns = Some(median);
        if median > 0 {
            let most = median.saturating_mul(GAP);
            timing.gaps = intervals.iter().filter(|interval| **interval > most).count() as u64;
        }
        timing
    }
}

/// One scalar of a channel in numbers.
#[derive(Clone, Debug)]
pub struct Row {
    /// Where in the channel's values it is, such as `.translation.x` or `[0]`; empty for the value itself. The
    /// length of a list is at the path of the list with `.length` behind it.
    pub path: String,
    /// How many samples have it.
    pub count: u64,
    /// The first value.
    pub first: ScalarValue<'static>,
    /// The last value.
    pub last: ScalarValue<'static>,
    /// What its values are.
    pub kind: Kind,
}

impl Row {
    /// The statistics of its numbers, if its values are numbers.
    #[must_use]
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.kind {
            Kind::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }
}

/// What values are, taken together.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Numbers; also the lengths of lists and of bytes.
    Numbers(Numbers),
    /// Truth values.
    Booleans {
        /// How many are true.
        yes: u64,
        /// How often the value changed from one sample to the next.
        changes: u64,
    },
    /// Texts.
    Texts {
        /// How many different ones there are.
        distinct: u64,
        /// The most frequent one; of equals the first in the alphabet.
        most: String,
        /// How often that one came.
        times: u64,
        /// Whether there were too many different ones to count them all: then `distinct` is too low.
        cut: bool,
    },
}

/// Numbers, taken together. NaN is counted and otherwise left out.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// How many are NaN.
    pub nan: u64,
    /// The lowest, and when it first came; none if all are NaN.
    pub min: Option<(ScalarValue<'static>, Time)>,
    /// The highest, and when it first came.
    pub max: Option<(ScalarValue<'static>, Time)>,
    /// The mean of all samples, however long each held; NaN if there is none.
    pub mean: f64,
    /// The standard deviation of a sample (n − 1); none below two values.
    pub stddev: Option<f64>,
    /// The middle value.
    pub median: f64,
    /// The wanted percentiles and their values, interpolated between neighbours.
    pub percentiles: Vec<(f64, f64)>,
}

/// Works out the wanted channels of a log, one after the other on every thread: memory holds one channel a thread.
pub fn of(log: &Log, lookup: &Lookup, options: &StatsOptions) -> Result<Vec<ChannelStats>, Error> {
    if let Some(bad) = options.percentiles.iter().find(|p| !(0.0..=100.0).contains(*p)) {
        return Err(Error::usage(format!("invalid percentile {bad}")).with_help("expected a number from 0 to 100"));
    }
    let mut wanted: Vec<ChannelId> = (0..).zip(&log.index.channels).map(|(id, _)| id).collect();
    wanted.retain(|id| lookup.wants(*id));
    // The largest first, so that no thread is left with it at the end.
    let samples = |id: &ChannelId| log.index.channels.get(*id as usize).map_or(0, |c| c.samples);
    wanted.sort_by_key(|id| std::cmp::Reverse(samples(id)));
    let one = |place: usize| wanted.get(place).map(|id| channel(log, *id, lookup, options));
    let done = threads::map(wanted.len(), log.how().threads, one);
    let mut all: Vec<ChannelStats> = done.into_iter().flatten().collect::<Result<_, _>>()?;
    all.sort_by_key(|stats| stats.id);
    Ok(all)
}

fn channel(log: &Log, id: ChannelId, lookup: &Lookup, options: &StatsOptions) -> Result<ChannelStats, Error> {
    let columns = log.columns(&[id])?;
    let mut times = Vec::new();
    let mut collector = Collector::default();
    let mut about = None;
    for column in &columns.columns {
        let mut parts = FieldReader::of(&column.channel, log.schemas().registry());
        in_time_order(&columns, column, |time, value| {
            if lookup.admits(id, time).is_some() {
                times.push(time);
                collector.time = time;
                collector.next = 0;
                parts.visit(value, &mut collector);
            }
        });
        about = Some(&column.channel);
    }
    drop_elements(&mut collector);
    let (name, type_name) = about.map_or_else(Default::default, |c| (c.name.clone(), c.type_name.clone()));
    let timing = Timing::within(&times, log.robust_range());
    let cut = collector.cut;
    let rows = collector.series.into_iter().map(|series| series.finish(options)).collect();
    Ok(ChannelStats { id, name, type_name, samples: times.len() as u64, timing, rows, cut })
}

/// Numbers of one series in the order of time, as they come: what [`of`] makes of a whole channel, for a chosen part of it.
#[derive(Default)]
pub struct Collect {
    times: Vec<Time>,
    series: Option<Series>,
}

impl Collect {
    /// Takes the next sample; NaN and infinities are only counted.
    pub fn push(&mut self, time: Time, part: Option<ScalarValue<'_>>) {
        self.times.push(time);
        let number = match part {
            Some(ScalarValue::Boolean(on)) => ScalarValue::Integer(on.into()),
            Some(ScalarValue::Enum(number, _)) => ScalarValue::Integer(number),
            Some(part) if part.number().is_some() => part.into_owned(),
            _ => return,
        };
        let series =
            self.series.get_or_insert_with(|| Series::new("", SeriesKind::Numbers, number.clone().into_owned()));
        series.push(time, number);
    }

    /// How many samples there were.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.times.len() as u64
    }

    /// How the numbers are spread over so many equal bins from the min to the max of the finite ones.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a histogram is for looking at")]
    pub fn histogram(&self, bins: usize) -> Option<Histogram> {
        let series = self.series.as_ref()?;
        let integers = series.integers.iter().map(|x| *x as f64);
        let numbers = || integers.clone().chain(series.doubles.iter().copied()).filter(|x| x.is_finite());
        let (low, high) = (numbers().reduce(f64::min)?, numbers().reduce(f64::max)?);
        let mut counts = vec![0; bins.max(1)];
        let last = counts.len() - 1;
        for x in numbers() {
            // Halved, because the max and the min may be too far apart for a number.
            let share = (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the number of bins")]
            let bin = (share * counts.len() as f64) as usize;
            if let Some(count) = counts.get_mut(bin.min(last)) {
                *count += 1;
            }
        }
        Some(Histogram { min: low, max: high, counts })
    }

    /// When the samples came, and their numbers taken together; none if there was no number.
    #[must_use]
    pub fn finish(self, options: &StatsOptions) -> (Timing, Option<Row>) {
        (Timing::of(&self.times), self.series.map(|series| series.finish(options)))
    }
}

/// How numbers are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Where the first bin begins.
    pub min: f64,
    /// Where the last bin ends, which has this number too.
    pub max: f64,
    /// How many numbers are in each.
    pub counts: Vec<u64>,
}

/// Elements of lists whose length changes are no series: what is at `[0]` now is somewhere else later.
fn drop_elements(collector: &mut Collector) {
    for list in &collector.uneven {
        let start = format!("{list}[");
        collector.series.retain(|series| !series.path.starts_with(&start));
    }
}

/// Collects the scalars of one channel.
#[derive(Default)]
struct Collector {
    time: Time,
    series: Vec<Series>,
    /// Where the next scalar was in the sample before.
    next: usize,
    /// The lists whose length changes.
    uneven: Vec<String>,
    cut: bool,
}

impl Collector {
    fn push(&mut self, path: &str, kind: SeriesKind, part: ScalarValue<'_>) {
        let fits = |series: &Series| series.kind == kind && series.path == path;
        let place = match self.series.get(self.next) {
            Some(series) if fits(series) => Some(self.next),
            _ => self.series.iter().position(fits),
        };
        let place = match place {
            Some(place) => place,
            None if self.series.len() >= MOST_ROWS => {
                self.cut = true;
                return;
            }
            None => {
                // Beside the scalar that it follows, so that the rows stand in the order of the fields.
                let place = self.next.min(self.series.len());
                self.series.insert(place, Series::new(path, kind, part.clone().into_owned()));
                place
            }
        };
        self.next = place + 1;
        if let Some(series) = self.series.get_mut(place) {
            series.push(self.time, part);
        }
    }
}

impl Visit for Collector {
    fn list(&mut self, path: &str, len: usize) -> usize {
        let name = format!("{path}.length");
        let length = i64::try_from(len).unwrap_or(i64::MAX);
        self.push(&name, SeriesKind::Numbers, ScalarValue::Integer(length));
        let before = self.next.checked_sub(1).and_then(|place| self.series.get(place));
        let before = before.filter(|series| series.path == name).map(|series| &series.first);
        if self.uneven.iter().any(|list| list == path) {
            return 0;
        }
        if before.is_some_and(|first| *first != ScalarValue::Integer(length)) {
            self.uneven.push(path.to_owned());
            drop_elements(self);
            return 0;
        }
        if len <= SHORT { len } else { 0 }
    }

    fn scalar(&mut self, path: &str, part: ScalarValue<'_>) {
        match part {
            ScalarValue::Nothing => {}
            ScalarValue::Boolean(_) => self.push(path, SeriesKind::Booleans, part),
            ScalarValue::Text(_) | ScalarValue::Enum(_, Some(_)) => self.push(path, SeriesKind::Texts, part),
            ScalarValue::Bytes(bytes) => {
                let length = ScalarValue::Integer(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
                self.push(&format!("{path}.bytes"), SeriesKind::Numbers, length);
            }
            _ => self.push(path, SeriesKind::Numbers, part),
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum SeriesKind {
    Numbers,
    Booleans,
    Texts,
}

/// The values of one scalar so far.
struct Series {
    path: String,
    kind: SeriesKind,
    count: u64,
    first: ScalarValue<'static>,
    last: ScalarValue<'static>,
    // Numbers: integers as long as all are.
    integers: Vec<i64>,
    doubles: Vec<f64>,
    nan: u64,
    min: Option<(ScalarValue<'static>, Time)>,
    max: Option<(ScalarValue<'static>, Time)>,
    // Truth values.
    yes: u64,
    changes: u64,
    // Texts.
    texts: HashMap<Vec<u8>, u64>,
    held: usize,
    cut: bool,
}

impl Series {
    fn new(path: &str, kind: SeriesKind, first: ScalarValue<'static>) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            count: 0,
            last: first.clone(),
            first,
            integers: Vec::new(),
            doubles: Vec::new(),
            nan: 0,
            min: None,
            max: None,
            yes: 0,
            changes: 0,
            texts: HashMap::new(),
            held: 0,
            cut: false,
        }
    }

    fn push(&mut self, time: Time, part: ScalarValue<'_>) {
        self.count += 1;
        match part {
            ScalarValue::Boolean(on) => {
                self.yes += u64::from(on);
                self.changes += u64::from(self.last != ScalarValue::Boolean(on));
                self.last = ScalarValue::Boolean(on);
            }
            ScalarValue::Text(text) => {
                self.text(&text);
                if !matches!(&self.last, ScalarValue::Text(last) if *last == text) {
                    self.last = ScalarValue::Text(text.into_owned().into());
                }
            }
            ScalarValue::Enum(number, Some(name)) => {
                self.text(name.as_bytes());
                self.last = ScalarValue::Enum(number, Some(name.into_owned().into()));
            }
            number => {
                let number = number.into_owned();
                self.number(time, &number);
                self.last = number;
            }
        }
    }

    fn number(&mut self, time: Time, number: &ScalarValue<'static>) {
        match number.integer().and_then(|x| i64::try_from(x).ok()) {
            Some(x) if self.doubles.is_empty() => self.integers.push(x),
            _ => {
                let Some(x) = number.number() else { return };
                if x.is_nan() {
                    self.nan += 1;
                    return;
                }
                // An integer among doubles makes doubles of all: JSON writes 1 and 1.5 alike.
                #[expect(clippy::cast_precision_loss, reason = "they are doubles from now on")]
                self.doubles.extend(self.integers.drain(..).map(|x| x as f64));
                self.doubles.push(x);
            }
        }
        if self.min.as_ref().is_none_or(|(min, _)| order(number, min) == Ordering::Less) {
            self.min = Some((number.clone(), time));
        }
        if self.max.as_ref().is_none_or(|(max, _)| order(number, max) == Ordering::Greater) {
            self.max = Some((number.clone(), time));
        }
    }

    fn text(&mut self, text: &[u8]) {
        if let Some(times) = self.texts.get_mut(text) {
            *times += 1;
        } else if self.texts.len() >= MOST_TEXTS || self.held + text.len() > MOST_TEXT_BYTES {
            self.cut = true;
        } else if let Entry::Vacant(place) = self.texts.entry(text.to_vec()) {
            place.insert(1);
            self.held += text.len();
        }
    }

    fn finish(mut self, options: &StatsOptions) -> Row {
        let kind = match self.kind {
            SeriesKind::Booleans => Kind::Booleans { yes: self.yes, changes: self.changes },
            SeriesKind::Texts => {
                let most = self.texts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
                let (most, times) = most
                    .map_or((String::new(), 0), |(text, times)| (String::from_utf8_lossy(text).into_owned(), *times));
                Kind::Texts { distinct: self.texts.len() as u64, most, times, cut: self.cut }
            }
            SeriesKind::Numbers => Kind::Numbers(self.numbers(options)),
        };
        Row { path: self.path, count: self.count, first: self.first, last: self.last, kind }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean of integers is a double")]
    fn numbers(&mut self, options: &StatsOptions) -> Numbers {
        let mut numbers = Numbers {
            nan: self.nan,
            min: self.min.take(),
            max: self.max.take(),
            mean: f64::NAN,
            stddev: None,
            median: f64::NAN,
            percentiles: Vec::new(),
        };
        if self.doubles.is_empty() {
            let spread = |values: &mut [i64], p| {
                percentile(values, p, i64::cmp, |low, high, part| {
                    low as f64 + (i128::from(high) - i128::from(low)) as f64 * part
                })
            };
            // Counted from one of them: as doubles, large integers that lie close together would be one number.
            let base = self.integers.first().copied().unwrap_or(0);
            let apart = |x: &i64| (i128::from(*x) - i128::from(base)) as f64;
            (numbers.mean, numbers.stddev) = moments(self.integers.iter().map(apart));
            numbers.mean += base as f64;
            numbers.median = spread(&mut self.integers, 50.0);
            numbers.percentiles = options.percentiles.iter().map(|p| (*p, spread(&mut self.integers, *p))).collect();
        } else {
            let spread = |values: &mut [f64], p| {
                percentile(values, p, f64::total_cmp, |low, high, part| {
                    // Infinities have no distance.
                    if part == 0.0 || low == high { low } else { low + (high - low) * part }
                })
            };
            (numbers.mean, numbers.stddev) = moments(self.doubles.iter().copied());
            numbers.median = spread(&mut self.doubles, 50.0);
            numbers.percentiles = options.percentiles.iter().map(|p| (*p, spread(&mut self.doubles, *p))).collect();
        }
        numbers
    }
}

/// Which number is the greater, integers exactly.
fn order(a: &ScalarValue<'_>, b: &ScalarValue<'_>) -> Ordering {
    match (a.integer(), b.integer()) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.number().partial_cmp(&b.number()).unwrap_or(Ordering::Equal),
    }
}

/// Mean and standard deviation, in two passes: one alone loses digits where the mean is far from zero.
#[expect(clippy::cast_precision_loss, reason = "no log has 2^53 samples")]
fn moments(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, Option<f64>) {
    let n = values.len() as f64;
    if n == 0.0 {
        return (f64::NAN, None);
    }
    let mean = sum(values.clone()) / n;
    let spread = || (sum(values.map(|x| (x - mean) * (x - mean))) / (n - 1.0)).sqrt();
    (mean, (n > 1.0).then(spread))
}

/// A sum that carries what rounding loses (Neumaier).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for x in values {
        let next = sum + x;
        lost += if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    // Infinities lose NaN.
    if lost.is_nan() { sum } else { sum + lost }
}

/// The value below which `p` percent lie, between its neighbours where it falls between two.
fn percentile<T: Copy>(
    values: &mut [T],
    p: f64,
    order: impl Fn(&T, &T) -> Ordering + Copy,
    between: impl Fn(T, T, f64) -> f64,
) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    #[expect(clippy::cast_precision_loss, reason = "no log has 2^53 samples")]
    let rank = last as f64 * p / 100.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the last place")]
    let low = (rank.floor() as usize).min(last);
    let (_, value, above) = values.select_nth_unstable_by(low, order);
    let value = *value;
    let next = above.iter().copied().min_by(order).unwrap_or(value);
    between(value, next, rank - rank.floor())
}

/// An interval so many times the middle one is a gap.
pub const GAP: i64 = 5;
/// At most so many scalars of a channel have a row.
pub const MOST_ROWS: usize = 1000;
/// Elements of longer lists have no rows of their own.
const SHORT: usize = 16;
/// The limits of distinct texts, and of their bytes.
const MOST_TEXTS: usize = 1 << 16;
const MOST_TEXT_BYTES: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::{Collect, Kind, ScalarValue, StatsOptions, moments, percentile};

    #[test]
    fn percentiles_fall_between_neighbours() {
        let between = |low: f64, high: f64, part: f64| low + (high - low) * part;
        let mut values = [4.0, 1.0, 3.0, 2.0];
        let mut at = |p| percentile(&mut values, p, f64::total_cmp, between);
        // By the default method of numpy.
        assert_eq!([at(0.0), at(25.0), at(50.0), at(95.0), at(100.0)], [1.0, 1.75, 2.5, 3.85, 4.0]);
        assert!(percentile(&mut [], 50.0, f64::total_cmp, between).is_nan());
    }

    #[test]
    fn histograms_have_every_finite_number() {
        let mut collect = Collect::default();
        for (t, x) in [0.0, 1.0, 2.5, 4.0, f64::NAN, f64::INFINITY].into_iter().enumerate() {
            collect.push(Time::from_millis(i64::try_from(t).unwrap_or(0)), Some(ScalarValue::Double(x)));
        }
        collect.push(Time::from_millis(9), None);
        let counts = collect.histogram(4).map(|found| (found.min, found.max, found.counts));
        assert_eq!(counts, Some((0.0, 4.0, vec![1, 1, 1, 1])));
        assert_eq!(collect.samples(), 7);
        let (timing, row) = collect.finish(&StatsOptions::default());
        assert_eq!(timing.longest_gap, Some((Time::from_millis(5), Time::from_millis(9))));
        assert!(matches!(row.map(|row| row.kind), Some(Kind::Numbers(numbers)) if numbers.nan == 1));

        let mut same = Collect::default();
        same.push(Time::ZERO, Some(ScalarValue::Boolean(true)));
        assert_eq!(same.histogram(3).map(|found| found.counts), Some(vec![1, 0, 0]));
        assert_eq!(Collect::default().histogram(3), None);
        let mut wide = Collect::default();
        wide.push(Time::ZERO, Some(ScalarValue::Double(f64::MAX)));
        wide.push(Time::ZERO, Some(ScalarValue::Double(f64::MIN)));
        assert_eq!(wide.histogram(2).map(|found| found.counts), Some(vec![1, 1]));
    }

    #[test]
    fn moments_keep_their_digits_far_from_zero() {
        let (mean, stddev) = moments([1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0].into_iter());
        assert_eq!((mean, stddev), (1e9 + 10.0, Some(30.0_f64.sqrt())));
        assert_eq!(moments([3.0].into_iter()), (3.0, None));
        assert_eq!(moments([f64::INFINITY, 1.0].into_iter()).0, f64::INFINITY);
    }
}

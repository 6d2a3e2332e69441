//! From when to when a log goes, by where its samples are.

use std::fmt;

use jiff::Timestamp;
use logpose_core::{ChannelIndex, Index, Time, format_count};

use crate::Log;

/// When the samples of a log are: nearly all of them within one stretch, a few perhaps far from it.
///
/// A robot writes some values before its clock is set, a damaged record can have any time, and some channels may use
/// another clock. The plain range from the first sample to the last is then hours or years of nothing, so whatever
/// shows a log begins with [`first`](Self::first) to [`last`](Self::last) and names the stragglers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimeRange {
    /// The start of the stretch that holds nearly all samples.
    pub first: Time,
    /// The end of that stretch.
    pub last: Time,
    /// Samples far before it.
    pub before: Option<Stragglers>,
    /// Samples far after it.
    pub after: Option<Stragglers>,
}

impl TimeRange {
    /// The samples far before the stretch, then those far after it.
    pub fn stragglers(&self) -> impl Iterator<Item = &Stragglers> {
        self.before.iter().chain(&self.after)
    }
}

/// Samples far from all others. Displayed as a sentence without its period.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stragglers {
    /// How many there are.
    pub samples: u64,
    /// Whether all were counted. In a log that is too large to look at every record there may be more.
    pub exact: bool,
    /// The time of the first one.
    pub first: Time,
    /// The time of the last one.
    pub last: Time,
    /// Why they are far away, as far as their times show it.
    pub reason: Astray,
}

/// Why samples are far from all others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Astray {
    /// Their times are negative, and all others are not.
    ClockNotSet,
    /// They are years away.
    OtherClock,
    /// Their times do not show it.
    Unknown,
}

impl fmt::Display for Stragglers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.exact { "" } else { "at least " };
        let s = if self.samples == 1 { "" } else { "s" };
        write!(f, "{more}{} sample{s} ", format_count(self.samples))?;
        match self.first == self.last {
            true => write!(f, "at {}", moment(self.first))?,
            false => write!(f, "between {} and {}", moment(self.first), moment(self.last))?,
        }
        f.write_str(match self.reason {
            Astray::ClockNotSet => ", written before the clock was set",
            Astray::OtherClock => ", on another clock",
            Astray::Unknown => ", far from all others",
        })
    }
}

/// `12.345 s` within an hour, `-9:13:45` within days, a date beyond.
fn moment(time: Time) -> String {
    let seconds = time.nanos() / 1_000_000_000;
    if seconds.abs() < 3600 {
        return format!("{:.3} s", time.seconds());
    }
    let wall = || Timestamp::from_nanosecond(time.nanos().into()).ok();
    if let Some(wall) = wall().filter(|_| seconds > YEAR_2000) {
        return wall.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    }
    let (sign, all) = (if seconds < 0 { "-" } else { "" }, seconds.unsigned_abs());
    format!("{sign}{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
}

/// Samples that are looked at together: when the first and the last of them came, and how many they are.
#[derive(Clone, Copy)]
struct Group {
    first: Time,
    last: Time,
    samples: u64,
}

impl Group {
    fn one(time: Time) -> Self {
        Self { first: time, last: time, samples: 1 }
    }
}

pub(crate) fn time_range(log: &Log) -> Option<TimeRange> {
    let (first, last) = log.index.range()?;
    let (core, exact) = core(log)?;
    // Without the time of every sample nobody knows how many lie between the bulk and a sample far away.
    let margin = core.1.since(core.0).max(if exact { NEAR_NS } else { NEAR_UNSEEN_NS });
    if first >= core.0.plus(-margin) && last <= core.1.plus(margin) {
        return Some(TimeRange { first, last, before: None, after: None });
    }
    let (mut outside, counted) = outside(log, core, exact);
    // Times before zero are a clock that is not set yet, however little lies between one and the next.
    let zero = if core.0 >= Time::ZERO && first < Time::from_nanos(-margin) { Time::ZERO } else { Time::MIN };
    // Outwards from the core: what is not far from what is in already is in too.
    outside.sort_unstable_by_key(|group| std::cmp::Reverse(group.last));
    let mut start = core.0;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for group in outside.iter().filter(|group| group.last < core.0) {
        if before.is_empty() && group.last >= zero && start.since(group.last) <= margin {
            start = group.first;
        } else {
            before.push(*group);
        }
    }
    outside.sort_unstable_by_key(|group| group.first);
    let mut end = core.1;
    for group in outside.iter().filter(|group| group.first > core.1) {
        if after.is_empty() && group.first.since(end) <= margin {
            end = group.last;
        } else {
            after.push(*group);
        }
    }
    let set = start >= Time::ZERO;
    let fold = |groups: &[Group]| {
        let all = groups.iter().copied().reduce(|a, b| Group {
            first: a.first.min(b.first),
            last: a.last.max(b.last),
            samples: a.samples + b.samples,
        })?;
        let away = if all.last < start { start.since(all.last) } else { all.first.since(end) };
        let reason = match () {
            () if away >= ABSURD_NS => Astray::OtherClock,
            () if set && all.last < Time::ZERO => Astray::ClockNotSet,
            () => Astray::Unknown,
        };
        Some(Stragglers { samples: all.samples, exact: counted, first: all.first, last: all.last, reason })
    };
    Some(TimeRange { first: start, last: end, before: fold(&before), after: fold(&after) })
}

/// The shortest stretch that holds most samples of the clock that most samples use, from some thousands of them; and
/// whether the places of records are known.
fn core(log: &Log) -> Option<((Time, Time), bool)> {
    let sampled = sampled(log);
    let exact = sampled.is_some();
    let mut times = sampled.or_else(|| by_steps(log)).unwrap_or_else(|| by_ends(&log.index));
    times.sort_unstable_by_key(|(time, _)| *time);
    let all: f64 = times.iter().map(|(_, weight)| weight).sum();
    let mut before = 0.0;
    let median = times.iter().find(|(_, weight)| {
        before += weight;
        before > all / 2.0
    });
    let (median, _) = *median.or(times.last())?;
    times.retain(|(time, _)| time.since(median).unsigned_abs() < ABSURD_NS.unsigned_abs());
    let most = times.iter().map(|(_, weight)| weight).sum::<f64>() * BULK;
    let mut best: Option<(Time, Time)> = None;
    let (mut held, mut open) = (0.0, times.iter());
    for (end, weight) in &times {
        held += weight;
        // Narrow from the left while enough stays.
        while let Some((start, weight)) = open.as_slice().first() {
            if best.is_none_or(|(a, b)| end.since(*start) < b.since(a)) && held >= most {
                best = Some((*start, *end));
            }
            if held - weight < most {
                break;
            }
            held -= weight;
            open.next();
        }
    }
    Some((best?, exact))
}

/// Times from all over the channels, each with the number of samples it stands for.
fn sampled(log: &Log) -> Option<Vec<(Time, f64)>> {
    let index = &log.index;
    if !index.placed {
        return None;
    }
    let all = index.samples().max(1);
    let mut at = Vec::new();
    for found in &index.channels {
        let count = found.positions.len();
        let share = u128::from(found.samples) * SAMPLED / u128::from(all);
        let taken = usize::try_from(share).unwrap_or(usize::MAX).saturating_add(1).min(count);
        let weight = found.samples as f64 / taken.max(1) as f64;
        if taken == count {
            at.extend(found.positions.iter().map(|at| (at, weight)));
        } else {
            let rank = |n: usize| (2 * n + 1) * count / (2 * taken);
            at.extend((0..taken).filter_map(|n| Some((found.positions.iter_from(rank(n)).next()?, weight))));
        }
    }
    at.sort_unstable_by_key(|(at, _)| *at);
    let places: Vec<u64> = at.iter().map(|(at, _)| *at).collect();
    let times = log.times_at(index, &places)?;
    (times.len() == at.len()).then(|| times.into_iter().zip(at).map(|(time, (_, weight))| (time, weight)).collect())
}

/// The time at every step of a log whose records are in no list of places.
fn by_steps(log: &Log) -> Option<Vec<(Time, f64)>> {
    let times = log.times_at(&log.index, &log.index.steps)?;
    (times.len() >= FEW).then(|| times.into_iter().map(|time| (time, 1.0)).collect())
}

/// The ends of the channels.
fn by_ends(index: &Index) -> Vec<(Time, f64)> {
    let full = index.channels.iter().filter(|found| found.samples > 0);
    full.flat_map(|found| [found.first, found.last].map(|time| (time, found.samples as f64 / 2.0))).collect()
}

/// All samples outside of the core, and whether they are all.
fn outside(log: &Log, core: (Time, Time), exact: bool) -> (Vec<Group>, bool) {
    let mut groups = Vec::new();
    let mut all = true;
    for found in log.index.channels.iter().filter(|found| found.samples > 0) {
        if found.first >= core.0 && found.last <= core.1 {
            continue;
        }
        let absurd = |near: i64| near >= ABSURD_NS;
        if absurd(core.0.since(found.last)) || absurd(found.first.since(core.1)) {
            groups.push(Group { first: found.first, last: found.last, samples: found.samples });
            continue;
        }
        let times = exact.then(|| outside_times(log, found, core)).flatten();
        match times {
            Some(times) => groups.extend(times.into_iter().map(Group::one)),
            None => {
                let ends = [found.first, found.last];
                groups.extend(ends.into_iter().filter(|time| !(core.0..=core.1).contains(time)).map(Group::one));
                all = false;
            }
        }
    }
    (groups, all)
}

/// The times of a channel that lie outside of the core.
fn outside_times(log: &Log, found: &ChannelIndex, core: (Time, Time)) -> Option<Vec<Time>> {
    let time = |at: u64| log.times_at(&log.index, &[at]).and_then(|times| times.first().copied());
    let places: Vec<u64> = if found.sorted {
        let start = found.positions.partition_point(|at| time(at).is_some_and(|time| time < core.0));
        let end = found.positions.partition_point(|at| time(at).is_some_and(|time| time <= core.1));
        found.positions.iter().take(start).chain(found.positions.iter_from(end)).collect()
    } else {
        found.positions.iter().collect()
    };
    let times = log.times_at(&log.index, &places)?;
    Some(times.into_iter().filter(|time| !(core.0..=core.1).contains(time)).collect())
}

/// No robot runs for ten days in one log: beyond, two clocks are mixed.
const ABSURD_NS: i64 = 10 * 86_400 * 1_000_000_000;
/// What is less than a minute away is never far.
const NEAR_NS: i64 = 60_000_000_000;
/// The same for a log of which only some times are known.
const NEAR_UNSEEN_NS: i64 = 3_600_000_000_000;
/// The share of samples from which everything else is judged. Robots have been seen to write two in a hundred before
/// their clock is set.
const BULK: f64 = 0.95;
/// How many samples are looked at.
const SAMPLED: u128 = 8192;
/// With fewer steps than this the ends of channels say more.
const FEW: usize = 40;
const YEAR_2000: i64 = 946_684_800;

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::{Astray, Stragglers};

    #[test]
    fn stragglers_are_named_in_a_sentence() {
        let made = |samples, first: i64, last: i64, reason| {
            let (first, last) = (Time::from_millis(first), Time::from_millis(last));
            Stragglers { samples, exact: true, first, last, reason }.to_string()
        };
        let hours = -((9 * 60 + 13) * 60 + 45) * 1000;
        assert_eq!(
            made(1153, hours, -20, Astray::ClockNotSet),
            "1,153 samples between -9:13:45 and -0.020 s, written before the clock was set"
        );
        assert_eq!(made(1, 2_639_706, 2_639_706, Astray::Unknown), "1 sample at 2639.706 s, far from all others");
        assert_eq!(
            made(2, 1_711_030_953_000, 1_711_030_954_000, Astray::OtherClock),
            "2 samples between 2024-03-21 14:22:33 UTC and 2024-03-21 14:22:34 UTC, on another clock"
        );
    }
}

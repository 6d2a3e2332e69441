//! What other channels did within intervals.

use logpose_core::{ChannelId, Time};

use super::Interval;
use logpose_files::in_time_order;
use logpose_files::{Error, FieldReader, Log, ScalarValue, Visit};

/// One scalar of a channel within one interval. Every value counts for as long as it held.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The place of the interval in the list.
    pub interval: usize,
    /// The channel, with the path of the scalar in it.
    pub name: String,
    /// The value at the interval's start; none if there was none yet.
    pub start: Option<ScalarValue<'static>>,
    /// The last value before the interval's end.
    pub end: Option<ScalarValue<'static>>,
    /// Of numbers that are not NaN: the lowest, the mean by time, and the highest.
    pub numbers: Option<(f64, f64, f64)>,
}

/// What channels did within intervals, which must stand in the order of time and not overlap. The summaries come by
/// channel and scalar, and then by interval.
pub fn summaries(log: &Log, channels: &[ChannelId], intervals: &[Interval]) -> Result<Vec<Summary>, Error> {
    let mut all = Vec::new();
    for id in channels {
        let columns = log.columns(&[*id])?;
        for column in &columns.columns {
            let mut lanes = Lanes { intervals, time: Time::ZERO, lanes: Vec::new() };
            let mut parts = FieldReader::of(&column.channel, log.schemas().registry());
            in_time_order(&columns, column, |time, value| {
                lanes.time = time;
                parts.visit(value, &mut lanes);
            });
            for mut lane in lanes.lanes {
                lane.spread(Time::MAX, intervals);
                let name = format!("{}{}", column.channel.name, lane.path);
                all.extend(lane.done.into_iter().map(|(interval, tally)| tally.finish(interval, &name)));
            }
        }
    }
    Ok(all)
}

struct Lanes<'i> {
    intervals: &'i [Interval],
    time: Time,
    lanes: Vec<ScalarProgress>,
}

/// One scalar on its way through the intervals.
struct ScalarProgress {
    path: String,
    held: ScalarValue<'static>,
    since: Time,
    /// The first interval that is not behind us.
    next: usize,
    done: Vec<(usize, Tally)>,
}

impl Visit for Lanes<'_> {
    fn list(&mut self, _: &str, len: usize) -> usize {
        len.min(MOST_ELEMENTS)
    }

    fn scalar(&mut self, path: &str, part: ScalarValue<'_>) {
        let held = part.into_owned();
        let full = self.lanes.len() >= MOST_LANES;
        match self.lanes.iter_mut().find(|lane| lane.path == path) {
            Some(lane) => {
                lane.spread(self.time, self.intervals);
                (lane.held, lane.since) = (held, self.time);
            }
            None if !full => {
                let (path, since) = (path.to_owned(), self.time);
                self.lanes.push(ScalarProgress { path, held, since, next: 0, done: Vec::new() });
            }
            None => {}
        }
    }
}

impl ScalarProgress {
    /// Adds the value that held until now to the intervals it held in.
    fn spread(&mut self, until: Time, intervals: &[Interval]) {
        while let Some(interval) = intervals.get(self.next).filter(|interval| interval.start < until) {
            let (from, to) = (interval.start.max(self.since), interval.end.min(until));
            // A moment has no length, and still a value.
            let moment = interval.start == interval.end && self.since <= interval.start;
            if from < to || moment {
                if self.done.last().is_none_or(|(place, _)| *place != self.next) {
                    let start = (self.since <= interval.start).then(|| self.held.clone());
                    self.done.push((self.next, Tally { start, ..Tally::default() }));
                }
                if let Some((_, tally)) = self.done.last_mut() {
                    tally.add(&self.held, to.since(from));
                }
            }
            if interval.end >= until {
                break;
            }
            self.next += 1;
        }
    }
}

#[derive(Default)]
struct Tally {
    start: Option<ScalarValue<'static>>,
    end: Option<ScalarValue<'static>>,
    min: f64,
    max: f64,
    sum: f64,
    weight: f64,
    any: bool,
}

impl Tally {
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more digits")]
    fn add(&mut self, held: &ScalarValue<'static>, ns: i64) {
        self.end = Some(held.clone());
        let Some(x) = held.number().filter(|x| !x.is_nan()) else { return };
        self.min = if self.any { self.min.min(x) } else { x };
        self.max = if self.any { self.max.max(x) } else { x };
        self.any = true;
        // A moment has no length, and its value is the mean.
        let weight = ns.max(1) as f64;
        self.sum += x * weight;
        self.weight += weight;
    }

    fn finish(self, interval: usize, name: &str) -> Summary {
        let numbers = self.any.then(|| (self.min, (self.sum / self.weight).clamp(self.min, self.max), self.max));
        Summary { interval, name: name.to_owned(), start: self.start, end: self.end, numbers }
    }
}

/// Longer lists are shown by their first elements.
const MOST_ELEMENTS: usize = 16;
const MOST_LANES: usize = 1000;

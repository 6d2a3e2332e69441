use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Lookup, SinkError, TakeSamples, Time};
use logpose_schema::Registry;

use crate::merge::{Input, Merge};
use crate::{ClockMap, Error, Log};

/// How the clocks of several logs become one. The first log's clock stays as it is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Align {
    /// By the wall clock if all logs have it and lie within an hour of each other, else by their starts.
    #[default]
    Auto,
    /// Every log's first wanted moment is the same moment.
    Start,
    /// By the wall clock, which all logs must have.
    Epoch,
    /// Not at all: the clocks are one already.
    None,
}

impl Align {
    /// What is added to the times of each log, so that all are on the clock of the first.
    pub fn shifts(self, logs: &[Log]) -> Result<Vec<i64>, Error> {
        shifts(logs, &logs.iter().map(Log::robust_range).collect::<Vec<_>>(), self)
    }
}

/// Evidence of how the clock of a log relates to others.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClockEvidence {
    /// From its first moment to its last.
    pub range: Option<(Time, Time)>,
    /// What is added to its times to get Unix nanoseconds.
    pub epoch_ns: Option<i64>,
}

impl ClockEvidence {
    /// What is added to the times of this log, so that they are on the clock of `first`: what [`Align::Auto`] does with two
    /// logs. And whether it is by the wall clock, or else by their starts.
    #[must_use]
    pub fn shift_to(self, first: Self) -> (i64, bool) {
        let ranges = [first.range, self.range];
        let wall = first.epoch_ns.zip(self.epoch_ns).map(|(first, own)| own.saturating_sub(first));
        let near = wall.filter(|shift| are_near(&ranges, &[0, *shift]));
        match (near, ranges) {
            (Some(shift), _) => (shift, true),
            (None, [Some(first), Some(own)]) => (first.0.since(own.0), false),
            (None, _) => (0, false),
        }
    }
}

/// What becomes of channels that several logs have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Names {
    /// They are one channel if the logs follow each other, as the parts of a recording do. If logs that have a name in
    /// common go on at the same time, all names get a prefix: `/a/…`, `/b/…`.
    #[default]
    Auto,
    /// Equal name and type are one channel, as a conversion of several logs has it.
    Shared,
    /// All names of a log stand behind its prefix; logs beyond the list have none.
    Prefixed(Vec<String>),
}

/// Several logs on one clock, read in the order of time from any moment on.
///
/// Every channel is found through the index: going to a moment costs a binary search in each, not a walk. A log whose
/// index has no positions is walked once to find them. Memory is that of the positions, and 16 bytes for each sample of
/// a channel out of order.
///
/// ```
/// use logpose::core::Time;
/// use logpose::{Align, Names, Timeline};
/// # let dir = tempfile::tempdir()?;
/// # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 25, force: false })?;
/// # let logs = [logpose::Log::open_with(&files[2], &logpose::OpenOptions::default(), &logpose::Quiet)?];
/// let mut timeline = Timeline::new(&logs, Vec::new(), Align::Auto, &Names::Auto)?;
/// let moment = Time::from_millis(20_000);
/// timeline.seek(moment);
/// assert!(timeline.peek() >= Some(moment) && timeline.before(moment) < Some(moment));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Timeline<'a> {
    merge: Merge<'a>,
    channels: Vec<Channel>,
    /// Of each channel whether it holds a schema, and its earliest time.
    schemas: Vec<bool>,
    firsts: Vec<Option<Time>>,
    prefixes: Vec<String>,
    shifts: Vec<i64>,
    range: Option<(Time, Time)>,
    samples: u64,
    strays: u64,
}

impl<'a> Timeline<'a> {
    /// The wanted channels of logs. A log without a lookup is wanted whole. The times of a lookup, on the log's own
    /// clock, say which part of it is read; values from before are known all the same. Nothing else of it counts.
    pub fn new(logs: &'a [Log], mut lookups: Vec<Lookup>, align: Align, names: &Names) -> Result<Self, Error> {
        lookups.resize_with(logs.len(), Lookup::default);
        let ranges: Vec<_> = logs.iter().zip(&lookups).map(|(log, lookup)| wanted_range(log, lookup)).collect();
        let shifts = shifts(logs, &ranges, align)?;
        let shifted = |(range, shift): (&Option<(Time, Time)>, &i64)| {
            range.map(|(first, last)| (first.plus(*shift), last.plus(*shift)))
        };
        let shifted: Vec<_> = ranges.iter().zip(&shifts).map(shifted).collect();
        let prefixes = prefixes(logs, &lookups, &shifted, names);
        let mut line = Self {
            merge: Merge::new(Vec::new()),
            channels: Vec::new(),
            schemas: Vec::new(),
            firsts: Vec::new(),
            prefixes,
            shifts,
            range: shifted.iter().flatten().copied().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))),
            samples: 0,
            strays: 0,
        };
        let mut inputs = Vec::with_capacity(logs.len());
        let mut known: HashMap<(String, &str), ChannelId> = HashMap::new();
        for (place, log) in logs.iter().enumerate() {
            let (lookup, shift) = (lookups.get(place), line.shifts.get(place).copied().unwrap_or(0));
            let (Some(lookup), Some(range)) = (lookup, ranges.get(place)) else { continue };
            let map = line.declare(log, lookup, place, shift, &mut known);
            // Nothing lies between the start of an empty range and its end.
            let end = range.map_or(Time::MIN, |(_, last)| last);
            let always = log.index.channels.iter();
            let always = always.map(|found| Registry::is_schema(&found.channel.name, &found.channel.type_name));
            let (channels, always) = (lookup.channels.clone(), always.collect());
            let lookup = Lookup { channels, end: Some(end), always, ..Lookup::default() };
            inputs.push(Input::moved(log, lookup, map, ClockMap::shifted(shift))?);
        }
        line.merge = Merge::new(inputs);
        for (place, (log, shift)) in logs.iter().zip(&line.shifts).enumerate() {
            if let Some((first, last)) = log.robust_range().filter(|range| log.index.range() != Some(*range)) {
                line.strays += line.merge.outside(place, (first.plus(*shift), last.plus(*shift)));
            }
        }
        Ok(line)
    }

    /// Takes in the channels of a log; the answer is their numbers here.
    fn declare(
        &mut self,
        log: &'a Log,
        lookup: &Lookup,
        place: usize,
        shift: i64,
        known: &mut HashMap<(String, &'a str), ChannelId>,
    ) -> Vec<ChannelId> {
        let prefix = self.prefixes.get(place).map_or("", String::as_str);
        let mut map = Vec::with_capacity(log.index.channels.len());
        for (own, found) in (0..).zip(&log.index.channels) {
            if !lookup.wants(own) {
                map.push(UNWANTED);
                continue;
            }
            let is_schema = Registry::is_schema(&found.channel.name, &found.channel.type_name);
            // Who reads values looks for their schemas by name.
            let name = prefixed(if is_schema { "" } else { prefix }, &found.channel.name);
            let next = ChannelId::try_from(self.channels.len()).unwrap_or(UNWANTED);
            let id = *known.entry((name.clone(), &found.channel.type_name)).or_insert(next);
            if id == next {
                self.channels.push(Channel { name, ..found.channel.clone() });
                self.schemas.push(is_schema);
                self.firsts.push(None);
            }
            if found.samples > 0
                && let Some(first) = self.firsts.get_mut(id as usize)
            {
                let time = found.first.plus(shift);
                *first = Some(first.map_or(time, |known| known.min(time)));
            }
            self.samples += found.samples;
            map.push(id);
        }
        map
    }

    /// The channels; a channel's number is its place.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// From the first wanted moment of any log to the last, without the few samples far from all others.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        self.range
    }

    /// At most so many samples will come.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How many samples are far from all others of their log, so that they are not in the range.
    #[must_use]
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// What stands before the names of each log's channels; nothing where they stay as they are.
    #[must_use]
    pub fn prefixes(&self) -> &[String] {
        &self.prefixes
    }

    /// What is added to the times of each log, in nanoseconds.
    #[must_use]
    pub fn shifts(&self) -> &[i64] {
        &self.shifts
    }

    /// Whether a channel holds a schema.
    #[must_use]
    pub fn is_schema(&self, channel: ChannelId) -> bool {
        self.schemas.get(channel as usize).copied().unwrap_or(false)
    }

    /// The earliest time of a channel; none if it has no sample.
    #[must_use]
    pub fn first(&self, channel: ChannelId) -> Option<Time> {
        self.firsts.get(channel as usize).copied().flatten()
    }

    /// Goes to a moment: the first samples at it or behind it come next.
    pub fn seek(&mut self, to: Time) {
        self.merge.seek(to);
    }

    /// The time of the next sample.
    #[must_use]
    pub fn peek(&self) -> Option<Time> {
        self.merge.peek()
    }

    /// Gives the next samples up to a moment, that included, at most so many, in one call. Tells whether there were
    /// any.
    pub fn read(&mut self, most: usize, until: Time, take: &mut TakeSamples<'_>) -> Result<bool, SinkError> {
        self.merge.read(most, until, take)
    }

    /// Gives the last sample of every channel before a moment, in one call. Schemas come first, and those that only
    /// appear later come too, so that every value can be read. Where the next samples come from does not change.
    pub fn held(&mut self, before: Time, take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let mut held = self.merge.held(before);
        let later = (0..).zip(&self.schemas).filter(|(id, schema)| **schema && !held.contains_key(id));
        let later: Vec<_> = later.filter_map(|(id, _)| self.first(id)).collect();
        if let Some(last) = later.into_iter().max() {
            let all = self.merge.held(last.plus(1));
            let missing = all.into_iter().filter(|(id, _)| self.is_schema(*id) && !held.contains_key(id));
            let missing: Vec<_> = missing.collect();
            held.extend(missing);
        }
        let schemas = held.iter().filter(|(id, _)| self.is_schema(**id));
        let values = held.iter().filter(|(id, _)| !self.is_schema(**id));
        let rows: Vec<_> = schemas.chain(values).map(|(_, row)| *row).collect();
        self.merge.rows(rows.into_iter(), take)
    }

    /// The latest time of any sample before a moment. Where the next samples come from does not change.
    #[must_use]
    pub fn before(&mut self, moment: Time) -> Option<Time> {
        self.merge.before(moment)
    }
}

/// The wanted part of a log: of its wanted channels, without those whose clock is another one.
fn wanted_range(log: &Log, lookup: &Lookup) -> Option<(Time, Time)> {
    let (first, last) = log.robust_range()?;
    let of = |with_schemas: bool| {
        let channels = (0..).zip(&log.index.channels).filter(|(id, found)| found.samples > 0 && lookup.wants(*id));
        let near = channels.filter(|(_, found)| found.first <= last && found.last >= first);
        let meant = near
            .filter(|(_, found)| with_schemas || !Registry::is_schema(&found.channel.name, &found.channel.type_name));
        let clamped = meant.map(|(_, found)| (found.first.max(first), found.last.min(last)));
        clamped.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    };
    let (first, last) = of(false).or_else(|| of(true))?;
    let first = lookup.start.map_or(first, |start| start.max(first));
    let last = lookup.end.map_or(last, |end| end.min(last));
    (first <= last).then_some((first, last))
}

/// What is to be added to the times of each log.
fn shifts(logs: &[Log], ranges: &[Option<(Time, Time)>], align: Align) -> Result<Vec<i64>, Error> {
    let starts = || {
        let zero = ranges.iter().flatten().next().map_or(Time::ZERO, |range| range.0);
        ranges.iter().map(|range| range.map_or(0, |(first, _)| zero.since(first))).collect()
    };
    let epochs = || {
        let all: Option<Vec<i64>> = logs.iter().map(Log::epoch_ns).collect();
        let first = logs.first().and_then(Log::epoch_ns)?;
        Some(all?.into_iter().map(|epoch| epoch.saturating_sub(first)).collect::<Vec<_>>())
    };
    Ok(match align {
        _ if logs.len() < 2 => vec![0; logs.len()],
        Align::None => vec![0; logs.len()],
        Align::Start => starts(),
        Align::Epoch => epochs().ok_or_else(|| {
            let silent = logs.iter().find(|log| log.epoch_ns().is_none());
            let error = Error::usage("the log does not contain the wall-clock time needed for the alignment")
                .with_help("use --align start or --align none");
            match silent {
                Some(log) => error.in_file(&log.path),
                None => error,
            }
        })?,
        Align::Auto => epochs().filter(|shifts| are_near(ranges, shifts)).unwrap_or_else(starts),
    })
}

/// Whether nothing lies further than an hour behind all before it.
fn are_near(ranges: &[Option<(Time, Time)>], shifts: &[i64]) -> bool {
    let shifted = ranges.iter().zip(shifts).filter_map(|(range, shift)| {
        let (first, last) = (*range)?;
        Some((first.plus(*shift), last.plus(*shift)))
    });
    let mut shifted: Vec<_> = shifted.collect();
    shifted.sort_unstable();
    let mut end = shifted.first().map_or(Time::ZERO, |range| range.0);
    shifted.iter().all(|(first, last)| {
        let near = first.since(end) < NEAR_NS;
        end = end.max(*last);
        near
    })
}

fn prefixes(logs: &[Log], lookups: &[Lookup], ranges: &[Option<(Time, Time)>], names: &Names) -> Vec<String> {
    let none = vec![String::new(); logs.len()];
    match names {
        Names::Shared => none,
        Names::Prefixed(prefixes) => {
            let trimmed = prefixes.iter().map(|prefix| prefix.trim_matches('/').to_owned());
            trimmed.chain(none).take(logs.len()).collect()
        }
        Names::Auto => {
            let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
            for (place, (log, lookup)) in logs.iter().zip(lookups).enumerate() {
                let wanted = (0..).zip(&log.index.channels).filter(|(id, _)| lookup.wants(*id));
                let channels = wanted.map(|(_, found)| &found.channel);
                for channel in channels.filter(|channel| !Registry::is_schema(&channel.name, &channel.type_name)) {
                    let places = owners.entry(&channel.name).or_default();
                    if places.last() != Some(&place) {
                        places.push(place);
                    }
                }
            }
            let overlap = |a: usize, b: usize| {
                let range = |place: usize| ranges.get(place).copied().flatten();
                range(a).zip(range(b)).is_some_and(|(a, b)| a.0.max(b.0) < a.1.min(b.1))
            };
            let clash = owners.values().any(|places| {
                places.iter().enumerate().any(|(i, a)| places.iter().skip(i + 1).any(|b| overlap(*a, *b)))
            });
            if clash { (0..logs.len()).map(letter).collect() } else { none }
        }
    }
}

/// a, b, … z, log27, log28, …
fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().filter(|place| *place < 26).map(|place| char::from(b'a' + place));
    letter.map_or_else(|| format!("log{}", place + 1), String::from)
}

fn prefixed(prefix: &str, name: &str) -> String {
    match prefix {
        "" => name.to_owned(),
        _ => format!("/{prefix}/{}", name.strip_prefix('/').unwrap_or(name)),
    }
}

const UNWANTED: ChannelId = ChannelId::MAX;
/// Logs with a longer gap between them are hardly of one occasion.
const NEAR_NS: i64 = 3_600 * 1_000_000_000;

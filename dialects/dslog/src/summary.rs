//! A log in a few numbers, for lists of thousands.

use logpose_core::{DecodeError, Problems};
use logpose_driverstation::pd::{Kind, PowerDistribution};

use crate::dialect::name_of;
use crate::events::{Entry, EntryPart, FieldTime, entries, parts};
use crate::pair::Half;
use crate::walk::{Found, Plan, Records, TextSample, Visit};
use crate::wire::{Event, Mode, PERIOD_NS, Record};

/// A log in a few numbers.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The version of its files.
    pub version: i32,
    /// When it begins, in Unix nanoseconds.
    pub start_unix_ns: i64,
    /// Records of the `.dslog`.
    pub records: u64,
    /// Records of the `.dsevents`.
    pub events: u64,
    /// How long it is: to the last record, or without any to the last event.
    pub duration_ns: i64,
    /// The power distribution panel.
    pub pd: Option<Kind>,
    /// How long the station asked for autonomous.
    pub autonomous_ns: i64,
    /// How long for teleop.
    pub teleop_ns: i64,
    /// How long for test.
    pub test_ns: i64,
    /// How often the robot browned out.
    pub brownouts: u64,
    /// How long in all.
    pub brownout_ns: i64,
    /// How often the robot was gone and came back.
    pub drops: u64,
    /// How long it was gone in all, before it came back.
    pub drop_ns: i64,
    /// The lowest battery while there was a robot, in volts.
    pub lowest_battery: Option<f64>,
    /// The mean trip time while there was a robot, in seconds.
    pub trip_time: Option<f64>,
    /// The share of lost packets that 95 of 100 records with a robot do not exceed.
    pub loss_p95: Option<f64>,
    /// Errors in the texts.
    pub errors: u64,
    /// Warnings in the texts.
    pub warnings: u64,
    /// The match that it was, if a field was there.
    pub played: Option<MatchSummary>,
    /// What was lost or doubtful.
    pub problems: Problems,
    /// Why a file could not be read at all.
    pub error: Option<DecodeError>,
}

/// Which match a log is of.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MatchSummary {
    /// The code of the event.
    pub event: Option<String>,
    /// `practice`, `qualification`, `elimination` or `none`, if the field announced it.
    pub kind: Option<String>,
    /// Its number.
    pub number: Option<i64>,
    /// The how manyeth time it was played.
    pub replay: Option<i64>,
    /// The field's clock when it was connected.
    pub field_time: Option<FieldTime>,
}

impl Summary {
    /// How long the robot was enabled.
    #[must_use]
    pub fn enabled_ns(&self) -> i64 {
        self.autonomous_ns + self.teleop_ns + self.test_ns
    }
}

/// Reads a log once: a `.dslog`, a `.dsevents`, or both of a pair.
#[must_use]
pub fn summary(dslog: Option<&[u8]>, dsevents: Option<&[u8]>) -> Summary {
    let mut found = Summary::default();
    let mut begun = false;
    for bytes in [dslog, dsevents].into_iter().flatten() {
        let plan = match Plan::new(bytes) {
            Ok(plan) => plan,
            Err(error) => {
                found.error.get_or_insert(error);
                continue;
            }
        };
        for file in plan.files() {
            if !std::mem::replace(&mut begun, true) {
                found.version = file.header.version.number();
                found.start_unix_ns = plan.start;
            }
            let stop = match file.half {
                Half::Log => {
                    let mut tally = Tally::default();
                    let mut records = Records::new(&plan, &file);
                    let stop = records.walk(&plan, &file, file.to, &mut tally);
                    tally.settle(records.met_so_far(), &mut found);
                    stop
                }
                Half::Events => {
                    let mut texts = Texts { summary: &mut found, last: plan.start };
                    let (stop, met) = texts.walk(&plan, &file);
                    let last = texts.last;
                    found.events = met;
                    if found.records == 0 {
                        found.duration_ns = last.saturating_sub(plan.start).max(0);
                    }
                    stop
                }
            };
            plan.complain(&file, &stop).into_iter().for_each(|problem| found.problems.push(problem));
        }
    }
    found
}

/// What records add up to.
struct Tally {
    pd: Option<Kind>,
    /// Records by mode.
    modes: [u64; 4],
    brownouts: u64,
    brownout: u64,
    was_brown: bool,
    /// Records without a robot since the last with one; nothing before the first.
    gone: Option<u64>,
    drops: u64,
    dropped: u64,
    lowest: u16,
    trips: (u64, u64),
    /// Records with a robot, by their lost packets.
    losses: [u64; 26],
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            pd: None,
            modes: [0; 4],
            brownouts: 0,
            brownout: 0,
            was_brown: false,
            gone: None,
            drops: 0,
            dropped: 0,
            lowest: u16::MAX,
            trips: (0, 0),
            losses: [0; 26],
        }
    }
}

impl Tally {
    #[inline]
    fn record(&mut self, record: &Record<'_>) {
        if self.pd.is_none() {
            self.pd = record.power().as_ref().map(PowerDistribution::kind);
        }
        if let Some(count) = self.modes.get_mut(record.mode() as usize) {
            *count += 1;
        }
        let brown = record.status.brownout();
        self.brownout += u64::from(brown);
        self.brownouts += u64::from(brown && !std::mem::replace(&mut self.was_brown, brown));
        self.was_brown = brown;
        if !record.is_connected() {
            self.gone = self.gone.map(|gone| gone + 1);
            return;
        }
        if let Some(gone) = self.gone.replace(0).filter(|gone| *gone > 0) {
            self.drops += 1;
            self.dropped += gone;
        }
        self.lowest = self.lowest.min(record.battery);
        if record.trip != u8::MAX {
            self.trips = (self.trips.0 + 1, self.trips.1 + u64::from(record.trip));
        }
        let lost = usize::try_from(record.loss.clamp(0, 25)).unwrap_or(0);
        self.losses.get_mut(lost).into_iter().for_each(|count| *count += 1);
    }

    fn settle(self, records: u64, found: &mut Summary) {
        let ns = |records: u64| i64::try_from(records).unwrap_or(i64::MAX).saturating_mul(PERIOD_NS);
        let mode = |mode: Mode| ns(self.modes.get(mode as usize).copied().unwrap_or(0));
        found.records = records;
        found.duration_ns = ns(records);
        found.pd = self.pd;
        found.autonomous_ns = mode(Mode::Autonomous);
        found.teleop_ns = mode(Mode::Teleop);
        found.test_ns = mode(Mode::Test);
        (found.brownouts, found.brownout_ns) = (self.brownouts, ns(self.brownout));
        (found.drops, found.drop_ns) = (self.drops, ns(self.dropped));
        let connected: u64 = self.losses.iter().sum();
        if connected == 0 {
            return;
        }
        found.lowest_battery = Some(f64::from(self.lowest) / 256.0);
        let (trips, half_ms) = self.trips;
        #[expect(clippy::cast_precision_loss, reason = "no log has 2^53 records")]
        let mean = (trips > 0).then(|| half_ms as f64 / trips as f64 / 2000.0);
        found.trip_time = mean;
        let mut left = (connected * 95).div_ceil(100);
        let p95 = self.losses.iter().zip(0_u8..).find(|(count, _)| {
            let within = left <= **count;
            left = left.saturating_sub(**count);
            within
        });
        found.loss_p95 = p95.map(|(_, lost)| f64::from(lost) / 25.0);
    }
}

impl<'a> Visit<'a> for Tally {
    const TOPICS: bool = false;

    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        Self::record(self, found.record);
    }

    fn said(&mut self, _: TextSample<'a>) {}
}

/// What texts add up to.
struct Texts<'s> {
    summary: &'s mut Summary,
    last: i64,
}

impl Texts<'_> {
    fn walk(&mut self, plan: &Plan<'_>, file: &crate::walk::File) -> (crate::walk::Stop, u64) {
        crate::walk::each_text(plan, file, file.body(), file.to, |_, event| self.text(event))
    }

    fn text(&mut self, event: &Event<'_>) -> bool {
        self.last = self.last.max(event.time.unix_ns());
        for (_, entry) in entries(event.text) {
            match entry {
                Entry::Console(_) => {}
                Entry::Error(error) => self.count(error.is_error()),
                Entry::Other(entry) => parts(entry).for_each(|(_, part)| self.part(&part)),
            }
        }
        true
    }

    fn part(&mut self, part: &EntryPart<'_>) {
        match part {
            EntryPart::Coded(coded) => self.count(coded.is_error),
            EntryPart::EventName(name) => {
                let played = self.summary.played.get_or_insert_default();
                played.event = played.event.take().or_else(|| name_of(name));
            }
            EntryPart::Match(info) => {
                let played = self.summary.played.get_or_insert_default();
                played.kind = Some(String::from_utf8_lossy(info.kind).to_ascii_lowercase());
                played.number = Some(info.number);
                played.replay = Some(info.replay);
                played.field_time = info.field_time;
            }
            _ => {}
        }
    }

    fn count(&mut self, is_error: bool) {
        let count = if is_error { &mut self.summary.errors } else { &mut self.summary.warnings };
        *count += 1;
    }
}

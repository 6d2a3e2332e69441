//! How the link between the driver station and the robot was, and why the robot was disabled.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use logpose_core::Time;

use super::series::{edges, spans};
use super::{Facts, Mode, ModeSpan};
use logpose_files::internal::NamedChannels;

/// How the link between the driver station and the robot was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkFacts {
    /// When the robot was lost and came back.
    pub drops: Vec<(Time, Time)>,
    /// When it was lost for good, before the log ends.
    pub gone: Option<Time>,
    /// Seconds from a packet to its reply.
    pub trip_time: Option<Percentiles>,
    /// How many packets were lost and how many sent, from the first reply to the last moment with the robot.
    pub packets: Option<(u64, u64)>,
    /// The share of packets that was lost lately, while the robot was there: 0 to 1.
    pub loss: Option<Percentiles>,
    /// Where most was lost, while the robot was there.
    pub worst: Option<Stretch>,
    /// When the robot was disabled, and why.
    pub disables: Vec<Disable>,
    /// How many errors the robot and the station reported.
    pub errors: u64,
    /// How many warnings.
    pub warnings: u64,
    /// The most frequent of both, at most ten.
    pub frequent: Vec<ErrorGroup>,
    /// Counters of faults that went up.
    pub faults: Vec<Rise>,
    /// The highest load of the robot's processor: 0 to 1.
    pub cpu: Option<Peak>,
    /// The highest load of the CAN bus, as it came: 0 to 1, or percent from some robots.
    pub can: Option<Peak>,
}

/// How a quantity is spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Half is not above this.
    pub p50: f64,
    /// 95 of 100 are not above this.
    pub p95: f64,
    /// 99 of 100 are not above this.
    pub p99: f64,
    /// Nothing is above this.
    pub max: f64,
}

/// A stretch in which packets were lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// From when.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// The mean share that was lost.
    pub loss: f64,
}

/// The highest value of a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The value.
    pub value: f64,
    /// When it was first reached.
    pub at: Time,
}

/// A counter that went up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rise {
    /// The channel.
    pub channel: String,
    /// By how much, in all.
    pub by: i64,
    /// When first.
    pub first: Time,
}

/// Errors or warnings that say the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ErrorGroup {
    /// Whether it is an error, not a warning.
    pub is_error: bool,
    /// Its number.
    pub code: i64,
    /// The first line of what it says.
    pub text: String,
    /// How often it came.
    pub count: u64,
    /// When it first came.
    pub first: Time,
}

/// A moment at which the robot was disabled.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Disable {
    /// When.
    pub at: Time,
    /// What it did before.
    pub mode: Mode,
    /// Why, as far as the log shows.
    pub reason: Reason,
    /// What speaks for it, in words.
    pub evidence: String,
}

/// Why a robot was disabled.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// Somebody pressed the emergency stop.
    EStop,
    /// The robot did not answer any more.
    RobotLost,
    /// The robot's program ended or started anew.
    Code,
    /// The voltage broke down.
    Brownout,
    /// The robot's watchdog stopped its outputs.
    Watchdog,
    /// The autonomous period was over.
    EndOfAuto,
    /// The match was over.
    EndOfMatch,
    /// The station asked for it: nothing else is known.
    Station,
}

impl Reason {
    /// The words for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EStop => "emergency stop",
            Self::RobotLost => "robot lost",
            Self::Code => "robot code",
            Self::Brownout => "brownout",
            Self::Watchdog => "watchdog",
            Self::EndOfAuto => "end of autonomous",
            Self::EndOfMatch => "end of match",
            Self::Station => "by the station",
        }
    }
}

impl LinkFacts {
    /// None for logs that know nothing of a link.
    pub(super) fn of(known: &NamedChannels<'_>, facts: &Facts) -> Option<Self> {
        if !known.names().any(|name| SIGNS.contains(&name)) {
            return None;
        }
        let (_, last) = known.log().robust_range()?;
        let connected = known.booleans("/ds/connected");
        let there = spans(&connected, last);
        let reports = Reports::read(known);
        // A station that does not say whether the robot is there is believed.
        let measured = |name: &str, settling: i64| {
            let stretch = |(start, end): &(Time, Time)| (start.plus(settling), end.plus(-i64::from(*end < last)));
            let stretches: Vec<_> = there.iter().map(stretch).collect();
            let mut numbers = known.numbers(name);
            numbers.retain(|(time, _)| connected.is_empty() || within(&stretches, *time));
            numbers
        };
        let losses = measured("/ds/packet_loss", LATELY);
        let trips = measured("/ds/trip_time", 0).into_iter().map(|(_, seconds)| seconds);
        let evidence = Evidence::read(known, facts, &there, &losses, &reports);
        let gone = there.last().map(|(_, end)| *end).filter(|end| *end < last);
        Some(Self {
            drops: there.iter().zip(there.iter().skip(1)).map(|(a, b)| (a.1, b.0)).collect(),
            gone,
            trip_time: Percentiles::of(trips.collect()),
            packets: packets(known, there.last().map_or(last, |(_, end)| *end)),
            loss: Percentiles::of(losses.iter().map(|(_, loss)| *loss).collect()),
            worst: worst(&losses),
            disables: evidence.disables(),
            errors: reports.errors,
            warnings: reports.warnings,
            frequent: reports.frequent(),
            faults: COUNTERS.iter().filter_map(|name| Rise::of(known, name)).collect(),
            cpu: Peak::of(&measured("/ds/cpu", 0)),
            can: Peak::of(&measured("/ds/can/utilization", 0)),
        })
    }
}

impl Percentiles {
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        values.sort_unstable_by(f64::total_cmp);
        // The smallest value that so many of a hundred are not above.
        let at = |percent: usize| values.get((values.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Self { p50: at(50)?, p95: at(95)?, p99: at(99)?, max: at(100)? })
    }
}

impl Peak {
    fn of(numbers: &[(Time, f64)]) -> Option<Self> {
        let numbers = numbers.iter().copied().filter(|(_, value)| value.is_finite());
        let highest = numbers.reduce(|best, next| if next.1 > best.1 { next } else { best });
        highest.map(|(at, value)| Self { value, at })
    }
}

impl Rise {
    fn of(known: &NamedChannels<'_>, name: &str) -> Option<Self> {
        let counts = known.integers(name);
        // A robot that restarts counts from zero.
        let rises = counts.iter().zip(counts.iter().skip(1)).filter(|(before, after)| after.1 > before.1);
        let mut rises = rises.map(|(before, after)| (after.0, after.1.saturating_sub(before.1)));
        let (first, by) = rises.next()?;
        Some(Self { channel: name.to_owned(), by: rises.fold(by, |sum, (_, by)| sum.saturating_add(by)), first })
    }
}

fn within(spans: &[(Time, Time)], time: Time) -> bool {
    let place = spans.partition_point(|(start, _)| *start <= time);
    place.checked_sub(1).and_then(|place| spans.get(place)).is_some_and(|(_, end)| time <= *end)
}

/// How many packets were lost and sent up to a moment.
fn packets(known: &NamedChannels<'_>, until: Time) -> Option<(u64, u64)> {
    let lost = known.booleans("/ds/lost");
    let sent = lost.iter().take_while(|(time, _)| *time <= until);
    let (lost, sent) = sent.fold((0, 0), |(lost, sent), (_, was)| (lost + u64::from(*was), sent + 1));
    (sent > 0).then_some((lost, sent))
}

/// The stretch of loss that took most packets with it.
fn worst(losses: &[(Time, f64)]) -> Option<Stretch> {
    let runs = losses.chunk_by(|a, b| (a.1 >= WORTH_TELLING) == (b.1 >= WORTH_TELLING));
    let bad = runs.filter(|run| run.first().is_some_and(|(_, loss)| *loss >= WORTH_TELLING));
    let sums = bad.map(|run| (run.iter().map(|(_, loss)| loss).sum::<f64>(), run));
    let (sum, run) = sums.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (start, end) = (run.first()?.0, run.last()?.0);
    #[expect(clippy::cast_precision_loss, reason = "no log has 2^53 samples")]
    let loss = sum / run.len() as f64;
    Some(Stretch { start, end, loss })
}

/// What the robot and the station reported.
#[derive(Default)]
struct Reports {
    errors: u64,
    warnings: u64,
    groups: HashMap<(bool, i64, String), (u64, Time)>,
    /// When the station said that the robot, and that its program, was gone.
    lost: Vec<Time>,
    no_code: Vec<Time>,
}

impl Reports {
    fn read(known: &NamedChannels<'_>) -> Self {
        let mut reports = Self::default();
        known.json("/ds/errors", |time, json| {
            let text = |key: &str| json.get(key).and_then(|text| text.as_str()).unwrap_or_default();
            let code = json.get("code").and_then(serde_json::Value::as_i64).unwrap_or(0);
            let is_error = text("severity") == "error";
            *(if is_error { &mut reports.errors } else { &mut reports.warnings }) += 1;
            match code {
                NO_CODE => reports.no_code.push(time),
                LOST => reports.lost.push(time),
                _ => {}
            }
            let first_line = text("details").lines().next().unwrap_or_default().trim().to_owned();
            let group = reports.groups.entry((is_error, code, first_line)).or_insert((0, time));
            group.0 += 1;
        });
        reports
    }

    fn frequent(self) -> Vec<ErrorGroup> {
        let groups = self.groups.into_iter();
        let groups =
            groups.map(|((is_error, code, text), (count, first))| ErrorGroup { is_error, code, text, count, first });
        let mut groups: Vec<_> = groups.collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| (a.first, &a.text).cmp(&(b.first, &b.text))));
        groups.truncate(FREQUENT);
        groups
    }
}

/// All that may explain why a robot was disabled.
struct Evidence<'a> {
    modes: &'a [ModeSpan],
    brownouts: &'a [(Time, Time)],
    estops: Vec<Time>,
    /// When the robot was lost and, if it did, came back.
    losses: Vec<(Time, Option<Time>)>,
    packet_loss: &'a [(Time, f64)],
    lost_reports: &'a [Time],
    code_gone: Vec<Time>,
    code_started: Vec<Time>,
    no_code_reports: &'a [Time],
    watchdog: Vec<Time>,
    fms: Vec<(Time, Time)>,
    /// The match that the log names.
    named: Option<String>,
}

impl<'a> Evidence<'a> {
    fn read(
        known: &NamedChannels<'_>,
        facts: &'a Facts,
        there: &[(Time, Time)],
        packet_loss: &'a [(Time, f64)],
        reports: &'a Reports,
    ) -> Self {
        let end = known.log().robust_range().map_or(Time::MIN, |(_, last)| last);
        let became = |name: &str, to: bool| edges(&known.booleans(name), to);
        let back = there.iter().skip(1).map(|(start, _)| Some(*start)).chain([None]);
        let named = facts.match_.as_ref().filter(|found| found.number.is_some());
        Self {
            modes: &facts.modes,
            brownouts: &facts.brownouts,
            estops: ["/ds/control/estop", "/ds/status/estop"].iter().flat_map(|name| became(name, true)).collect(),
            losses: there
                .iter()
                .zip(back)
                .filter(|((_, lost), _)| *lost < end)
                .map(|((_, lost), back)| (*lost, back))
                .collect(),
            packet_loss,
            lost_reports: &reports.lost,
            code_gone: became("/ds/status/code", false),
            code_started: became("/ds/status/code_start", true),
            no_code_reports: &reports.no_code,
            watchdog: became("/ds/status/watchdog", true),
            fms: spans(&known.booleans("/ds/control/fms_attached"), end),
            named: named.map(|found| format!("{} {}", found.kind.name(), found.number.unwrap_or(0))),
        }
    }

    fn disables(&self) -> Vec<Disable> {
        let ends = self.modes.iter().enumerate().zip(self.modes.iter().skip(1));
        let ends = ends.filter(|((_, span), next)| span.mode.is_enabled() && !next.mode.is_enabled());
        ends.map(|((place, span), _)| {
            let (reason, evidence) = self.reason(place, span);
            Disable { at: span.end, mode: span.mode, reason, evidence }
        })
        .collect()
    }

    fn reason(&self, place: usize, span: &ModeSpan) -> (Reason, String) {
        let at = span.end;
        self.stopped(place, at)
            .map(|text| (Reason::EStop, text))
            .or_else(|| Some((Reason::RobotLost, self.lost(at)?)))
            .or_else(|| Some((Reason::Code, self.code(at)?)))
            .or_else(|| Some((Reason::Brownout, self.brownout(at)?)))
            .or_else(|| {
                Some((
                    Reason::Watchdog,
                    format!("the robot's watchdog tripped {}", nearest(&self.watchdog, at, CAUSE)?),
                ))
            })
            .or_else(|| self.schedule(place, span))
            .unwrap_or_else(|| (Reason::Station, self.by_station(place, at)))
    }

    fn stopped(&self, place: usize, at: Time) -> Option<String> {
        let next = self.modes.get(place + 1).is_some_and(|next| next.mode == Mode::EStop);
        let estop = nearest(&self.estops, at, CAUSE);
        estop
            .or_else(|| next.then(|| "at the same moment".to_owned()))
            .map(|when| format!("the emergency stop came {when}"))
    }

    fn lost(&self, at: Time) -> Option<String> {
        let near = self.losses.iter().filter(|(lost, _)| ABOUT_A_SECOND.contains(&lost.since(at)));
        let Some((lost, back)) = near.min_by_key(|(lost, _)| lost.since(at).unsigned_abs()) else {
            let when = nearest(self.lost_reports, at, ABOUT_A_SECOND)?;
            return Some(format!("the station reported lost communication {when}"));
        };
        let for_how_long = match back {
            Some(back) => format!(", for {}", seconds(back.since(*lost))),
            None => ", and never answered again".to_owned(),
        };
        Some(format!("the robot stopped answering {}{for_how_long}", gap(*lost, at)))
    }

    fn code(&self, at: Time) -> Option<String> {
        let gone = nearest(&self.code_gone, at, ABOUT_A_SECOND).map(|when| format!("the robot code stopped {when}"));
        let started =
            || nearest(&self.code_started, at, ABOUT_A_SECOND).map(|when| format!("the robot code started {when}"));
        let cause = || {
            nearest(self.no_code_reports, at, ABOUT_A_SECOND)
                .map(|when| format!("the station reported no robot code {when}"))
        };
        gone.or_else(started).or_else(cause)
    }

    fn brownout(&self, at: Time) -> Option<String> {
        let near = self.brownouts.iter().filter(|(start, end)| *start <= at.plus(JUST) && *end >= at.plus(-JUST));
        let (start, end) = near.min_by_key(|(start, _)| start.since(at).unsigned_abs())?;
        Some(format!("the robot reported a brownout {}, for {}", gap(*start, at), seconds(end.since(*start))))
    }

    /// What a match does: autonomous, a pause, teleop.
    fn schedule(&self, place: usize, span: &ModeSpan) -> Option<(Reason, String)> {
        let length = |span: &ModeSpan| span.end.since(span.start);
        if span.mode == Mode::Auto {
            let teleop = self.modes.iter().skip(place + 1).find(|next| next.mode.is_enabled())?;
            let pause = teleop.start.since(span.end);
            let fits = teleop.mode == Mode::Teleop && pause <= PAUSE && AUTO.contains(&length(span));
            let text =
                || format!("after {} of autonomous, teleop followed {} later", seconds(length(span)), seconds(pause));
            return fits.then(|| (Reason::EndOfAuto, text()));
        }
        let auto = self.auto_before(place)?;
        if span.mode != Mode::Teleop || !TELEOP.contains(&length(span)) {
            return None;
        }
        let played = if within(&self.fms, span.end) {
            "with the field attached".to_owned()
        } else {
            format!("of {}", self.named.as_ref()?)
        };
        let text =
            format!("after {} of autonomous and {} of teleop {played}", seconds(length(auto)), seconds(length(span)));
        Some((Reason::EndOfMatch, text))
    }

    /// The autonomous period that a teleop period followed.
    fn auto_before(&self, place: usize) -> Option<&ModeSpan> {
        let (span, before) = (self.modes.get(place)?, self.modes.get(..place)?);
        let auto = before.iter().rfind(|span| span.mode.is_enabled()).filter(|span| span.mode == Mode::Auto)?;
        (span.start.since(auto.end) <= PAUSE && AUTO.contains(&auto.end.since(auto.start))).then_some(auto)
    }

    fn by_station(&self, place: usize, at: Time) -> String {
        let practice = self
            .auto_before(place)
            .is_some_and(|_| self.modes.get(place).is_some_and(|span| TELEOP.contains(&span.end.since(span.start))));
        let around = self.packet_loss.iter().filter(|(time, _)| ABOUT_A_SECOND.contains(&time.since(at)));
        let most = around.map(|(_, loss)| *loss).fold(0.0, f64::max);
        let seen = if most >= WORTH_TELLING {
            format!("up to {:.0} % of the packets were lost within a second of it", most * 100.0)
        } else {
            "nothing else explains it".to_owned()
        };
        match (within(&self.fms, at), practice) {
            (true, _) => format!("by the field or the drivers; {seen}"),
            (_, true) => format!("a practice match was over by its lengths; no field was attached; {seen}"),
            _ => seen,
        }
    }
}

/// When the nearest of some moments was, if any lies in a range of nanoseconds around this one.
fn nearest(moments: &[Time], at: Time, range: RangeInclusive<i64>) -> Option<String> {
    let near = moments.iter().filter(|moment| range.contains(&moment.since(at)));
    near.min_by_key(|moment| moment.since(at).unsigned_abs()).map(|nearest| gap(*nearest, at))
}

/// When a moment was, seen from another.
fn gap(moment: Time, at: Time) -> String {
    match moment.since(at) {
        0 => "at the same moment".to_owned(),
        ns if ns < 0 => format!("{} before", seconds(ns.saturating_neg())),
        ns => format!("{} after", seconds(ns)),
    }
}

fn seconds(ns: i64) -> String {
    let seconds = Time::from_nanos(ns).seconds();
    if seconds < 0.9995 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// Channels of which a log with a link has at least one.
const SIGNS: [&str; 6] =
    ["/ds/connected", "/ds/control/enabled", "/ds/trip_time", "/ds/lost", "/ds/packet_loss", "/ds/errors"];
const COUNTERS: [&str; 7] = [
    "/ds/faults/comms",
    "/ds/faults/brownout_12v",
    "/ds/faults/rail_6v",
    "/ds/faults/rail_5v",
    "/ds/faults/rail_3v3",
    "/ds/can/bus_off",
    "/ds/can/tx_full",
];
/// The station's own reports.
const NO_CODE: i64 = 44003;
const LOST: i64 = 44004;
/// What was lost lately is reckoned from so much: 25 packets.
const LATELY: i64 = 500_000_000;
/// A stretch of loss begins here: single packets are lost all the time.
const WORTH_TELLING: f64 = 0.1;
const FREQUENT: usize = 10;
/// The station declares a robot lost after a second, and what it does then takes a packet or two.
const ABOUT_A_SECOND: RangeInclusive<i64> = -1_250_000_000..=1_250_000_000;
/// The cause of a stop comes before the robot stands, or is reported some packets later.
const CAUSE: RangeInclusive<i64> = -500_000_000..=JUST;
const JUST: i64 = 100_000_000;
/// The lengths of the periods of a match, of all seasons since 2006: 15 or 20 s, then 120 to 140 s, with what goes by
/// until everybody has noticed.
const AUTO: RangeInclusive<i64> = 9_500_000_000..=21_500_000_000;
const TELEOP: RangeInclusive<i64> = 118_000_000_000..=152_000_000_000;
/// Between the two the robots stand still for some seconds.
const PAUSE: i64 = 10_000_000_000;

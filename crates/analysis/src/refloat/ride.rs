//! The last ride of a series, as the rules see it.

use logpose_core::Time;
use logpose_refloat::wire::{Adjustment, Footpad};

use super::Options;
use super::explanation::{Evidence, Limit, Line, Origin, Seen, Stop, StopKind, Tone};
use super::rules::Rule;
use super::series::Series;
use super::thresholds::Thresholds;

/// All that is known of one moment of a ride. Numbers are as the log has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) time: Time,
    pub(super) wheelslip: bool,
    pub(super) footpad: Option<Footpad>,
    pub(super) adjustment: Adjustment,
    pub(super) erpm: Option<f64>,
    pub(super) speed: Option<f64>,
    pub(super) duty: Option<f64>,
    pub(super) volts: Option<f64>,
    /// Asked for by the board.
    pub(super) request: Option<f64>,
    /// Given by the motor.
    pub(super) current: Option<f64>,
    /// Out of the battery; computed where the log lacks it.
    pub(super) drain: Option<f64>,
    pub(super) pitch: Option<f64>,
    /// Which of the two pitches that is: moments without one have that of the balance filter.
    pub(super) pitch_id: &'static str,
    pub(super) setpoint: Option<f64>,
    /// By how many degrees the leading end is too low.
    pub(super) error: Option<f64>,
    /// 1 forwards, -1 backwards.
    pub(super) heading: f64,
}

/// The last ride of a series up to where it stopped.
pub(super) struct Ride<'a> {
    pub(super) series: &'a Series,
    pub(super) thresholds: Thresholds,
    /// From the start of the ride, or as far back as a resting level is looked for.
    pub(super) moments: Vec<Moment>,
    /// The place of the first moment that is looked at.
    pub(super) from: usize,
    pub(super) stop: Stop,
    /// Numbers that are none.
    pub(super) no_numbers: Vec<(Time, &'static str)>,
}

/// Moments one after the other of which something is true.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Stretch {
    pub(super) first: usize,
    /// The last one, included.
    pub(super) last: usize,
}

impl<'a> Ride<'a> {
    pub(super) fn new(series: &'a Series, options: &Options) -> Self {
        let thresholds = options.thresholds;
        let order = series.order();
        let running = |place: &usize| series.running.get(*place).copied().unwrap_or(false);
        let end = order.iter().rposition(running);
        let time = |at: usize| order.get(at).and_then(|place| series.times.get(*place)).copied();
        let mut ride = Self {
            series,
            thresholds,
            moments: Vec::new(),
            from: 0,
            stop: Stop {
                time: order.len().checked_sub(1).and_then(time).unwrap_or(Time::ZERO),
                kind: StopKind::NeverRunning,
            },
            no_numbers: Vec::new(),
        };
        let Some(end) = end else { return ride };
        let stop = time(end).unwrap_or(Time::ZERO);
        let before = order.get(..end).unwrap_or_default();
        let start = before.iter().rposition(|place| !running(place)).map_or(0, |off| off + 1);
        let earliest = stop.plus(-nanos(thresholds.rest_s.max(options.seconds)));
        for place in order.get(start..=end).unwrap_or_default() {
            if series.times.get(*place).is_some_and(|time| *time >= earliest) {
                let moment = ride.moment(*place);
                ride.moments.push(moment);
            }
        }
        let window = stop.plus(-nanos(options.seconds.max(LOOKED_AT_S)));
        ride.from = ride.moments.partition_point(|moment| moment.time < window);
        let kind = if end + 1 < order.len() {
            StopKind::Disengaged
        } else if series.is_cut {
            StopKind::StillRunning
        } else if series.is_recording || ride.seen().rate_hz.is_some_and(|rate| rate >= thresholds.loop_hz) {
            StopKind::RecordingEnds
        } else {
            StopKind::StillRunning
        };
        ride.stop = Stop { time: stop, kind };
        ride
    }

    fn moment(&mut self, place: usize) -> Moment {
        let time = self.series.times.get(place).copied().unwrap_or(Time::ZERO);
        let mut number = |id: &'static str| {
            let value = self.series.value(id, place)?;
            if value.is_infinite() || value.abs() >= self.thresholds.no_number {
                self.no_numbers.push((time, id));
                return None;
            }
            (!value.is_nan()).then_some(value)
        };
        let (erpm, speed) = (number("erpm"), number("speed"));
        let (duty, volts) = (number("duty_cycle"), number("batt_voltage").filter(|volts| *volts > 0.0));
        let (request, current) = (number("balance_current"), number("dir_current"));
        let (pitch, balance, setpoint) = (number("pitch"), number("balance_pitch"), number("setpoint"));
        let pitch_id = if pitch.is_some() { "pitch" } else { "balance_pitch" };
        let pitch = pitch.or(balance);
        let heading = if erpm.or(speed).unwrap_or(0.0) < 0.0 { -1.0 } else { 1.0 };
        // A motor current at a duty of one half is half that current out of the battery.
        let computed = || Some(current? * duty?.abs() * heading);
        let drain = number("batt_current").or_else(computed);
        Moment {
            time,
            wheelslip: self.series.wheelslip.get(place).copied().unwrap_or(false),
            footpad: self.series.footpad.get(place).copied().flatten(),
            adjustment: self.series.adjustment.get(place).copied().unwrap_or(Adjustment(0)),
            erpm,
            speed,
            duty,
            volts,
            request,
            current,
            drain,
            pitch,
            pitch_id,
            setpoint,
            error: pitch.zip(setpoint).map(|(pitch, setpoint)| (setpoint - pitch) * heading),
            heading,
        }
    }

    pub(super) fn seen(&self) -> Seen {
        let ends = self.moments.first().zip(self.moments.last());
        let span_ns = ends.map_or(0, |(first, last)| last.time.since(first.time));
        let steps = count(self.moments.len().saturating_sub(1));
        let rate_hz = (span_ns > 0).then(|| steps / seconds(span_ns));
        Seen { samples: self.moments.len(), span_ns, rate_hz }
    }

    pub(super) fn at(&self, place: usize) -> Option<&Moment> {
        self.moments.get(place)
    }

    /// The moments that are looked at, with their places.
    pub(super) fn window(&self) -> impl DoubleEndedIterator<Item = (usize, &Moment)> {
        self.moments.iter().enumerate().skip(self.from)
    }

    /// How long before the stop a moment was.
    pub(super) fn before(&self, moment: &Moment) -> i64 {
        self.stop.time.since(moment.time)
    }

    /// When what is true at a moment was last known to be so: until the next one.
    fn until(&self, place: usize) -> Time {
        self.at(place + 1).or_else(|| self.at(place)).map_or(self.stop.time, |moment| moment.time)
    }

    pub(super) fn lasted(&self, stretch: Stretch) -> i64 {
        self.at(stretch.first).map_or(0, |first| self.until(stretch.last).since(first.time))
    }

    /// The moments of a stretch, with their places.
    pub(super) fn within(&self, stretch: Stretch) -> impl Iterator<Item = (usize, &Moment)> {
        self.moments.iter().enumerate().take(stretch.last.saturating_add(1)).skip(stretch.first)
    }

    /// The stretches of the window in which something is true for at least so many seconds; short breaks do not count.
    /// Where no time is asked for, every moment counts.
    pub(super) fn stretches(&self, least_s: f64, such: impl Fn(&Moment) -> bool) -> Vec<Stretch> {
        let mut found: Vec<Stretch> = Vec::new();
        let mut breaks = 0;
        for (place, moment) in self.window() {
            if !such(moment) {
                breaks += 1;
                continue;
            }
            let joined = found.last_mut().filter(|last| {
                let off = self.moments.get(last.last + 1).map_or(0, |next| moment.time.since(next.time));
                breaks == 0 || least_s > 0.0 && off <= nanos(self.thresholds.break_s)
            });
            match joined {
                Some(last) => last.last = place,
                None => found.push(Stretch { first: place, last: place }),
            }
            breaks = 0;
        }
        found.retain(|stretch| self.lasted(*stretch) >= nanos(least_s) || self.is_slow_sample(*stretch, least_s));
        found
    }

    /// A log of few samples a second has no two within a short time; its last one has no next one either.
    fn is_slow_sample(&self, stretch: Stretch, least_s: f64) -> bool {
        let step = self.seen().rate_hz.map_or(0.0, f64::recip);
        step >= least_s && stretch.last + 1 == self.moments.len()
    }

    /// How fast a moment is, in kilometres an hour.
    pub(super) fn kmh(&self, moment: &Moment) -> Option<f64> {
        let computed = || moment.erpm.map(|erpm| erpm * self.thresholds.kmh_per_erpm);
        Some(moment.speed.or_else(computed)?.abs())
    }

    /// A number of the log as evidence.
    pub(super) fn sample(&self, id: &'static str, moment: &Moment) -> Option<Evidence> {
        let value = match id {
            "erpm" => moment.erpm,
            "speed" => moment.speed,
            "duty_cycle" => moment.duty,
            "batt_voltage" => moment.volts,
            "balance_current" => moment.request,
            "dir_current" => moment.current,
            "setpoint" => moment.setpoint,
            "pitch" => moment.pitch,
            _ => None,
        }?;
        let id = if id == "pitch" { moment.pitch_id } else { id };
        let channel = self.series.values.get(id).map(|values| values.channel.clone()).unwrap_or_default();
        let item = logpose_refloat::items::item(id);
        Some(Evidence {
            name: id,
            value,
            unit: item.and_then(|item| item.unit).map(logpose_files::symbol_of),
            origin: Origin::Sample { channel, time: moment.time },
        })
    }

    /// How fast a moment is, as evidence: what the log has, and in kilometres an hour.
    pub(super) fn speed(&self, moment: &Moment) -> Vec<Evidence> {
        let raw = self.sample("speed", moment).or_else(|| self.sample("erpm", moment));
        let computed = self.kmh(moment).filter(|_| moment.speed.is_none());
        raw.into_iter().chain(computed.map(|kmh| derived("speed", kmh, Some("km/h"), "erpm * kmh_per_erpm"))).collect()
    }

    pub(super) fn line(&self, rule: Rule, at: &Moment, tone: Tone, text: String, evidence: Vec<Evidence>) -> Line {
        Line { rule, time: at.time, before_ns: self.before(at), lasted_ns: None, tone, text, evidence }
    }

    /// Whether a moment is no longer before the stop than so many seconds.
    pub(super) fn matters(&self, place: usize) -> bool {
        self.at(place).is_some_and(|moment| self.before(moment) <= nanos(self.thresholds.matters_s))
    }
}

pub(super) fn derived(name: &'static str, value: f64, unit: Option<&'static str>, how: &'static str) -> Evidence {
    Evidence { name, value, unit, origin: Origin::Derived(how) }
}

pub(super) fn limit(name: &'static str, limit: Limit, unit: Option<&'static str>) -> Evidence {
    Evidence { name, value: limit.value, unit, origin: Origin::Limit(limit.by) }
}

pub(super) fn threshold(name: &'static str, value: f64, unit: Option<&'static str>) -> Evidence {
    Evidence { name, value, unit, origin: Origin::Threshold(name) }
}

/// Seconds as nanoseconds, within what a time holds.
#[expect(clippy::cast_possible_truncation, reason = "a conversion of a float to an integer keeps to its range")]
pub(super) fn nanos(seconds: f64) -> i64 {
    // `i64::MIN` has no negative.
    ((seconds * 1e9).round() as i64).max(-i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "beyond 104 days the nanoseconds do not matter")]
pub(super) fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 samples")]
pub(super) fn count(n: usize) -> f64 {
    n as f64
}

/// Seconds that a conclusion needs at least, however few are reported.
const LOOKED_AT_S: f64 = 10.0;

//! Why it stopped: one conclusion, how sure it is, and what speaks for and against it.

use logpose_refloat::wire::Adjustment;

use super::explanation::{Cause, Certainty, KnownLimits, RanOut, Resource, StopKind, Verdict};
use super::ride::{Moment, Ride, Stretch, nanos};
use super::rules::Findings;
use super::rules::adjustment::Pushback;
use super::rules::pitch::Lost;
use super::words::{amperes, degrees, kmh, percent, time};

pub(super) fn of(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Verdict {
    let case = Case { ride, findings, limits, ran_out: findings.ran_out(ride) };
    case.no_ride()
        .or_else(|| case.too_short())
        .or_else(|| case.fall())
        .or_else(|| case.reverse_stop())
        .or_else(|| case.pads())
        .or_else(|| case.tipped_over())
        .or_else(|| case.quiet())
        .unwrap_or_else(|| case.unknown())
}

struct Case<'a> {
    ride: &'a Ride<'a>,
    findings: &'a Findings,
    limits: &'a KnownLimits,
    ran_out: Vec<RanOut>,
}

impl Case<'_> {
    fn no_ride(&self) -> Option<Verdict> {
        if self.ride.stop.kind != StopKind::NeverRunning {
            return None;
        }
        Some(match self.ride.series.times.len() {
            0 => verdict(Cause::Unknown, Certainty::Sure, "The recording is empty."),
            _ => verdict(Cause::Nothing, Certainty::Sure, "Nothing went wrong: the board was never engaged."),
        })
    }

    fn too_short(&self) -> Option<Verdict> {
        let seen = self.ride.seen();
        if seen.samples >= FEWEST && seen.span_ns >= nanos(self.ride.thresholds.short_recording_s) {
            return None;
        }
        let mut verdict = verdict(Cause::Unknown, Certainty::Sure, "The recording does not show why: it is too short.");
        verdict.pro.push(format!("only {} of the ride, {} samples", time(seen.span_ns), seen.samples));
        Some(verdict)
    }

    /// The balance was lost while somebody rode.
    fn fall(&self) -> Option<Verdict> {
        let lost = self.findings.lost?;
        let onset = self.ride.at(lost.onset)?;
        // A board without a rider falls over by itself.
        let ridden = self.findings.pads.open.is_none_or(|open| open > lost.onset);
        let fast = self.ride.kmh(onset).is_none_or(|kmh| kmh > self.ride.thresholds.walking_kmh);
        if !ridden || !(fast || !self.ran_out.is_empty() && lost.is_dive) {
            return None;
        }
        let mut verdict = match self.first_out() {
            Some(Resource::Grip) => verdict(
                Cause::Wheelslip,
                Certainty::Likely,
                "The wheel lost traction or left the ground, and the board landed out of balance.",
            ),
            _ if !lost.is_dive => return self.fell_back(&lost),
            Some(Resource::Voltage) => {
                verdict(Cause::VoltageSag, Certainty::Likely, "Nosedive: the battery voltage collapsed under load.")
            }
            Some(Resource::Duty) => verdict(
                Cause::DutyLimit,
                Certainty::Likely,
                "Nosedive: the motor was at its top speed and had no torque left to hold you (duty limit).",
            ),
            Some(Resource::Current) => verdict(
                Cause::CurrentLimit,
                Certainty::Likely,
                "Nosedive: the board needed more torque than the motor could deliver (current limit).",
            ),
            None => self.dive_without_reason(&lost),
        };
        self.argue(&mut verdict, &lost);
        Some(verdict)
    }

    /// What ran out first; of what ran out together with it, what explains the others.
    fn first_out(&self) -> Option<Resource> {
        let first = self.ran_out.first()?;
        let together = nanos(self.ride.thresholds.together_s);
        let also =
            |what: Resource| self.ran_out.iter().any(|out| out.what == what && out.time.since(first.time) <= together);
        [Resource::Grip, Resource::Voltage, Resource::Duty, Resource::Current].into_iter().find(|what| also(*what))
    }

    /// Whether the current was at its limit before the motor gave less than asked.
    fn is_limit_first(&self) -> bool {
        let first = |stretches: &[Stretch]| stretches.first().map_or(usize::MAX, |stretch| stretch.first);
        first(&self.findings.current_limit) < first(&self.findings.short)
    }

    fn dive_without_reason(&self, lost: &Lost) -> Verdict {
        let felt = self.felt_before(lost.onset);
        match felt {
            Some(pushback) if pushback.kind != Adjustment::DUTY => {
                let summary = format!(
                    "Nosedive: the board pushed back because of {}, and you kept riding until it could not hold you.",
                    reason(pushback)
                );
                verdict(Cause::PushbackOverridden, Certainty::Possible, &summary)
            }
            _ => verdict(
                Cause::NoseDive,
                Certainty::Possible,
                "Nosedive: the nose dropped, and the recording does not show why.",
            ),
        }
    }

    fn fell_back(&self, lost: &Lost) -> Option<Verdict> {
        let mut verdict = verdict(
            Cause::Unknown,
            Certainty::Possible,
            "The nose rose until the board lost its balance; the recording does not show why.",
        );
        self.argue(&mut verdict, lost);
        Some(verdict)
    }

    /// The last pushback that was felt shortly before a moment.
    fn felt_before(&self, place: usize) -> Option<&Pushback> {
        let at = self.ride.at(place)?;
        let earliest = at.time.plus(-nanos(self.ride.thresholds.cause_s));
        let felt = |pushback: &&Pushback| {
            pushback.is_pushback()
                && pushback.stretch.first <= place
                && self.ride.at(pushback.stretch.last).is_some_and(|last| last.time >= earliest)
                && self.ride.lasted(pushback.stretch) >= nanos(self.ride.thresholds.felt_s)
        };
        self.findings.pushbacks.iter().rfind(felt)
    }

    /// What speaks for and against a fall.
    fn argue(&self, verdict: &mut Verdict, lost: &Lost) {
        let ride = self.ride;
        let (Some(onset), Some(deep)) = (ride.at(lost.onset), ride.at(lost.deep)) else { return };
        let sinks = if lost.is_dive { "too low" } else { "too high" };
        verdict.pro.push(format!(
            "the nose was {} {sinks} {} before the stop",
            degrees(deep.error.unwrap_or(0.0).abs()),
            time(ride.before(deep))
        ));
        for out in &self.ran_out {
            let ahead = onset.time.since(out.time);
            let when = if ahead >= 0 {
                format!("{} before the nose dropped", time(ahead))
            } else {
                format!("{} after the nose started to drop", time(-ahead))
            };
            verdict.pro.push(match out.what {
                Resource::Duty => format!("duty at its limit of {} {when}", percent(self.limits.max_duty.value)),
                Resource::Current => match self.limits.max_current.filter(|_| self.is_limit_first()) {
                    Some(limit) => format!("the current was at its limit of {} {when}", amperes(limit.value)),
                    None => format!("the motor delivered less than requested {when}"),
                },
                Resource::Voltage => match self.findings.sag {
                    Some(sag) => format!("the battery was down by up to {}, from {when}", percent(sag.share)),
                    None => format!("the battery was low {when}"),
                },
                Resource::Grip => format!("the wheel slipped {when}"),
            });
        }
        if let Some(pushback) = self.felt_before(lost.onset) {
            let long = time(ride.lasted(pushback.stretch));
            verdict.pro.push(format!("the board had pushed back for {long} because of {}", reason(pushback)));
        }
        let clear = self.ran_out.first().is_some_and(|out| {
            let alone =
                self.ran_out.get(1).is_none_or(|next| next.time.since(out.time) > nanos(ride.thresholds.together_s));
            out.time <= deep.time && alone
        });
        if let Some(open) = self.findings.pads.open.and_then(|open| ride.at(open)) {
            verdict
                .pro
                .push(format!("the footpads opened only afterwards, {} before the stop", time(ride.before(open))));
        }
        if self.ran_out.len() > 1 && !clear {
            verdict.contra.push("several limits were reached at about the same time".to_owned());
        }
        if ride.seen().rate_hz.is_some_and(|rate| rate < ride.thresholds.loop_hz) {
            verdict.contra.push("low sample rate: the order of events is uncertain".to_owned());
        } else if clear && verdict.certainty == Certainty::Likely {
            verdict.certainty = Certainty::Sure;
        }
        if !self.findings.slips.is_empty() && verdict.cause != Cause::Wheelslip {
            verdict.contra.push("the wheel slipped too".to_owned());
        }
        if self.ran_out.is_empty() {
            verdict.contra.extend(self.room(deep));
        }
    }

    /// What the motor had left at a moment.
    fn room(&self, at: &Moment) -> Vec<String> {
        let duty = at.duty.map(|duty| format!("duty was at {} only", percent(duty.abs())));
        let current = at.request.zip(at.current).map(|(request, current)| {
            format!("the motor delivered {} of the requested {}", amperes(current.abs()), amperes(request.abs()))
        });
        duty.into_iter().chain(current).collect()
    }

    fn reverse_stop(&self) -> Option<Verdict> {
        let last = self.findings.pushbacks.iter().rfind(|pushback| pushback.kind == Adjustment::REVERSE_STOP)?;
        let end = self.ride.at(last.stretch.last)?;
        if self.ride.before(end) > nanos(self.ride.thresholds.cause_s) {
            return None;
        }
        let mut verdict = verdict(
            Cause::ReverseStop,
            Certainty::Sure,
            "Nothing went wrong: the board rolled backwards and stopped itself (reverse stop).",
        );
        verdict.pro.push(format!("reverse stop was active for {}", time(self.ride.lasted(last.stretch))));
        Some(verdict)
    }

    /// The footpads opened.
    fn pads(&self) -> Option<Verdict> {
        let of = &self.ride.thresholds;
        let pads = &self.findings.pads;
        let place = pads.open.or(pads.leaving)?;
        let at = self.ride.at(place)?;
        let speed = self.ride.kmh(at)?;
        let ago = self.ride.before(at);
        if pads.open.is_some() && ago >= nanos(of.ghost_s) && speed > of.walking_kmh {
            let mut verdict =
                verdict(Cause::Ghosting, Certainty::Likely, "The board ran on although the footpads were open.");
            verdict.pro.push(format!("no foot detected for {} at {}", time(ago), kmh(speed)));
            verdict.contra.push("boards configured to ignore open footpads while moving do this on purpose".to_owned());
            return Some(verdict);
        }
        if self.ride.stop.kind == StopKind::StillRunning {
            return None;
        }
        if speed <= of.walking_kmh {
            return Some(self.stepped_off(at, speed));
        }
        // One open pad stops no board that moves.
        let open = self.ride.at(pads.open?)?;
        let certainty = match (pads.flickers.is_empty(), speed >= of.riding_kmh) {
            (false, true) => Certainty::Sure,
            (_, true) => Certainty::Likely,
            _ => Certainty::Possible,
        };
        let mut verdict =
            verdict(Cause::FootpadOpened, certainty, "The footpads opened while you rode, and the board switched off.");
        verdict.pro.push(format!("no foot detected from {} before the stop, at {}", time(ago), kmh(speed)));
        verdict.pro.extend(
            open.error.map(|error| format!("the board was balanced at that time ({} error)", degrees(error.abs()))),
        );
        verdict.pro.extend(open.duty.map(|duty| format!("the motor had headroom (duty {})", percent(duty.abs()))));
        if !pads.flickers.is_empty() {
            verdict.pro.push(format!("the footpads had already opened and closed {} times", pads.flickers.len()));
        }
        verdict.contra.push("jumping off at that speed looks the same".to_owned());
        Some(verdict)
    }

    fn stepped_off(&self, at: &Moment, speed: f64) -> Verdict {
        let of = &self.ride.thresholds;
        let felt = |pushback: &&Pushback| {
            pushback.is_pushback()
                && pushback.kind != Adjustment::DUTY
                && self.ride.lasted(pushback.stretch) >= nanos(of.felt_s)
        };
        let mut verdict = match self.findings.pushbacks.iter().rfind(felt) {
            Some(pushback) => {
                let summary =
                    format!("The board pushed back because of {}, and you stopped and stepped off.", reason(pushback));
                let mut verdict = verdict(Cause::PushbackHeeded, Certainty::Likely, &summary);
                let long = time(self.ride.lasted(pushback.stretch));
                verdict.pro.push(format!("it pushed back for {long}"));
                verdict
            }
            None => verdict(Cause::SteppedOff, Certainty::Sure, "Nothing went wrong: you stepped off."),
        };
        verdict.pro.push(format!(
            "the footpads opened at {}, {} before the stop",
            kmh(speed),
            time(self.ride.before(at))
        ));
        self.close_calls(&mut verdict);
        verdict
    }

    /// What was close although nothing happened.
    fn close_calls(&self, verdict: &mut Verdict) {
        for stretch in &self.findings.duty_limit {
            let Some(at) = self.ride.at(stretch.first) else { continue };
            verdict
                .contra
                .push(format!("duty was at its limit {} before the stop: that was close", time(self.ride.before(at))));
            verdict.certainty = verdict.certainty.min(Certainty::Likely);
        }
    }

    fn tipped_over(&self) -> Option<Verdict> {
        let of = &self.ride.thresholds;
        let at = self.ride.moments.last()?;
        let (speed, pitch) = (self.ride.kmh(at)?, at.pitch?);
        if speed > of.walking_kmh || pitch.abs() < of.tipped_deg || self.ride.stop.kind == StopKind::StillRunning {
            return None;
        }
        let end = if pitch < 0.0 { "nose" } else { "tail" };
        let summary = format!("Nothing went wrong: the board lay down on its {end} at a standstill.");
        let mut verdict = verdict(Cause::TippedOver, Certainty::Likely, &summary);
        verdict.pro.push(format!("pitch {} at {}", degrees(pitch), kmh(speed)));
        Some(verdict)
    }

    /// The log ends in the middle of a ride.
    fn quiet(&self) -> Option<Verdict> {
        let ended = matches!(self.ride.stop.kind, StopKind::StillRunning | StopKind::RecordingEnds);
        if !ended || self.findings.lost.is_some() {
            return None;
        }
        if self.ride.series.is_cut {
            let summary = "The file does not show why: the download is incomplete.";
            return Some(verdict(Cause::Unknown, Certainty::Sure, summary));
        }
        let mut verdict = match self.ride.stop.kind {
            StopKind::StillRunning => {
                verdict(Cause::Nothing, Certainty::Likely, "Nothing went wrong: the log ends while you ride.")
            }
            _ => verdict(
                Cause::Nothing,
                Certainty::Likely,
                "Nothing went wrong: the recording ends in the middle of a ride.",
            ),
        };
        verdict.pro.push("the board kept its balance to the end".to_owned());
        self.close_calls(&mut verdict);
        if self.ride.moments.iter().all(|moment| moment.error.is_none()) {
            verdict.certainty = Certainty::Possible;
            verdict.contra.push("pitch and setpoint are not in the log".to_owned());
        }
        Some(verdict)
    }

    fn unknown(&self) -> Verdict {
        let mut verdict =
            verdict(Cause::Unknown, Certainty::Possible, "The recording does not show why the board disengaged.");
        if let Some(last) = self.ride.moments.last() {
            verdict.pro.extend(self.ride.kmh(last).map(|speed| format!("it was at {}", kmh(speed))));
            verdict.pro.extend(last.error.map(|error| format!("it was {} out of balance", degrees(error.abs()))));
            verdict.pro.extend(last.footpad.map(|pads| format!("footpad state: {}", pads.name())));
        }
        verdict
    }
}

fn verdict(cause: Cause, certainty: Certainty, summary: &str) -> Verdict {
    Verdict { cause, certainty, summary: summary.to_owned(), pro: Vec::new(), contra: Vec::new() }
}

/// Why a board pushes back, as in "because of".
fn reason(pushback: &Pushback) -> String {
    match pushback.kind {
        Adjustment::SPEED => "the speed".to_owned(),
        Adjustment::DUTY => "the duty".to_owned(),
        Adjustment::ERROR => "a BMS error".to_owned(),
        Adjustment::HIGH_VOLTAGE => "high voltage".to_owned(),
        Adjustment::LOW_VOLTAGE => "low voltage".to_owned(),
        Adjustment::TEMPERATURE => "the temperature".to_owned(),
        Adjustment::CENTERING | Adjustment::REVERSE_STOP => pushback.kind.name().into_owned(),
        _ => format!("a reason of its own ({})", pushback.kind.name()),
    }
}

const FEWEST: usize = 4;

//! Why the board leaned otherwise than the rider wanted.

use logpose_refloat::wire::Adjustment;

use super::super::explanation::{KnownLimits, Line, Tone};
use super::super::ride::{Moment, Ride, Stretch, derived, limit};
use super::super::words::{degrees, percent, time, volts};
use super::{Findings, Rule};

/// A setpoint adjustment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Pushback {
    pub(in super::super) kind: Adjustment,
    pub(in super::super) stretch: Stretch,
    /// Where the setpoint was farthest from where it began, and by how many degrees the leading end was lifted there.
    strongest: Option<(usize, f64)>,
}

impl Pushback {
    /// Whether it asks the rider to slow down.
    pub(in super::super) fn is_pushback(&self) -> bool {
        is_pushback(self.kind)
    }
}

/// Whether an adjustment asks the rider to slow down.
pub(in super::super) fn is_pushback(kind: Adjustment) -> bool {
    !matches!(kind, Adjustment::NONE | Adjustment::CENTERING | Adjustment::REVERSE_STOP)
}

/// Why the board leans otherwise than the rider wants.
pub(in super::super) fn words(kind: Adjustment) -> String {
    let known = match kind {
        Adjustment::CENTERING => "the board centers itself after engaging",
        Adjustment::REVERSE_STOP => "the board rolls backwards: reverse stop lifts the tail",
        Adjustment::DUTY => "duty pushback: the motor is close to its top speed",
        Adjustment::SPEED => "speed pushback: faster than the configured limit",
        Adjustment::ERROR => "error pushback: the BMS reports a fault",
        Adjustment::HIGH_VOLTAGE => "high voltage pushback",
        Adjustment::LOW_VOLTAGE => "low voltage pushback",
        Adjustment::TEMPERATURE => "temperature pushback: motor or controller too hot",
        _ => return format!("the setpoint is adjusted ({})", kind.name()),
    };
    known.to_owned()
}

pub(super) fn find(ride: &Ride<'_>) -> Vec<Pushback> {
    let mut kinds: Vec<Adjustment> =
        ride.window().map(|(_, moment)| moment.adjustment).filter(|kind| *kind != Adjustment::NONE).collect();
    kinds.sort_unstable_by_key(|kind| kind.0);
    kinds.dedup();
    let mut found = Vec::new();
    for kind in kinds {
        for stretch in joined(ride, ride.stretches(0.0, |moment| moment.adjustment == kind)) {
            found.push(Pushback { kind, stretch, strongest: strongest(ride, stretch) });
        }
    }
    found.sort_by_key(|pushback| pushback.stretch.first);
    found
}

/// A pushback at its threshold comes and goes: breaks that nobody feels do not count.
fn joined(ride: &Ride<'_>, stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut out: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        let near = |last: &&mut Stretch| {
            let between = Stretch { first: last.last + 1, last: stretch.first.saturating_sub(1) };
            ride.lasted(between) <= super::super::ride::nanos(ride.thresholds.flicker_s)
        };
        match out.last_mut().filter(near) {
            Some(last) => last.last = stretch.last,
            None => out.push(stretch),
        }
    }
    out
}

fn strongest(ride: &Ride<'_>, stretch: Stretch) -> Option<(usize, f64)> {
    let begin = ride.at(stretch.first)?;
    let from = begin.setpoint?;
    let lifted = |moment: &Moment| Some((moment.setpoint? - from) * begin.heading);
    let all = ride.within(stretch).filter_map(|(place, moment)| Some((place, lifted(moment)?)));
    all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Vec<Line> {
    let line_of = |pushback: &Pushback| {
        let at = ride.at(pushback.stretch.first)?;
        let lasted = ride.lasted(pushback.stretch);
        let to_the_end = pushback.stretch.last + 1 == ride.moments.len();
        let long = if to_the_end { "until the stop".to_owned() } else { format!("for {}", time(lasted)) };
        let (mut text, mut evidence) = (words(pushback.kind), Vec::new());
        match pushback.kind {
            Adjustment::DUTY => {
                evidence.extend(ride.sample("duty_cycle", at));
                evidence.push(limit("max_duty", limits.max_duty, None));
            }
            Adjustment::SPEED => evidence.extend(ride.speed(at)),
            Adjustment::HIGH_VOLTAGE | Adjustment::LOW_VOLTAGE => {
                text.extend(at.volts.map(|x| format!(" at {}", volts(x))));
                evidence.extend(ride.sample("batt_voltage", at));
            }
            _ => {}
        }
        if pushback.kind == Adjustment::DUTY {
            text.extend(at.duty.map(|duty| format!(" (duty {})", percent(duty.abs()))));
        }
        text = format!("{text}, {long}");
        if let Some((place, lifted)) = pushback.strongest
            && let Some(most) = ride.at(place)
        {
            let end = if lifted < 0.0 { "lowered" } else { "lifted" };
            if pushback.is_pushback() {
                text = format!("{text}; nose {end} by {}", degrees(lifted.abs()));
            }
            evidence.extend(ride.sample("setpoint", at));
            evidence.extend(ride.sample("setpoint", most));
            evidence.push(derived("lifted", lifted, Some("°"), "setpoint at the strongest less setpoint at the begin"));
        }
        let tone = if pushback.is_pushback() { Tone::Notable } else { Tone::Calm };
        Some(Line { lasted_ns: Some(lasted), ..ride.line(Rule::Adjustment, at, tone, text, evidence) })
    };
    findings.pushbacks.iter().filter_map(line_of).collect()
}

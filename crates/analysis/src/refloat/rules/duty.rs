//! How close the motor was to the fastest it can turn.

use logpose_refloat::wire::Adjustment;

use super::super::explanation::{KnownLimits, Line, Tone};
use super::super::ride::{Moment, Ride, Stretch, derived, limit, threshold};
use super::super::words::{percent, time};
use super::{Findings, Rule};

pub(super) fn high(ride: &Ride<'_>, limits: &KnownLimits) -> Vec<Stretch> {
    ride.stretches(ride.thresholds.duty_high_s, above(limits.pushback_duty.value))
}

pub(super) fn at_limit(ride: &Ride<'_>, limits: &KnownLimits) -> Vec<Stretch> {
    ride.stretches(ride.thresholds.duty_limit_s, above(limits.max_duty.value - ride.thresholds.duty_margin))
}

fn above(min: f64) -> impl Fn(&Moment) -> bool {
    move |moment| moment.duty.is_some_and(|duty| duty.abs() >= min)
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Vec<Line> {
    let mut lines = Vec::new();
    // The line of the pushback, or that of the limit, says more.
    let pushbacks = findings.pushbacks.iter().filter(|pushback| pushback.kind == Adjustment::DUTY);
    let reported: Vec<Stretch> =
        pushbacks.map(|pushback| pushback.stretch).chain(findings.duty_limit.clone()).collect();
    let is_reported = |of: &Stretch| reported.iter().any(|by| by.first <= of.last && of.first <= by.last);
    for stretch in &findings.duty_high {
        if is_reported(stretch) {
            continue;
        }
        let Some((at, most)) = ends(ride, *stretch) else { continue };
        let peak = most.duty.unwrap_or(0.0).abs();
        let room = limits.max_duty.value - peak;
        let text = format!(
            "duty above {} for {}, up to {}: {} left",
            percent(limits.pushback_duty.value),
            time(ride.lasted(*stretch)),
            percent(peak),
            percent(room.max(0.0))
        );
        let mut evidence: Vec<_> = ride.sample("duty_cycle", most).into_iter().collect();
        evidence.push(limit("pushback_duty", limits.pushback_duty, None));
        evidence.push(limit("max_duty", limits.max_duty, None));
        evidence.push(derived("headroom", room, None, "max_duty less duty_cycle"));
        let line = ride.line(Rule::DutyHigh, at, Tone::Notable, text, evidence);
        lines.push(Line { lasted_ns: Some(ride.lasted(*stretch)), ..line });
    }
    for stretch in &findings.duty_limit {
        let Some((at, most)) = ends(ride, *stretch) else { continue };
        let text = format!(
            "duty at its limit for {}: {} of {}, the motor cannot turn faster",
            time(ride.lasted(*stretch)),
            percent(most.duty.unwrap_or(0.0).abs()),
            percent(limits.max_duty.value)
        );
        let mut evidence: Vec<_> = ride.sample("duty_cycle", at).into_iter().collect();
        evidence.extend(ride.sample("duty_cycle", most));
        evidence.push(limit("max_duty", limits.max_duty, None));
        evidence.push(threshold("duty_margin", ride.thresholds.duty_margin, None));
        evidence.extend(ride.speed(at));
        let line = ride.line(Rule::DutyLimit, at, Tone::Bad, text, evidence);
        lines.push(Line { lasted_ns: Some(ride.lasted(*stretch)), ..line });
    }
    lines
}

/// The first moment, and that of the highest duty.
fn ends<'a>(ride: &'a Ride<'_>, stretch: Stretch) -> Option<(&'a Moment, &'a Moment)> {
    let duty = |moment: &Moment| moment.duty.unwrap_or(0.0).abs();
    let most = ride.within(stretch).max_by(|a, b| duty(a.1).total_cmp(&duty(b.1)))?;
    Some((ride.at(stretch.first)?, most.1))
}

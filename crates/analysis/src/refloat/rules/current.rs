//! What the board asked of the motor, and what it got.

use super::super::explanation::{KnownLimits, LimitBy, Line, Tone};
use super::super::ride::{Moment, Ride, Stretch, derived, limit, nanos, threshold};
use super::super::words::{amperes, time};
use super::{Findings, Rule};

/// By how much less than requested the motor gives.
fn missing(moment: &Moment) -> Option<f64> {
    let (request, current) = (moment.request?, moment.current?);
    Some((request - current) * request.signum())
}

pub(super) fn short(ride: &Ride<'_>) -> Vec<Stretch> {
    let of = &ride.thresholds;
    ride.stretches(of.short_s, |moment| {
        let request = moment.request.unwrap_or(0.0).abs();
        let min = of.short_a.max(of.short_share * request);
        request >= of.request_a && missing(moment).is_some_and(|missing| missing >= min)
    })
}

/// Where the request rests at its max: the board may not ask for more.
pub(in super::super) fn cut_off(ride: &Ride<'_>) -> Option<f64> {
    let of = &ride.thresholds;
    let requests = || ride.moments.iter().filter_map(|moment| moment.request).map(f64::abs);
    let most = requests().max_by(f64::total_cmp).filter(|most| *most >= of.plateau_a)?;
    let min = most * (1.0 - of.plateau_share);
    let resting = |moment: &Moment| moment.request.is_some_and(|request| request.abs() >= min);
    // Two samples are equal by chance now and then.
    let plateaus = ride.stretches(0.0, resting).into_iter().filter(|stretch| stretch.last - stretch.first >= 2);
    let longest = plateaus.map(|stretch| ride.lasted(stretch)).max()?;
    (longest >= nanos(of.plateau_s)).then_some(most)
}

pub(super) fn at_limit(ride: &Ride<'_>, limits: &KnownLimits) -> Vec<Stretch> {
    let Some(most) = limits.max_current else { return Vec::new() };
    let of = &ride.thresholds;
    ride.stretches(of.short_s, |moment| match most.by {
        LimitBy::Seen => moment.request.is_some_and(|request| request.abs() >= most.value * (1.0 - of.plateau_share)),
        _ => moment.current.is_some_and(|current| current.abs() >= most.value * of.current_limit_share),
    })
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Vec<Line> {
    let mut lines: Vec<Line> = findings.short.iter().filter_map(|stretch| tell_short(ride, *stretch)).collect();
    let Some(most) = limits.max_current else { return lines };
    for stretch in &findings.current_limit {
        let Some(at) = ride.at(stretch.first) else { continue };
        let long = time(ride.lasted(*stretch));
        let text = match most.by {
            LimitBy::Seen => format!("requested current at its maximum of {} for {long}", amperes(most.value)),
            _ => format!("current at its limit of {} for {long}", amperes(most.value)),
        };
        let mut evidence: Vec<_> = ride.sample("balance_current", at).into_iter().collect();
        evidence.extend(ride.sample("dir_current", at));
        evidence.push(limit("max_current", most, Some("A")));
        let line = ride.line(Rule::CurrentLimit, at, Tone::Notable, text, evidence);
        lines.push(Line { lasted_ns: Some(ride.lasted(*stretch)), ..line });
    }
    lines
}

fn tell_short(ride: &Ride<'_>, stretch: Stretch) -> Option<Line> {
    let at = ride.at(stretch.first)?;
    let lacks = |moment: &Moment| missing(moment).unwrap_or(0.0);
    let (_, worst) = ride.within(stretch).max_by(|a, b| lacks(a.1).total_cmp(&lacks(b.1)))?;
    let lasted = ride.lasted(stretch);
    let text = format!(
        "the motor delivers less current than requested for {}: {} of {}",
        time(lasted),
        amperes(worst.current? * worst.request?.signum()),
        amperes(worst.request?.abs())
    );
    let mut evidence: Vec<_> = ride.sample("balance_current", worst).into_iter().collect();
    evidence.extend(ride.sample("dir_current", worst));
    evidence.push(derived("missing", lacks(worst), Some("A"), "balance_current less dir_current, as requested"));
    evidence.push(threshold("short_a", ride.thresholds.short_a, Some("A")));
    evidence.push(threshold("short_share", ride.thresholds.short_share, None));
    let line = ride.line(Rule::CurrentShort, at, Tone::Bad, text, evidence);
    Some(Line { lasted_ns: Some(lasted), ..line })
}

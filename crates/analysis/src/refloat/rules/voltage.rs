//! How the battery held up.

use super::super::explanation::{KnownLimits, LimitBy, Line, Tone};
use super::super::ride::{Moment, Ride, Stretch, derived, limit, threshold};
use super::super::words::{percent, time, volts};
use super::{Findings, Rule};

/// How far the voltage dropped from its resting level.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sag {
    /// The place that stands for the resting level.
    pub(super) rest: usize,
    /// The place of the lowest voltage.
    pub(super) low: usize,
    /// The drop as a share of the resting level.
    pub(in super::super) share: f64,
    /// Since when the drop is as deep as that of a battery that gives in.
    pub(in super::super) deep: Option<usize>,
    /// The apparent resistance of the battery, in ohms.
    pub(super) ohms: Option<f64>,
}

impl Sag {
    pub(super) fn of(ride: &Ride<'_>) -> Option<Self> {
        let volts = |moment: &Moment| moment.volts;
        let known = ride.window().filter_map(|(place, moment)| Some((place, moment, volts(moment)?)));
        let (low, lowest, min) = known.min_by(|a, b| a.2.total_cmp(&b.2))?;
        let (rest, resting) = resting(ride, low)?;
        let level = volts(resting)?;
        let share = (level - min) / level;
        let is_deep =
            |moment: &Moment| volts(moment).is_some_and(|x| (level - x) / level >= ride.thresholds.deep_sag_share);
        let deep = ride.stretches(ride.thresholds.duty_limit_s, is_deep);
        let more = lowest.drain.zip(resting.drain).map(|(low, rest)| low - rest);
        let ohms = more.filter(|more| *more >= ride.thresholds.resistance_a).map(|more| (level - min) / more);
        let deep = deep.iter().find(|stretch| ride.matters(stretch.last)).map(|stretch| stretch.first);
        Some(Self { rest, low, share, deep, ohms: ohms.filter(|ohms| *ohms > 0.0) })
    }
}

/// The middle of the voltages at the quarter of moments before the lowest with the lowest current; without
/// currents, of the highest ones.
fn resting<'a>(ride: &'a Ride<'_>, low: usize) -> Option<(usize, &'a Moment)> {
    let before = ride.moments.iter().enumerate().take(low + 1);
    let mut quiet: Vec<(usize, &Moment)> = before.filter(|(_, moment)| moment.volts.is_some()).collect();
    let volts = |moment: &Moment| moment.volts.unwrap_or(0.0);
    let known = quiet.iter().any(|(_, moment)| moment.drain.is_some());
    quiet.sort_by(|(_, a), (_, b)| {
        let drain = |moment: &Moment| moment.drain.map_or(f64::INFINITY, f64::abs);
        if known { drain(a).total_cmp(&drain(b)) } else { volts(b).total_cmp(&volts(a)) }
    });
    quiet.truncate(quiet.len().div_ceil(4));
    quiet.sort_by(|(_, a), (_, b)| volts(a).total_cmp(&volts(b)));
    quiet.get(quiet.len() / 2).copied()
}

pub(super) fn low(ride: &Ride<'_>, limits: &KnownLimits) -> Vec<Stretch> {
    let Some(threshold) = limits.low_voltage else { return Vec::new() };
    ride.stretches(ride.thresholds.duty_limit_s, |moment| moment.volts.is_some_and(|volts| volts <= threshold.value))
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Vec<Line> {
    let mut lines = Vec::new();
    lines.extend(findings.sag.as_ref().and_then(|sag| tell_sag(ride, sag)));
    // Where the board pushed back, that is reported already.
    let Some(given) = limits.low_voltage.filter(|limit| limit.by == LimitBy::Given) else { return lines };
    for stretch in &findings.low {
        let Some(at) = ride.at(stretch.first) else { continue };
        let long = time(ride.lasted(*stretch));
        let text = format!("battery below {} for {long}, where the board pushes back", volts(given.value));
        let mut evidence: Vec<_> = ride.sample("batt_voltage", at).into_iter().collect();
        evidence.push(limit("low_voltage", given, Some("V")));
        let line = ride.line(Rule::VoltageLow, at, Tone::Notable, text, evidence);
        lines.push(Line { lasted_ns: Some(ride.lasted(*stretch)), ..line });
    }
    lines
}

fn tell_sag(ride: &Ride<'_>, sag: &Sag) -> Option<Line> {
    if sag.share < ride.thresholds.sag_share {
        return None;
    }
    let (rest, low) = (ride.at(sag.rest)?, ride.at(sag.low)?);
    let (level, min) = (rest.volts?, low.volts?);
    let mut text =
        format!("battery sags to {}, {} below its resting voltage of {}", volts(min), percent(sag.share), volts(level));
    text.extend(sag.ohms.map(|ohms| format!(" ({:.0} mV/A)", ohms * 1e3)));
    let mut evidence: Vec<_> = ride.sample("batt_voltage", rest).into_iter().collect();
    evidence.extend(ride.sample("batt_voltage", low));
    evidence.push(derived("drop", level - min, Some("V"), "resting batt_voltage less the lowest one"));
    evidence.push(derived("drop_share", sag.share, None, "the drop as a share of the resting batt_voltage"));
    evidence.extend(low.drain.map(|drain| derived("battery_current", drain, Some("A"), DRAIN)));
    evidence.extend(sag.ohms.map(|ohms| derived("resistance", ohms, Some("ohm"), "drop by battery_current")));
    let name = if sag.deep.is_some() { "deep_sag_share" } else { "sag_share" };
    let share = if sag.deep.is_some() { ride.thresholds.deep_sag_share } else { ride.thresholds.sag_share };
    evidence.push(threshold(name, share, None));
    let tone = if sag.deep.is_some() { Tone::Bad } else { Tone::Calm };
    Some(ride.line(Rule::VoltageSag, low, tone, text, evidence))
}

const DRAIN: &str = "batt_current, or dir_current times duty_cycle";

//! The stop itself, and what the log lacks.

use super::super::explanation::{Line, StopKind, Tone};
use super::super::ride::{Ride, derived, seconds, threshold};
use super::super::words::{degrees, kmh, time};
use super::Rule;

pub(super) fn lines(ride: &Ride<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = stop(ride).into_iter().collect();
    lines.extend(no_numbers(ride));
    lines.extend(gap(ride));
    lines
}

fn stop(ride: &Ride<'_>) -> Option<Line> {
    let at = ride.moments.last()?;
    let mut text = match ride.stop.kind {
        StopKind::Disengaged => "the board disengages",
        StopKind::RecordingEnds => "the recording ends, as it does when the board disengages",
        StopKind::StillRunning | StopKind::NeverRunning => "the log ends, the board still engaged",
    }
    .to_owned();
    text.extend(ride.kmh(at).map(|speed| format!(", at {}", kmh(speed))));
    if let Some(error) = at.error.filter(|error| error.abs() >= ride.thresholds.error_onset_deg) {
        let end = if error > 0.0 { "low" } else { "high" };
        text = format!("{text}, nose {} too {end}", degrees(error.abs()));
    }
    let mut evidence = ride.speed(at);
    for id in ["pitch", "setpoint", "duty_cycle", "batt_voltage"] {
        evidence.extend(ride.sample(id, at));
    }
    Some(ride.line(Rule::Stop, at, Tone::Calm, text, evidence))
}

fn no_numbers(ride: &Ride<'_>) -> Option<Line> {
    let start = ride.at(ride.from)?;
    let (time, id) = ride.no_numbers.iter().find(|(time, _)| *time >= start.time)?;
    let times = ride.no_numbers.iter().filter(|(time, _)| *time >= start.time).count();
    let at = ride.moments.iter().find(|moment| moment.time == *time)?;
    let text = format!("{id} is not a number {times} times: overflow, infinite or missing on the board");
    let evidence = vec![
        derived("times", super::super::ride::count(times), None, "values of no_number or more, or infinite"),
        threshold("no_number", ride.thresholds.no_number, None),
    ];
    Some(ride.line(Rule::NoNumber, at, Tone::Notable, text, evidence))
}

/// The longest gap, if there is any.
fn gap(ride: &Ride<'_>) -> Option<Line> {
    let pairs = ride.window().zip(ride.window().skip(1));
    let steps: Vec<_> = pairs.map(|((_, before), (_, at))| (at.time.since(before.time), before)).collect();
    let mut sorted: Vec<i64> = steps.iter().map(|(step, _)| *step).collect();
    sorted.sort_unstable();
    let usual = *sorted.get(sorted.len() / 2)?;
    let (longest, at) = steps.into_iter().max_by_key(|(step, _)| *step)?;
    if usual <= 0 || seconds(longest) < seconds(usual) * ride.thresholds.gap_steps {
        return None;
    }
    let text = format!("gap of {} in the recording", time(longest));
    let evidence = vec![
        derived("gap", seconds(longest), Some("s"), "the longest step between two samples"),
        derived("step", seconds(usual), Some("s"), "the usual step between two samples"),
        threshold("gap_steps", ride.thresholds.gap_steps, None),
    ];
    let line = ride.line(Rule::Gap, at, Tone::Notable, text, evidence);
    Some(Line { lasted_ns: Some(longest), ..line })
}

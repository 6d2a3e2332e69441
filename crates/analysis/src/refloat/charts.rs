//! What the last seconds looked like.

use logpose_core::Time;

use super::explanation::Chart;
use super::ride::{Moment, Ride};

pub(super) fn of(ride: &Ride<'_>, from: Time) -> Vec<Chart> {
    let farthest = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
    let charts = [
        chart(ride, from, "duty", "%", |at| at.duty.map(|duty| duty.abs() * 100.0), f64::max),
        chart(ride, from, "nose too low", "°", |at| at.error, farthest),
        chart(ride, from, "battery", "V", |at| at.volts, f64::min),
        chart(ride, from, "speed", "km/h", |at| ride.kmh(at), f64::max),
    ];
    charts.into_iter().flatten().collect()
}

fn chart(
    ride: &Ride<'_>,
    from: Time,
    name: &'static str,
    unit: &'static str,
    value: impl Fn(&Moment) -> Option<f64>,
    worse: impl Fn(f64, f64) -> f64,
) -> Option<Chart> {
    let shown = || ride.moments.iter().filter(|moment| moment.time >= from);
    let first = shown().next()?;
    // Each has a sample, in a log that is even.
    let cells = shown().count().min(CELLS);
    let span = i128::from(ride.stop.time.since(first.time)).max(1);
    let cell = |time: Time| {
        let cell = i128::from(time.since(first.time)) * cells as i128 / span;
        usize::try_from(cell).unwrap_or(0).min(cells.saturating_sub(1))
    };
    let mut values = vec![None; cells];
    for moment in shown() {
        let Some(x) = value(moment) else { continue };
        if let Some(slot) = values.get_mut(cell(moment.time)) {
            *slot = Some(slot.map_or(x, |y| worse(y, x)));
        }
    }
    let any = values.iter().any(Option::is_some);
    any.then_some(Chart { name, unit, values, from: first.time })
}

const CELLS: usize = 48;

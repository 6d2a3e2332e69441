//! Whether the wheel slipped.

use super::super::explanation::{Line, Tone};
use super::super::ride::{Ride, Stretch};
use super::super::words::time;
use super::Rule;

pub(super) fn find(ride: &Ride<'_>) -> Vec<Stretch> {
    ride.stretches(0.0, |moment| moment.wheelslip)
}

pub(super) fn lines(ride: &Ride<'_>, slips: &[Stretch]) -> Vec<Line> {
    let line_of = |stretch: &Stretch| {
        let at = ride.at(stretch.first)?;
        let lasted = ride.lasted(*stretch);
        let speed = |place: &(usize, &super::super::ride::Moment)| ride.kmh(place.1).unwrap_or(0.0);
        let most = ride.within(*stretch).max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let text = format!("wheelslip or in the air, for {}", time(lasted));
        let mut evidence = ride.speed(at);
        evidence.extend(most.into_iter().flat_map(|(_, most)| ride.speed(most)));
        let line = ride.line(Rule::Wheelslip, at, Tone::Notable, text, evidence);
        Some(Line { lasted_ns: Some(lasted), ..line })
    };
    slips.iter().filter_map(line_of).collect()
}

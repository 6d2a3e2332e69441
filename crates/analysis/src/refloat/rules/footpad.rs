//! Which footpads were pressed.

use logpose_refloat::wire::Footpad;

use super::super::explanation::{Line, Tone};
use super::super::ride::{Moment, Ride, Stretch, derived, nanos, threshold};
use super::super::words::{kmh, time};
use super::{Findings, Rule};

/// How the footpads changed.
#[derive(Clone, Debug)]
pub(in super::super) struct Pads {
    /// The places at which they differ from what they were before.
    pub(super) changes: Vec<usize>,
    /// Where they were open and closed again while riding.
    pub(in super::super) flickers: Vec<Stretch>,
    /// Since when they are open at the stop.
    pub(in super::super) open: Option<usize>,
    /// Since when fewer than both are pressed at the stop, where both were before.
    pub(in super::super) leaving: Option<usize>,
}

impl Pads {
    pub(super) fn of(ride: &Ride<'_>) -> Self {
        let pairs = ride.window().zip(ride.window().skip(1));
        let differs = |(before, at): &((usize, &Moment), (usize, &Moment))| match (before.1.footpad, at.1.footpad) {
            (Some(before), Some(at)) => before != at,
            _ => false,
        };
        let changes: Vec<usize> = pairs.filter(differs).map(|(_, (place, _))| place).collect();
        let end = ride.moments.len().saturating_sub(1);
        let since = |such: &dyn Fn(Footpad) -> bool| {
            let is = |moment: &Moment| moment.footpad.is_some_and(such);
            let last = ride.at(end).filter(|moment| is(moment))?;
            let off = ride.moments.iter().rposition(|moment| !is(moment));
            let first = off.map_or(0, |off| off + 1);
            last.footpad.map(|_| first)
        };
        let open_for = |stretch: &Stretch| {
            let fast = ride.at(stretch.first).and_then(|at| ride.kmh(at));
            stretch.last < end
                && ride.lasted(*stretch) <= nanos(ride.thresholds.flicker_s)
                && fast.is_some_and(|kmh| kmh > ride.thresholds.walking_kmh)
        };
        let is_open = |moment: &Moment| moment.footpad == Some(Footpad::None);
        let flickers = ride.stretches(0.0, is_open).into_iter().filter(open_for).collect();
        Self {
            changes,
            flickers,
            open: since(&|pad| pad == Footpad::None),
            leaving: since(&|pad| pad != Footpad::Both).filter(|first| *first > 0),
        }
    }
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings) -> Vec<Line> {
    let pads = &findings.pads;
    let mut lines: Vec<Line> = Vec::new();
    let shown = if pads.changes.len() > MANY { SHOWN } else { MANY };
    let (first, rest) = pads.changes.split_at_checked(shown).unwrap_or((&pads.changes, &[]));
    let last = rest.split_at_checked(rest.len().saturating_sub(shown)).map_or(rest, |(_, last)| last);
    lines.extend(first.iter().chain(last).filter_map(|place| change(ride, *place)));
    if let Some(flicker) = pads.flickers.first().and_then(|stretch| ride.at(stretch.first)) {
        let times = pads.flickers.len();
        let word = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let text = format!("the footpads open and close again {word} while riding");
        let mut evidence = vec![derived(
            "times",
            super::super::ride::count(times),
            None,
            "stretches of open footpads that end before the stop",
        )];
        evidence.push(threshold("flicker_s", ride.thresholds.flicker_s, Some("s")));
        evidence.extend(ride.speed(flicker));
        lines.push(ride.line(Rule::FootpadFlicker, flicker, Tone::Notable, text, evidence));
    }
    lines
}

fn change(ride: &Ride<'_>, place: usize) -> Option<Line> {
    let at = ride.at(place)?;
    let before = ride.at(place.checked_sub(1)?)?.footpad?;
    let speed = ride.kmh(at);
    let fast = speed.is_some_and(|kmh| kmh > ride.thresholds.walking_kmh);
    let now = at.footpad?;
    let next = ride.moments.iter().enumerate().skip(place).find(|(_, moment)| moment.footpad != Some(now));
    let lasted = next.map(|(_, next)| next.time.since(at.time));
    let (mut text, tone) = match (before, now) {
        (_, Footpad::None) => {
            ("the footpads open: no foot detected".to_owned(), if fast { Tone::Bad } else { Tone::Calm })
        }
        (_, Footpad::Both) => ("both footpads are pressed".to_owned(), Tone::Calm),
        (_, one) => {
            (format!("only the {} footpad is pressed", one.name()), if fast { Tone::Notable } else { Tone::Calm })
        }
    };
    text.extend(speed.map(|speed| format!(", at {}", kmh(speed))));
    if now != Footpad::Both {
        text.extend(lasted.map(|ns| format!(", for {}", time(ns))));
    }
    let mut evidence = ride.speed(at);
    evidence.push(threshold("walking_kmh", ride.thresholds.walking_kmh, Some("km/h")));
    Some(Line { lasted_ns: lasted, ..ride.line(Rule::Footpad, at, tone, text, evidence) })
}

/// More changes than this are not reported one by one,
const MANY: usize = 8;
/// but these at either end.
const SHOWN: usize = 3;

//! Whether the board held its rider.

use super::super::explanation::{Evidence, Line, Tone};
use super::super::ride::{Moment, Ride, derived, nanos, threshold};
use super::super::words::{degrees, kmh, time};
use super::{Findings, Rule};

/// How the balance was lost.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Lost {
    /// The last moment at which all was well.
    pub(in super::super) onset: usize,
    /// The first moment at which it was lost.
    pub(in super::super) deep: usize,
    /// The moment of the largest error up to the stop.
    pub(in super::super) worst: usize,
    /// Whether the leading end went down; else it went up.
    pub(in super::super) is_dive: bool,
}

impl Lost {
    /// The last time that the balance was lost shortly before the stop.
    pub(super) fn of(ride: &Ride<'_>) -> Option<Self> {
        let of = &ride.thresholds;
        let found = |sign: f64| {
            let lost = |moment: &Moment| moment.error.is_some_and(|error| error * sign >= of.error_lost_deg);
            let stretches = ride.stretches(of.error_lost_s, lost);
            stretches.into_iter().rfind(|stretch| ride.matters(stretch.last)).map(|stretch| (stretch, sign))
        };
        // What came first led to the other: a board that dives comes up again, and one that lands hard dives.
        let (stretch, sign) =
            [found(1.0), found(-1.0)].into_iter().flatten().min_by_key(|(stretch, _)| stretch.first)?;
        let well = |moment: &Moment| moment.error.is_some_and(|error| error.abs() < of.error_onset_deg);
        let before = ride.moments.get(..stretch.first).unwrap_or_default();
        let onset = before.iter().rposition(well).unwrap_or(0).max(ride.from);
        let error = |moment: &Moment| moment.error.unwrap_or(0.0) * sign;
        let after = ride.moments.iter().enumerate().skip(stretch.first);
        let worst = after.max_by(|a, b| error(a.1).total_cmp(&error(b.1)))?.0;
        Some(Self { onset, deep: stretch.first, worst, is_dive: sign > 0.0 })
    }
}

pub(super) fn lines(ride: &Ride<'_>, findings: &Findings) -> Vec<Line> {
    findings.lost.as_ref().and_then(|lost| tell_lost(ride, lost)).into_iter().collect()
}

fn tell_lost(ride: &Ride<'_>, lost: &Lost) -> Option<Line> {
    let (onset, deep, worst) = (ride.at(lost.onset)?, ride.at(lost.deep)?, ride.at(lost.worst)?);
    let end = if lost.is_dive { "the nose sinks" } else { "the nose rises" };
    let grown = time(deep.time.since(onset.time));
    let mut text = format!("{end} beyond control: {} error within {grown}", degrees(deep.error?.abs()));
    if lost.worst != lost.deep {
        text = format!("{text}, {} at the end", degrees(worst.error?.abs()));
    }
    text.extend(ride.kmh(onset).map(|speed| format!(", at {}", kmh(speed))));
    let mut evidence: Vec<Evidence> = Vec::new();
    for moment in [onset, deep, worst] {
        evidence.extend(ride.sample("pitch", moment));
        evidence.extend(ride.sample("setpoint", moment));
        evidence.extend(moment.error.map(|error| derived("pitch_error", error, Some("°"), ERROR)));
    }
    evidence.push(threshold("error_onset_deg", ride.thresholds.error_onset_deg, Some("°")));
    evidence.push(threshold("error_lost_deg", ride.thresholds.error_lost_deg, Some("°")));
    evidence.extend(ride.speed(onset));
    let tone =
        if ride.kmh(onset).is_some_and(|kmh| kmh > ride.thresholds.walking_kmh) { Tone::Bad } else { Tone::Calm };
    let line = ride.line(Rule::PitchError, onset, tone, text, evidence);
    let lasted = ride.before(onset).min(nanos(3600.0));
    Some(Line { lasted_ns: Some(lasted), ..line })
}

const ERROR: &str = "setpoint less pitch, in the direction of travel";

//! What is looked for, one file for each kind of thing.

pub(super) mod adjustment;
pub(super) mod current;
mod duty;
mod ends;
pub(super) mod footpad;
pub(super) mod pitch;
pub(super) mod voltage;
mod wheelslip;

use super::explanation::{KnownLimits, Line, RanOut, Resource};
use super::ride::{Ride, Stretch};
use adjustment::Pushback;
use footpad::Pads;
use pitch::Lost;
use voltage::Sag;

/// A rule; docs/refloat-explain.md has all of them with their thresholds.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// The board leans for a reason of its own.
    Adjustment,
    /// A footpad opens or closes.
    Footpad,
    /// The footpads open and close again while riding.
    FootpadFlicker,
    /// The wheel slips.
    Wheelslip,
    /// The duty is above the pushback threshold.
    DutyHigh,
    /// The duty is at its limit.
    DutyLimit,
    /// The motor gives less current than requested.
    CurrentShort,
    /// The current is at its limit.
    CurrentLimit,
    /// The voltage drops from its resting level.
    VoltageSag,
    /// The voltage is below where the board pushes back.
    VoltageLow,
    /// The pitch error grows until the balance is lost.
    PitchError,
    /// The board disengages, or the log ends.
    Stop,
    /// Numbers that are none.
    NoNumber,
    /// Samples are missing.
    Gap,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Adjustment,
        Self::Footpad,
        Self::FootpadFlicker,
        Self::Wheelslip,
        Self::DutyHigh,
        Self::DutyLimit,
        Self::CurrentShort,
        Self::CurrentLimit,
        Self::VoltageSag,
        Self::VoltageLow,
        Self::PitchError,
        Self::Stop,
        Self::NoNumber,
        Self::Gap,
    ];

    /// Its id, the same in every release.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Adjustment => "setpoint.adjustment",
            Self::Footpad => "footpad.change",
            Self::FootpadFlicker => "footpad.flicker",
            Self::Wheelslip => "wheelslip",
            Self::DutyHigh => "duty.high",
            Self::DutyLimit => "duty.limit",
            Self::CurrentShort => "current.short",
            Self::CurrentLimit => "current.limit",
            Self::VoltageSag => "voltage.sag",
            Self::VoltageLow => "voltage.low",
            Self::PitchError => "pitch.error",
            Self::Stop => "stop",
            Self::NoNumber => "no-number",
            Self::Gap => "gap",
        }
    }
}

/// What was found, before it is put into words.
pub(super) struct Findings {
    pub(super) pushbacks: Vec<Pushback>,
    pub(super) pads: Pads,
    pub(super) slips: Vec<Stretch>,
    pub(super) duty_high: Vec<Stretch>,
    pub(super) duty_limit: Vec<Stretch>,
    pub(super) short: Vec<Stretch>,
    pub(super) current_limit: Vec<Stretch>,
    pub(super) sag: Option<Sag>,
    pub(super) low: Vec<Stretch>,
    pub(super) lost: Option<Lost>,
}

impl Findings {
    pub(super) fn of(ride: &Ride<'_>, limits: &KnownLimits) -> Self {
        Self {
            pushbacks: adjustment::find(ride),
            pads: Pads::of(ride),
            slips: wheelslip::find(ride),
            duty_high: duty::high(ride, limits),
            duty_limit: duty::at_limit(ride, limits),
            short: current::short(ride),
            current_limit: current::at_limit(ride, limits),
            sag: Sag::of(ride),
            low: voltage::low(ride, limits),
            lost: Lost::of(ride),
        }
    }

    /// What had nothing left to give shortly before the balance was lost, or before the stop; the first one first.
    pub(super) fn ran_out(&self, ride: &Ride<'_>) -> Vec<RanOut> {
        let near = self.lost.map_or(ride.moments.len(), |lost| lost.deep + 1);
        let onset = self.lost.and_then(|lost| ride.at(lost.onset)).map_or(ride.stop.time, |at| at.time);
        let earliest = onset.plus(-super::ride::nanos(ride.thresholds.cause_s));
        let such = |stretch: &&Stretch| {
            let ended = ride.at(stretch.last).is_some_and(|at| at.time < earliest);
            stretch.first < near && !ended
        };
        let first = |stretches: &[Stretch]| stretches.iter().find(such).map(|stretch| stretch.first);
        let deep = self.sag.as_ref().and_then(|sag| sag.deep).filter(|deep| *deep < near);
        let current = first(&self.short).into_iter().chain(first(&self.current_limit)).min();
        let found = [
            (Resource::Grip, first(&self.slips)),
            (Resource::Voltage, first(&self.low).into_iter().chain(deep).min()),
            (Resource::Duty, first(&self.duty_limit)),
            (Resource::Current, current),
        ];
        let mut out: Vec<RanOut> = found
            .into_iter()
            .filter_map(|(what, place)| {
                let at = ride.at(place?)?;
                Some(RanOut { what, time: at.time, before_ns: ride.before(at) })
            })
            .collect();
        out.sort_by_key(|out| out.time);
        out
    }
}

/// What happened, in the order of time.
pub(super) fn lines(ride: &Ride<'_>, findings: &Findings, limits: &KnownLimits) -> Vec<Line> {
    let mut lines = adjustment::lines(ride, findings, limits);
    lines.extend(footpad::lines(ride, findings));
    lines.extend(wheelslip::lines(ride, &findings.slips));
    lines.extend(duty::lines(ride, findings, limits));
    lines.extend(current::lines(ride, findings, limits));
    lines.extend(voltage::lines(ride, findings, limits));
    lines.extend(pitch::lines(ride, findings));
    lines.extend(ends::lines(ride));
    // The stop comes last also where others have its time.
    lines.sort_by_key(|line| (line.time, line.rule == Rule::Stop));
    lines
}

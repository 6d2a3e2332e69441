//! What the board may do: given, seen, or usual.

use logpose_refloat::wire::Adjustment;

use super::explanation::{KnownLimits, Limit, LimitBy};
use super::ride::{Moment, Ride};
use super::rules::current;

/// What is known of a board and not in its recording.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// The duty that the motor controller goes up to, 0 to 1.
    pub max_duty: Option<f64>,
    /// The duty from which the board pushes back, 0 to 1.
    pub pushback_duty: Option<f64>,
    /// The max motor current, in amperes.
    pub max_current: Option<f64>,
    /// The voltage from which the board pushes back.
    pub low_voltage: Option<f64>,
}

pub(super) fn of(ride: &Ride<'_>, given: &Limits) -> KnownLimits {
    let usual = &ride.thresholds;
    let limit = |by: LimitBy| move |value: f64| Limit { value, by };
    let given_limit = |value: Option<f64>| value.map(limit(LimitBy::Given));
    KnownLimits {
        max_duty: given_limit(given.max_duty).unwrap_or(limit(LimitBy::Usual)(usual.max_duty)),
        pushback_duty: given_limit(given.pushback_duty)
            .or_else(|| set_in(ride, Adjustment::DUTY, |at| at.duty.map(f64::abs)).map(limit(LimitBy::Seen)))
            .unwrap_or(limit(LimitBy::Usual)(usual.pushback_duty)),
        max_current: given_limit(given.max_current).or_else(|| current::cut_off(ride).map(limit(LimitBy::Seen))),
        low_voltage: given_limit(given.low_voltage)
            .or_else(|| set_in(ride, Adjustment::LOW_VOLTAGE, |at| at.volts).map(limit(LimitBy::Seen))),
    }
}

/// A number where a pushback first set in. A pushback that was there already when the recording began proves nothing.
fn set_in(ride: &Ride<'_>, kind: Adjustment, number: impl Fn(&Moment) -> Option<f64>) -> Option<f64> {
    let pairs = ride.moments.iter().zip(ride.moments.iter().skip(1));
    pairs
        .filter(|(before, at)| before.adjustment != kind && at.adjustment == kind)
        .find_map(|(_, at)| number(at).filter(|value| *value > 0.0))
}

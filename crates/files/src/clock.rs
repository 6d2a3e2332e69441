//! Times of one log on the clock of another.

use logpose_core::Time;

/// How times of one log become times of another clock: moved by so much, and perhaps stretched a little.
///
/// Exact to the nanosecond, and what comes later stays later or at the same time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClockMap {
    shift: i64,
    /// How much faster the other clock runs, in parts of 10¹², and the moment at which that makes no difference.
    drift: i64,
    pivot: Time,
}

impl ClockMap {
    /// Adds `ns` nanoseconds at the time `pivot`, and `drift` parts of 10¹² more for every nanosecond after it.
    #[must_use]
    pub const fn drifting(ns: i64, drift: i64, pivot: Time) -> Self {
        Self { shift: ns, drift, pivot }
    }

    /// Adds `ns` nanoseconds.
    #[must_use]
    pub const fn shifted(ns: i64) -> Self {
        Self { shift: ns, drift: 0, pivot: Time::ZERO }
    }

    /// The time on the other clock.
    #[inline]
    #[must_use]
    pub fn at(&self, time: Time) -> Time {
        if self.drift == 0 {
            return time.plus(self.shift);
        }
        let since = i128::from(time.nanos()) - i128::from(self.pivot.nanos());
        let more = (since * i128::from(self.drift)).div_euclid(WHOLE);
        let ns = i128::from(time.nanos()) + i128::from(self.shift) + more;
        Time::from_nanos(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }))
    }

    /// The earliest time that is not before such a one on the other clock.
    #[must_use]
    pub fn back(&self, time: Time) -> Time {
        if self.drift == 0 {
            return time.plus(self.shift.saturating_neg());
        }
        let since = i128::from(time.nanos()) - i128::from(self.shift) - i128::from(self.pivot.nanos());
        let ns = i128::from(self.pivot.nanos()) + (since * WHOLE).div_euclid(WHOLE + i128::from(self.drift));
        let about = Time::from_nanos(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }));
        // Rounding is a nanosecond on either way.
        (-2..=2).map(|by| about.plus(by)).find(|found| self.at(*found) >= time).unwrap_or(about)
    }

    /// How much faster the other clock runs: 0.03 if it counts 103 seconds in a hundred.
    #[must_use]
    pub fn drift(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a drift is far below 2^53 parts of 10^12")]
        let parts = self.drift as f64;
        parts / 1e12
    }
}

const WHOLE: i128 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::ClockMap;

    #[test]
    fn times_map_exactly_and_in_order() {
        let clock = ClockMap { shift: -7, drift: 30_000_000_000, pivot: Time::from_nanos(1_000) };
        assert_eq!(clock.at(Time::from_nanos(1_000)).nanos(), 993);
        assert_eq!(clock.at(Time::from_nanos(1_000 + 100_000_000_000)).nanos(), 993 + 103_000_000_000);
        assert_eq!(clock.at(Time::from_nanos(1_000 - 100_000_000_000)).nanos(), 993 - 103_000_000_000);
        assert_eq!((clock.at(Time::MAX), clock.at(Time::MIN)), (Time::MAX, Time::MIN));
        let slow = ClockMap { drift: -30_000_000_000, ..clock };
        for clock in [clock, slow] {
            let mut last = Time::MIN;
            for ns in -200..2_000 {
                let mapped = clock.at(Time::from_nanos(ns));
                assert!(mapped >= last);
                last = mapped;
                let back = clock.back(mapped);
                assert!(clock.at(back) == mapped && clock.at(back.plus(-1)) < mapped, "{ns}");
            }
        }
    }
}

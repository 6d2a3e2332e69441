use std::fmt;

/// A moment on a log's own clock, in nanoseconds. Negative ones occur in real logs.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Time(i64);

impl Time {
    /// The zero point of the clock.
    pub const ZERO: Self = Self(0);
    /// The earliest moment that can be said: 292 years before zero.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest moment that can be said: 292 years after zero.
    pub const MAX: Self = Self(i64::MAX);

    /// A moment from nanoseconds.
    #[must_use]
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// A moment from microseconds. Beyond ±292 years it stops at [`Time::MIN`] or [`Time::MAX`]:
    /// a reader that meets such a time reports it.
    #[must_use]
    pub const fn from_micros(us: i64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// A moment from milliseconds.
    #[must_use]
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A moment from seconds, rounded to the nanosecond; `None` for NaN and what no `i64` holds.
    #[must_use]
    pub fn from_seconds(s: f64) -> Option<Self> {
        let ns = (s * 1e9).round();
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the same expression")]
        (ns.abs() < 9.223_372_036_854_775e18).then_some(Self(ns as i64))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The nearest whole microsecond: what WPILOG can say of this moment.
    #[must_use]
    pub const fn micros(self) -> i64 {
        let down = self.0.div_euclid(1_000);
        if self.0.rem_euclid(1_000) < 500 { down } else { down + 1 }
    }

    /// Seconds; beyond 104 days it no longer holds every nanosecond.
    #[must_use]
    pub fn seconds(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "said in the sentence above")]
        let ns = self.0 as f64;
        ns / 1e9
    }

    /// This moment plus `ns` nanoseconds, stopping at the ends of the range.
    #[must_use]
    pub const fn plus(self, ns: i64) -> Self {
        Self(self.0.saturating_add(ns))
    }

    /// Nanoseconds from `earlier` to this moment, stopping at the ends of the range.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Seconds with as many decimals as the moment needs: three, six or nine.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let ns = self.0.unsigned_abs();
        let (whole, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        if rest % 1_000_000 == 0 {
            write!(f, "{sign}{whole}.{:03}", rest / 1_000_000)
        } else if rest % 1_000 == 0 {
            write!(f, "{sign}{whole}.{:06}", rest / 1_000)
        } else {
            write!(f, "{sign}{whole}.{rest:09}")
        }
    }
}

/// Year, month and day in the Gregorian calendar of a day counted from 1970-01-01.
#[must_use]
pub const fn civil(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years, and years that begin in March: leap days are then at the end of both.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, january) = (day - (153 * month + 2) / 5 + 1, month >= 10);
    (era * 400 + year + january as i64, if january { month - 9 } else { month + 3 }, day)
}

#[cfg(test)]
mod tests {
    use super::{Time, civil};

    #[test]
    fn days_are_those_of_the_calendar() {
        let cases = [(0, (1970, 1, 1)), (-1, (1969, 12, 31)), (11_016, (2000, 2, 29)), (11_017, (2000, 3, 1))];
        for (days, date) in cases {
            assert_eq!(civil(days), date);
        }
        // 1900 was no leap year.
        assert_eq!((civil(-25_509), civil(-25_508)), ((1900, 2, 28), (1900, 3, 1)));
        assert_eq!(civil(19_952), (2024, 8, 17));
    }

    #[test]
    fn shows_as_many_decimals_as_needed() {
        let cases = [(0, "0.000"), (1_500_000_000, "1.500"), (-1_000, "-0.000001"), (1, "0.000000001")];
        for (ns, text) in cases {
            assert_eq!(Time::from_nanos(ns).to_string(), text);
        }
    }

    #[test]
    fn microseconds_are_the_nearest_also_below_zero() {
        for (ns, us) in [(-1, 0), (-501, -1), (499, 0), (500, 1), (-7_000, -7), (i64::MAX, i64::MAX / 1000 + 1)] {
            assert_eq!(Time::from_nanos(ns).micros(), us, "{ns}");
        }
    }

    #[test]
    fn seconds_outside_the_range_are_none() {
        assert_eq!(Time::from_seconds(f64::NAN), None);
        assert_eq!(Time::from_seconds(1e300), None);
        assert_eq!(Time::from_seconds(1.02), Some(Time::from_millis(1020)));
    }
}

use logpose::ClockMap;
use logpose_core::Time;

/// How a log's own times become session times: put on the clock of the session, and counted from its origin.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// From the log's clock to that of the session.
    pub map: ClockMap,
    /// Nanoseconds of the session's clock at session time 0.
    pub origin_ns: i64,
}

impl Clock {
    /// Session time of a moment of the log.
    pub(crate) fn seconds(&self, time: Time) -> f64 {
        self.map.at(time).plus(self.origin_ns.saturating_neg()).seconds()
    }

    /// The moment of the log at a session time; what no log reaches is the end of time.
    pub(crate) fn time(&self, seconds: f64) -> Time {
        let session = Time::from_seconds(seconds).unwrap_or(if seconds < 0.0 { Time::MIN } else { Time::MAX });
        match session {
            Time::MIN | Time::MAX => session,
            session => self.map.back(session.plus(self.origin_ns)),
        }
    }

    /// What is added to the log's times, at one of them.
    pub(crate) fn shift_at(&self, time: Time) -> i64 {
        self.map.at(time).since(time)
    }
}

/// The origin for a session that begins and ends at these moments of its clock: 0, unless seconds from there would no
/// longer hold every nanosecond.
pub(crate) fn origin(first: Time, last: Time) -> i64 {
    let far = |time: Time| time.nanos().unsigned_abs() > FAR_NS;
    if far(first) || far(last) { first.nanos().div_euclid(1_000_000_000).saturating_mul(1_000_000_000) } else { 0 }
}

/// Ten days: a binary64 number of seconds holds the nanoseconds of about 26.
const FAR_NS: u64 = 10 * 86_400 * 1_000_000_000;

#[cfg(test)]
mod tests {
    use logpose::ClockMap;
    use logpose_core::Time;

    use super::{Clock, FAR_NS, origin};

    #[test]
    fn every_nanosecond_comes_back() {
        let far = i64::try_from(FAR_NS).unwrap_or(i64::MAX);
        let mut ns = 1_i64;
        while ns < far {
            for near in [ns - 1, ns, ns + 1, -ns] {
                let (time, clock) = (Time::from_nanos(near), Clock::default());
                assert_eq!(clock.time(clock.seconds(time)), time, "{near}");
            }
            ns = ns * 3 + 7;
        }
    }

    #[test]
    fn wall_clock_times_are_counted_from_their_first_second() {
        let first = Time::from_nanos(1_774_102_953_123_456_789);
        let origin_ns = origin(first, first.plus(1));
        assert_eq!(origin_ns, 1_774_102_953_000_000_000);
        let clock = Clock { map: ClockMap::shifted(-5), origin_ns };
        for ns in [0, 1, 17, 999_999_999, 86_400_000_000_001] {
            let time = first.plus(ns);
            assert_eq!(clock.time(clock.seconds(time)), time);
        }
        assert_eq!((clock.time(f64::INFINITY), clock.time(-1e300)), (Time::MAX, Time::MIN));
    }
}

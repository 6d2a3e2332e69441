use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use logpose_core::Time;

/// A clock with the time of day that never steps: the wall clock when it was made, plus the time elapsed since.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    epoch_ns: i64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), epoch_ns: i64::try_from(since.as_nanos()).unwrap_or(i64::MAX) }
    }

    /// Now, in nanoseconds since 1970.
    #[must_use]
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// Now, in whole microseconds: what is recorded with such a time is the same in every format.
    #[must_use]
    pub(crate) fn micros(&self) -> Time {
        Time::from_micros(self.now().micros())
    }

    /// That moment.
    #[must_use]
    pub fn at(&self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.start).as_nanos();
        Time::from_nanos(self.epoch_ns).plus(i64::try_from(since).unwrap_or(i64::MAX))
    }

    /// When it will be, or was, `time`.
    #[must_use]
    pub fn instant(&self, time: Time) -> Instant {
        let ns = time.nanos().saturating_sub(self.epoch_ns);
        self.start + Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

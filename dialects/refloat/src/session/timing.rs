//! How long to wait for a reply, and how many requests may be on their way.

use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::Time;

/// The number of round trips that the median is of.
const RECENT: usize = 101;
/// A window stops growing when about so many requests of it wait somewhere on the way, and shrinks at the second number.
const QUEUED: f64 = 2.0;
const TOO_MANY: f64 = 4.0;
/// Over which time a rate is measured, and how often it is looked at.
const RATE_OVER: i64 = 3_000_000_000;
const RATE_EVERY: i64 = 50_000_000;

/// Nanoseconds of a duration; the longest there is for one that is longer.
pub(super) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// A duration of so many nanoseconds, none for less than nothing.
pub(super) fn duration(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

/// The round trips of one kind of request, and the time-out that follows from them, as TCP reckons it (RFC 6298).
#[derive(Clone, Debug)]
pub(super) struct Trips {
    first: i64,
    min: i64,
    max: i64,
    smooth: Option<i64>,
    deviation: i64,
    shortest: Option<i64>,
    recent: VecDeque<i64>,
    /// How often in a row nobody answered in time.
    late: u32,
}

impl Trips {
    /// With a time-out for the time when nothing was measured yet, and those between which it lies later.
    pub(super) fn new(first: Duration, min: Duration, max: Duration) -> Self {
        let max = nanos(max).max(1);
        let min = nanos(min).clamp(1, max);
        let first = nanos(first).clamp(min, max);
        let recent = VecDeque::new();
        Self { first, min, max, smooth: None, deviation: 0, shortest: None, recent, late: 0 }
    }

    /// A request that was sent once was answered after so many nanoseconds.
    pub(super) fn measured(&mut self, ns: i64) {
        let ns = ns.max(0);
        self.late = 0;
        self.shortest = Some(self.shortest.map_or(ns, |shortest| shortest.min(ns)));
        match self.smooth {
            None => (self.smooth, self.deviation) = (Some(ns), ns / 2),
            Some(smooth) => {
                self.deviation += (smooth.saturating_sub(ns).saturating_abs() - self.deviation) / 4;
                self.smooth = Some(smooth + (ns - smooth) / 8);
            }
        }
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(ns);
    }

    /// Nobody answered in time.
    pub(super) fn timed_out(&mut self) {
        self.late = self.late.saturating_add(1).min(16);
    }

    /// How long to wait for a reply, in nanoseconds: longer each time that nobody answers.
    pub(super) fn timeout(&self) -> i64 {
        let reckoned = self.smooth.map(|smooth| smooth.saturating_add(self.deviation.saturating_mul(4)));
        let once = reckoned.unwrap_or(self.first).clamp(self.min, self.max);
        // Half as long again each time, which is gentler than TCP: nobody else suffers.
        (0..self.late).fold(once, |wait, _| wait.saturating_add(wait / 2).min(self.max))
    }

    pub(super) fn shortest(&self) -> Option<i64> {
        self.shortest
    }

    /// The middle one.
    pub(super) fn median(&self) -> Option<Duration> {
        let mut sorted: Vec<i64> = self.recent.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().map(duration)
    }
}

/// How many requests may be on their way: more while that brings something, half as many when one is lost.
///
/// Loss alone would fill every buffer on the way first, so the growth of round trips counts too, as in TCP Vegas.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: f64,
    max: f64,
    /// Below this it grows by one with each reply, above it by one with each round trip.
    threshold: f64,
    /// Requests from before this moment do not shrink it again.
    shrunk: Time,
}

impl Window {
    pub(super) fn new(max: usize) -> Self {
        let max = f64::from(u16::try_from(max.max(1)).unwrap_or(u16::MAX));
        Self { size: 1.0, max, threshold: max, shrunk: Time::MIN }
    }

    /// A request that was sent once was answered after `trip`; the shortest one so far took `shortest`.
    pub(super) fn answered(&mut self, trip: i64, shortest: i64) {
        #[expect(clippy::cast_precision_loss, reason = "a share of durations")]
        let share = 1.0 - shortest.max(1) as f64 / trip.max(shortest).max(1) as f64;
        let queued = self.size * share;
        if queued > TOO_MANY {
            self.size -= 1.0 / self.size;
            self.threshold = self.size;
        } else if queued > QUEUED {
            self.threshold = self.threshold.min(self.size);
        } else {
            self.size += if self.size < self.threshold { 1.0 } else { 1.0 / self.size };
        }
        self.size = self.size.clamp(1.0, self.max);
    }

    /// A request that was sent at `sent` was lost.
    pub(super) fn lost(&mut self, now: Time, sent: Time) {
        if sent >= self.shrunk {
            self.size = (self.size / 2.0).max(1.0);
            self.threshold = self.size;
            self.shrunk = now;
        }
    }

    pub(super) fn size(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 65535")]
        let size = self.size as usize;
        size
    }
}

/// How fast something grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Rate {
    seen: VecDeque<(Time, u64)>,
}

impl Rate {
    /// It has grown to this.
    pub(super) fn reached(&mut self, now: Time, total: u64) {
        if self.seen.back().is_some_and(|(at, _)| now.since(*at) < RATE_EVERY) {
            return;
        }
        self.seen.push_back((now, total));
        // At min two remain, however long ago they were.
        while self.seen.len() > 2 && self.seen.front().is_some_and(|(at, _)| now.since(*at) > RATE_OVER) {
            self.seen.pop_front();
        }
    }

    /// By how much it grows each second, when it is now at this.
    pub(super) fn each_second(&self, now: Time, total: u64) -> f64 {
        let Some((at, before)) = self.seen.front() else { return 0.0 };
        let seconds = Time::from_nanos(now.since(*at)).seconds();
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let grown = total.saturating_sub(*before) as f64;
        if seconds > 0.0 { grown / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use logpose_core::Time;

    use super::{Trips, Window, nanos};

    const MS: i64 = 1_000_000;

    fn trips() -> Trips {
        Trips::new(Duration::from_millis(300), Duration::from_millis(100), Duration::from_secs(1))
    }

    #[test]
    fn a_timeout_follows_the_round_trips_within_its_bounds() {
        let mut trips = trips();
        assert_eq!(trips.timeout(), 300 * MS);
        trips.measured(200 * MS);
        assert_eq!(trips.timeout(), 600 * MS);
        (0..50).for_each(|_| trips.measured(2 * MS));
        assert_eq!(trips.timeout(), 100 * MS);
        (0..50).for_each(|_| trips.measured(5_000 * MS));
        assert_eq!(trips.timeout(), 1000 * MS);
        assert_eq!(trips.median(), Some(Duration::from_millis(200)));
        assert_eq!(trips.shortest(), Some(2 * MS));
    }

    #[test]
    fn it_waits_longer_each_time_that_nobody_answers() {
        let mut trips = trips();
        let mut last = trips.timeout();
        for _ in 0..3 {
            trips.timed_out();
            assert!(trips.timeout() > last);
            last = trips.timeout();
        }
        (0..1000).for_each(|_| trips.timed_out());
        assert_eq!(trips.timeout(), nanos(Duration::from_secs(1)));
        trips.measured(10 * MS);
        assert_eq!(trips.timeout(), 100 * MS);
    }

    #[test]
    fn a_window_grows_while_round_trips_stay_short_and_shrinks_once_for_each_loss() {
        let mut window = Window::new(8);
        assert_eq!(window.size(), 1);
        (0..20).for_each(|_| window.answered(100 * MS, 100 * MS));
        assert_eq!(window.size(), 8);
        window.lost(Time::from_millis(10), Time::from_millis(5));
        window.lost(Time::from_millis(11), Time::from_millis(6));
        assert_eq!(window.size(), 4);
        window.lost(Time::from_millis(20), Time::from_millis(12));
        assert_eq!(window.size(), 2);
        (0..9).for_each(|n| window.lost(Time::from_millis(30 + n), Time::from_millis(30 + n)));
        assert_eq!(window.size(), 1);
    }

    #[test]
    fn a_window_does_not_fill_the_queue_of_a_slow_line() {
        let mut window = Window::new(64);
        for _ in 0..200 {
            // Every reply takes 46 ms, one after the other.
            let trip = 46 * MS * i64::try_from(window.size()).unwrap();
            window.answered(trip, 46 * MS);
        }
        assert!((3..=6).contains(&window.size()), "{}", window.size());
    }
}

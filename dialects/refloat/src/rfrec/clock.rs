//! Ticks of a board as times.

use logpose_core::Time;

/// Ticks a second, where nothing else is said.
pub const TICK_RATE: u32 = 10_000;
const SECOND: i128 = 1_000_000_000;

/// Ticks of 32 bits, which begin anew after some days, as times on one line.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    rate: u32,
    /// The last tick, and the same on the line.
    last: Option<(u32, i64)>,
}

impl Clock {
    /// A clock of so many ticks a second. What cannot be a rate is taken for the usual one.
    #[must_use]
    pub fn new(rate: u32) -> Self {
        Self { rate: if is_rate(rate) { rate } else { TICK_RATE }, last: None }
    }

    /// The time of the next tick, and whether it lies before the last one: a difference above half of the range is a step
    /// back.
    pub fn next(&mut self, tick: u32) -> (Time, bool) {
        let (line, back) = match self.last {
            None => (i64::from(tick), false),
            Some((last, line)) => {
                let step = tick.wrapping_sub(last).cast_signed();
                (line.saturating_add(step.into()), step < 0)
            }
        };
        self.last = Some((tick, line));
        (self.time(line), back)
    }

    /// The time of a tick that came behind the last one, however long after it.
    #[must_use]
    pub fn later(&self, tick: u32) -> Option<Time> {
        let (last, line) = self.last?;
        Some(self.time(line.saturating_add(tick.wrapping_sub(last).into())))
    }

    /// The time of a tick on the line, to the nearest nanosecond.
    #[must_use]
    pub fn time(&self, line: i64) -> Time {
        let rate = i128::from(self.rate);
        let ns = (i128::from(line) * SECOND + rate / 2).div_euclid(rate);
        Time::from_nanos(i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX }))
    }

    /// The tick on the line whose time this is, to the microsecond that some formats round to.
    #[must_use]
    pub fn line(&self, time: Time) -> Option<i64> {
        let ticks = (i128::from(time.nanos()) * i128::from(self.rate) + SECOND / 2).div_euclid(SECOND);
        let line = i64::try_from(ticks).ok()?;
        (self.time(line).since(time).unsigned_abs() <= 500).then_some(line)
    }
}

/// Whether a board can have so many ticks a second: not none, and none shorter than what a time can say.
pub(crate) fn is_rate(rate: u32) -> bool {
    (1..=1_000_000_000).contains(&rate)
}

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::Clock;

    #[test]
    fn ticks_go_on_when_they_begin_anew() {
        let mut clock = Clock::new(10_000);
        let ticks = [4_294_967_294, 4_294_967_295, 0, 133, 133, 132];
        let found = ticks.map(|tick| clock.next(tick));
        let expected = [4_294_967_294, 4_294_967_295, 4_294_967_296, 4_294_967_429, 4_294_967_429, 4_294_967_428];
        for ((time, back), tick) in found.into_iter().zip(expected) {
            assert_eq!((time, back), (Time::from_nanos(tick * 100_000), tick == 4_294_967_428));
        }
        assert_eq!(clock.later(132), Some(Time::from_nanos(4_294_967_428 * 100_000)));
        assert_eq!(clock.later(131), Some(Time::from_nanos((4_294_967_428 + 4_294_967_295) * 100_000)));
    }

    #[test]
    fn times_come_back_as_the_ticks_they_were() {
        for rate in [1, 3, 1024, 10_000, 832_001, 1_000_000] {
            let clock = Clock::new(rate);
            for line in [0, 1, 2, 12_345, 4_294_967_295, 8_589_934_591] {
                let micros = Time::from_micros(clock.time(line).micros());
                assert_eq!(clock.line(clock.time(line)), Some(line), "{rate}");
                assert_eq!(clock.line(micros), Some(line), "{rate}, to the microsecond");
            }
        }
        assert_eq!(Clock::new(10_000).line(Time::from_micros(50)), None);
    }
}

//! The board's ticks as times, and how far they are from the clock of whoever listens.

use std::collections::VecDeque;

use logpose_core::Time;

/// What a board's ticks are on the clock that `now` is on.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    rate: u32,
    state: State,
    /// What to add to times of the board to get `now`, of the last messages. Each has its delay in it, so that the
    /// smallest is the best one; old ones are forgotten, because clocks drift.
    offsets: VecDeque<i64>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing has come yet.
    Unknown,
    /// The board sends no ticks: times are those of `now`.
    Host,
    /// The last tick, counted on beyond its 32 bits, and when it came.
    Ticks { last: i64, came: Time },
}

/// How many messages the best offset is taken from.
const REMEMBERED: usize = 64;
/// How far, in seconds, a tick may be from where it should be: links delay by less, and a board that was switched off and
/// on is further away.
const STEP_S: i64 = 10;
/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

impl Clock {
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: rate.max(1), state: State::Unknown, offsets: VecDeque::new() }
    }

    /// The board says how many ticks a second has.
    pub(super) fn set_rate(&mut self, rate: u32) {
        if rate.max(1) != self.rate {
            *self = Self::new(rate);
        }
    }

    /// Whether times are known.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.state, State::Unknown)
    }

    /// A message came that can never be placed by ticks.
    pub(super) fn without_ticks(&mut self) {
        if !self.is_known() {
            self.state = State::Host;
            self.offsets.push_back(0);
        }
    }

    /// A message with a tick came: its time, and whether the board was switched off and on before.
    pub(super) fn tick(&mut self, now: Time, tick: u32) -> (Time, bool) {
        let (last, restarted) = match self.state {
            State::Ticks { last, came } => {
                let passed = now.since(came);
                let due = last.saturating_add(self.ticks(passed));
                let found = near(due, tick);
                // A thousandth for the drift of both clocks over a long silence.
                let allowed = self.ticks(STEP_S * SECOND + passed.saturating_abs() / 1000);
                if (found - due).abs() <= allowed { (found, false) } else { (tick.into(), true) }
            }
            State::Unknown | State::Host => (tick.into(), false),
        };
        if restarted || matches!(self.state, State::Host) {
            self.offsets.clear();
        }
        self.state = State::Ticks { last, came: now };
        let time = self.time(last);
        if self.offsets.len() >= REMEMBERED {
            self.offsets.pop_front();
        }
        self.offsets.push_back(now.since(time));
        (time, restarted)
    }

    /// The time of something that came without a tick.
    pub(super) fn at(&self, now: Time) -> Time {
        now.plus(self.offset().unwrap_or_default().saturating_neg())
    }

    /// The time of a tick that was not long ago, such as that of an alert.
    pub(super) fn recent(&self, now: Time, tick: u32) -> Time {
        match self.state {
            State::Ticks { last, .. } => self.time(near(last, tick)),
            State::Unknown | State::Host => self.at(now),
        }
    }

    /// What to add to times to get those of `now`.
    pub(super) fn offset(&self) -> Option<i64> {
        self.offsets.iter().min().copied()
    }

    fn time(&self, ticks: i64) -> Time {
        let nanos = i128::from(ticks) * i128::from(SECOND) / i128::from(self.rate);
        Time::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    fn ticks(&self, nanos: i64) -> i64 {
        let ticks = i128::from(nanos) * i128::from(self.rate) / i128::from(SECOND);
        i64::try_from(ticks).unwrap_or(i64::MAX)
    }
}

/// The count nearest to `due` whose low 32 bits are `tick`.
fn near(due: i64, tick: u32) -> i64 {
    let low = u32::try_from(due & i64::from(u32::MAX)).unwrap_or_default();
    due.saturating_add(tick.wrapping_sub(low).cast_signed().into())
}

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::Clock;

    const MS: i64 = 1_000_000;

    fn ms(ms: i64) -> Time {
        Time::from_millis(ms)
    }

    #[test]
    fn ticks_go_on_beyond_their_32_bits() {
        let mut clock = Clock::new(10_000);
        assert_eq!(clock.tick(ms(0), u32::MAX - 9), (Time::from_micros((i64::from(u32::MAX) - 9) * 100), false));
        assert_eq!(clock.tick(ms(2), 10), (Time::from_micros((1 << 32) * 100 + 1000), false));
        // Five days later, which is more than the ticks can count.
        let days = 5 * 86_400_000;
        let tick = u32::try_from((10 + days * 10) & 0xFFFF_FFFF).unwrap();
        let (time, restarted) = clock.tick(ms(2 + days), tick);
        assert!(!restarted);
        assert_eq!(time, Time::from_micros((1 << 32) * 100 + 1000).plus(days * MS));
    }

    #[test]
    fn the_message_with_the_least_delay_sets_the_offset() {
        let mut clock = Clock::new(10_000);
        assert_eq!(clock.offset(), None);
        for (now, tick, offset) in [(1_030, 100, 1_020), (1_105, 1_000, 1_005), (1_220, 2_000, 1_005)] {
            clock.tick(ms(now), tick);
            assert_eq!(clock.offset(), Some(offset * MS));
        }
        for i in 1..=64_u32 {
            clock.tick(ms(1_220 + 100 * i64::from(i)), 2_000 + 1_000 * i);
        }
        assert_eq!(clock.offset(), Some(1_020 * MS), "the best one is forgotten after a while");
        assert_eq!(clock.at(ms(8_000)), ms(6_980));
    }

    #[test]
    fn a_board_that_was_switched_off_and_on_counts_anew() {
        let mut clock = Clock::new(10_000);
        clock.tick(ms(0), 5_000_000);
        assert_eq!(clock.tick(ms(3_000), 20_000), (ms(2_000), true));
        assert_eq!(clock.offset(), Some(1_000 * MS));
        assert_eq!(clock.tick(ms(3_100), 21_000), (ms(2_100), false));
        assert_eq!(clock.tick(ms(3_101), 20_900), (ms(2_090), false), "a reply that came late");
    }

    #[test]
    fn no_numbers_overflow() {
        for rate in [0, 1, 10_000, u32::MAX] {
            let mut clock = Clock::new(rate);
            for now in [Time::MIN, Time::MAX, Time::ZERO, Time::MIN] {
                for tick in [0, u32::MAX, 1 << 31] {
                    clock.tick(now, tick);
                    clock.recent(now, tick ^ 0x8000_0000);
                    clock.at(now);
                }
            }
        }
    }
}

use logpose_core::Time;

/// How far a source's clock is from ours.
///
/// Messages only come late, never early, so the smallest difference of receipt and source time is the best one. It is
/// that of the last two windows, so that clocks which drift are followed; a source whose clock steps starts anew.
#[derive(Debug, Default)]
pub struct SourceClock {
    /// When the window at hand began, its smallest difference, and that of the window before.
    window: Option<(Time, i64, i64)>,
}

impl SourceClock {
    /// What to add to a time of the source to get one of ours, after something of that time was received.
    pub fn offset(&mut self, own: Time, received: Time) -> i64 {
        let late = received.since(own);
        let (since, best, before) = match self.window {
            Some((since, best, before)) if late.abs_diff(best.min(before)) < STEP => {
                if received.since(since) > WINDOW {
                    (received, late, best)
                } else {
                    (since, best.min(late), before)
                }
            }
            _ => (received, late, late),
        };
        self.window = Some((since, best, before));
        best.min(before)
    }
}

/// The time after which a difference is forgotten, in nanoseconds: clocks drift by some 50 µs in it.
const WINDOW: i64 = 5_000_000_000;
/// A difference that changes by more than this is a clock that was set, in nanoseconds.
const STEP: u64 = 2_000_000_000;

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::SourceClock;

    const S: i64 = 1_000_000_000;

    fn common(clock: &mut SourceClock, own: Time, received: Time) -> Time {
        own.plus(clock.offset(own, received))
    }

    fn at(ns: i64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn the_shortest_way_sets_the_clock() {
        let mut clock = SourceClock::default();
        // The source is 100 s behind us; messages take from 1 to 30 ms.
        let ways = [30, 5, 1, 20, 7];
        let mut off = Vec::new();
        for (n, way) in (0..).zip(ways) {
            off.push(common(&mut clock, at(n * S), at((100 + n) * S + way * 1_000_000)).nanos() - (100 + n) * S);
        }
        assert_eq!(off, [30_000_000, 5_000_000, 1_000_000, 1_000_000, 1_000_000]);
    }

    #[test]
    fn a_clock_that_drifts_is_followed() {
        let mut clock = SourceClock::default();
        let mut off = 0;
        for n in 0..600 {
            // Slower by 100 µs in each second, or faster.
            off = common(&mut clock, at(n * (S - 100_000)), at(n * S)).nanos() - n * S;
        }
        assert!(off.abs() <= 1_200_000, "{off}");
        for n in 0..600 {
            off = common(&mut clock, at(n * (S + 100_000)), at(n * S)).nanos() - n * S;
        }
        assert!(off.abs() <= 1_200_000, "{off}");
    }

    #[test]
    fn a_clock_that_is_set_starts_anew() {
        let mut clock = SourceClock::default();
        common(&mut clock, at(500 * S), at(1000 * S));
        assert_eq!(common(&mut clock, at(2 * S), at(1001 * S)), at(1001 * S), "the robot was switched off and on");
        assert_eq!(common(&mut clock, at(3 * S), at(1002 * S)), at(1002 * S));
    }
}

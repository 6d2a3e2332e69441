use std::sync::{Mutex, MutexGuard, PoisonError};

use logpose_core::Time;

use crate::Clock;
use crate::histogram::{Histogram, Spread};

/// How far a player is. It is shared with whoever shows it and may be asked at any time.
#[derive(Debug)]
pub struct PlayStatus {
    clock: Clock,
    state: Mutex<State>,
}

/// What a player was doing at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    /// Where in the log it is, on the clock of the first log.
    pub position: Time,
    /// The part that is played; none if there is nothing to play.
    pub range: Option<(Time, Time)>,
    /// Seconds of the log for each second; infinite for as fast as possible.
    pub rate: f64,
    /// Whether it stands still.
    pub paused: bool,
    /// How often it went back to the start by itself.
    pub loops: u64,
    /// How many samples were given so far, without those that only repeat the state of a moment.
    pub samples: u64,
    /// How many groups of samples of one time they were.
    pub groups: u64,
    /// How late the groups came, so far.
    pub error: Spread,
    /// How many of them were more than 10 ms late.
    pub late: u64,
    /// How many nanoseconds late the last group was.
    pub behind_ns: i64,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) range: Option<(Time, Time)>,
    pub(super) rate: f64,
    pub(super) paused: bool,
    pub(super) loops: u64,
    pub(super) samples: u64,
    pub(super) groups: u64,
    pub(super) late: u64,
    pub(super) behind_ns: i64,
    pub(super) errors: Histogram,
    /// Where it was when all moments began to be reckoned, and when that was; or where it stands.
    pub(super) position: Time,
    pub(super) since: Option<Time>,
    /// It is not before what was given last, nor behind what comes next.
    pub(super) between: (Time, Time),
}

impl PlayStatus {
    pub(super) fn new(clock: Clock, range: Option<(Time, Time)>) -> Self {
        let position = range.map_or(Time::ZERO, |range| range.0);
        Self { clock, state: Mutex::new(State { range, position, rate: 1.0, ..State::default() }) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the player is doing now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.at(self.clock.now())
    }

    pub(super) fn at(&self, now: Time) -> Snapshot {
        let state = self.lock();
        Snapshot {
            position: state.position_at(now),
            range: state.range,
            rate: state.rate,
            paused: state.paused,
            loops: state.loops,
            samples: state.samples,
            groups: state.groups,
            error: state.errors.spread(),
            late: state.late,
            behind_ns: state.behind_ns,
        }
    }
}

impl State {
    /// Between two groups the position goes on evenly.
    fn position_at(&self, now: Time) -> Time {
        let Some(since) = self.since else { return self.position };
        let reckoned = self.position.plus(super::scaled(now.since(since), self.rate));
        reckoned.min(self.between.1).max(self.between.0)
    }
}

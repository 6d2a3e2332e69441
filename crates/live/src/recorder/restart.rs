use logpose_core::Time;

use crate::Batch;

/// Tells when the clock of the samples was set back: the robot was switched off and on. What comes then belongs into
/// another recording, because times in one are of one clock.
#[derive(Debug, Default)]
pub struct Restarts {
    newest: Option<Time>,
    /// How far the clock was from ours, where the session knows: old values may come at any time there.
    offset: Option<i64>,
}

impl Restarts {
    /// Takes a batch in; the answer is whether it is the first one of another clock.
    pub fn take(&mut self, batch: &Batch) -> bool {
        if batch.clock_offset.is_some() || self.offset.is_some() {
            let (before, now) = (self.offset, batch.clock_offset);
            self.offset = now.or(before);
            // A clock that starts at zero again is further away from ours than it was.
            return before.zip(now).is_some_and(|(before, now)| now.saturating_sub(before) > STEP_NS);
        }
        let Some(now) = batch.newest() else { return false };
        let back = self.newest.is_some_and(|before| before.since(now) > STEP_NS);
        self.newest = if back { Some(now) } else { self.newest.max(Some(now)) };
        back
    }
}

/// Cycles that were queued may come late, but not by so much.
const STEP_NS: i64 = 2_000_000_000;

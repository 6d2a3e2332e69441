use std::time::Instant;

use logpose_core::Time;
use logpose_live::recorder::Restarts;
use logpose_live::{Batch, SourceClock};

use super::LiveClock;

/// Puts the times of a source on the clock of its log.
pub(super) struct Timing {
    clock: LiveClock,
    source: SourceClock,
    restarts: Restarts,
    /// What is added to its own times, since its clock started anew.
    shift: i64,
    /// Whether it did, and its position was not sent yet.
    restarted: bool,
    /// The latest time on the clock of the log, and when it was received.
    newest: Option<(Time, Time)>,
    /// When the first batch was received.
    begun: Option<Time>,
    /// What to add to its own times to get Unix nanoseconds.
    epoch: Option<i64>,
}

impl Timing {
    pub(super) fn new(clock: LiveClock) -> Self {
        Self {
            clock,
            source: SourceClock::default(),
            restarts: Restarts::default(),
            shift: 0,
            restarted: false,
            newest: None,
            begun: None,
            epoch: None,
        }
    }

    /// A batch comes; the answer is whether the clock of the source started anew.
    pub(super) fn begin(&mut self, batch: &Batch) -> bool {
        self.begun.get_or_insert(batch.received);
        if self.clock != LiveClock::Own {
            return false;
        }
        self.restarted |= self.restarts.take(batch);
        let Some(own) = batch.newest() else { return false };
        let restarted = std::mem::take(&mut self.restarted);
        if restarted && let Some((newest, received)) = self.newest {
            // As much later as it came later, so that what was before stays before.
            self.shift = newest.plus(batch.received.since(received).max(0)).since(own);
            self.epoch = None;
        }
        let reckoned = batch.clock_offset.unwrap_or_else(|| self.source.offset(own, batch.received));
        let settling = self.begun.is_none_or(|begun| batch.received.since(begun) < SETTLING_NS);
        if self.epoch.is_none() || settling {
            self.epoch = Some(reckoned);
        }
        restarted
    }

    /// A time of the source on the clock of the log.
    pub(super) fn time(&mut self, own: Time, batch: &Batch) -> Time {
        match self.clock {
            LiveClock::Own => own.plus(self.shift),
            LiveClock::Common(start) => {
                let offset = batch.clock_offset.unwrap_or_else(|| self.source.offset(own, batch.received));
                // In whole microseconds, as a recording of several sources has it.
                Time::from_micros(own.plus(offset).plus(start.nanos().saturating_neg()).micros())
            }
        }
    }

    /// A batch was taken in, whose latest time is this.
    pub(super) fn end(&mut self, newest: Option<Time>, received: Time) {
        let before = self.newest.map(|(time, _)| time);
        if let Some(newest) = newest.max(before).filter(|_| newest.is_some()) {
            self.newest = Some((newest, received));
        }
    }

    /// The latest time, and now.
    pub(super) fn newest(&self) -> Option<(Time, Instant)> {
        self.newest.map(|(time, _)| (time, Instant::now()))
    }

    /// What to add to a time of the log to get Unix nanoseconds.
    pub(super) fn epoch_ns(&self) -> Option<i64> {
        match self.clock {
            LiveClock::Own => self.epoch.map(|epoch| epoch.saturating_sub(self.shift)),
            LiveClock::Common(start) => Some(start.nanos()),
        }
    }

    /// The time of the log at which listening began, if that is known.
    pub(super) fn begun(&self) -> Option<Time> {
        let epoch = self.epoch_ns()?;
        Some(self.begun?.plus(epoch.saturating_neg()).plus(-GRACE_NS))
    }
}

/// How long it takes until the clock of a source is known well.
const SETTLING_NS: i64 = 5_000_000_000;
/// What a source sent in its greeting is some cycles old.
const GRACE_NS: i64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use logpose_core::{Sample, Sink, Time, Value};
    use logpose_live::Batch;

    use super::Timing;
    use crate::live::LiveClock;

    const S: i64 = 1_000_000_000;

    fn batch(own: i64, received: i64) -> Batch {
        let mut batch = Batch::new(Time::from_nanos(received));
        let _ = batch.samples(&[Sample { channel: 0, time: Time::from_nanos(own), value: Value::Boolean(true) }]);
        batch
    }

    fn take(timing: &mut Timing, own: i64, received: i64) -> (bool, i64) {
        let batch = batch(own, received);
        let restarted = timing.begin(&batch);
        let time = timing.time(Time::from_nanos(own), &batch);
        timing.end(Some(time), batch.received);
        (restarted, time.nanos())
    }

    #[test]
    fn a_clock_that_starts_anew_goes_on() {
        let mut timing = Timing::new(LiveClock::Own);
        assert_eq!(take(&mut timing, 100 * S, 5000 * S), (false, 100 * S));
        assert_eq!(timing.epoch_ns(), Some(4900 * S));
        assert_eq!(take(&mut timing, 101 * S, 5001 * S), (false, 101 * S));
        // Switched off for 20 seconds.
        assert_eq!(take(&mut timing, 3 * S, 5021 * S), (true, 121 * S));
        assert_eq!(take(&mut timing, 4 * S, 5022 * S), (false, 122 * S));
        assert_eq!(timing.epoch_ns(), Some(4900 * S));
        // A little late is no other clock.
        assert_eq!(take(&mut timing, 4 * S - 100_000_000, 5022 * S), (false, 122 * S - 100_000_000));
    }

    #[test]
    fn several_sources_are_on_one_clock() {
        let mut timing = Timing::new(LiveClock::Common(Time::from_nanos(5000 * S)));
        assert_eq!(take(&mut timing, 100 * S, 5001 * S), (false, S));
        assert_eq!(take(&mut timing, 3 * S, 5021 * S), (false, 21 * S));
        assert_eq!(timing.epoch_ns(), Some(5000 * S));
    }
}

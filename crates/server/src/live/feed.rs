use logpose_core::Time;
use logpose_live::{Batch, Output, OutputError};
use logpose_viewer::{BatchClock, LiveWriter};

use super::LiveClock;
use super::timing::Timing;

/// Adds the batches of a source to its log, on the clock of the log.
pub(super) struct Feed {
    /// Let go of when the log is closed.
    writer: Option<LiveWriter>,
    timing: Timing,
}

impl Feed {
    pub(super) fn new(writer: LiveWriter, clock: LiveClock) -> Self {
        Self { writer: Some(writer), timing: Timing::new(clock) }
    }
}

impl Output for Feed {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        self.writer.take_if(|writer| writer.is_closed());
        let Self { writer: Some(writer), timing } = self else { return Ok(()) };
        let restarted = timing.begin(batch);
        let mut time = |own| timing.time(own, batch);
        let mut sink = writer.batch(&mut time, restarted);
        // It refuses nothing.
        let _ = batch.play(&mut sink);
        let newest = sink.newest();
        timing.end(newest, batch.received);
        writer.end_batch(&BatchClock {
            newest: timing.newest(),
            epoch_ns: timing.epoch_ns(),
            begun: timing.begun(),
            is_exact: batch.clock_offset.is_some(),
        });
        Ok(())
    }

    fn tick(&mut self, _: Time) -> Result<(), OutputError> {
        self.writer.take_if(|writer| writer.is_closed());
        if let Some(writer) = &mut self.writer {
            writer.tick();
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        if let Some(writer) = self.writer {
            writer.finish();
        }
        Ok(())
    }
}

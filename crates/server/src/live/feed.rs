use logpose_core::Time;
use logpose_live::{Batch, Output, OutputError};
use logpose_viewer::{BatchClock, LiveWriter};

use super::LiveClock;
use super::timing::Timing;

/// Adds the batches of a source to its log, on the clock of the log.
pub(super) struct Feed {
    writer: LiveWriter,
    timing: Timing,
}

impl Feed {
    pub(super) fn new(writer: LiveWriter, clock: LiveClock) -> Self {
        Self { writer, timing: Timing::new(clock) }
    }
}

impl Output for Feed {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        let Self { writer, timing } = self;
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
        self.writer.tick();
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        self.writer.finish();
        Ok(())
    }
}

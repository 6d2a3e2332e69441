use logpose::find::{Query, QueryError, Watcher};
use logpose_core::Time;

use crate::Batch;
use crate::recorder::Trigger;

/// Strikes when an expression over channels begins to hold, such as `BatteryVoltage < 8 and enabled`.
///
/// The expressions are those of [`logpose::find`], with the same meaning. A moment is known when a later sample of any
/// channel shows that it is over, so it is mostly told with the batch behind it.
pub struct ExpressionTrigger {
    watcher: Watcher,
}

impl ExpressionTrigger {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { watcher: Watcher::new(&Query::parse(text)?)? })
    }

    /// The names in the expression that nothing has so far: as long as there are any it may wait in vain.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.watcher.missing()
    }

    /// Why the expression makes no sense for the channels that are there, so that it will never strike.
    #[must_use]
    pub fn fault(&self) -> Option<&QueryError> {
        self.watcher.fault()
    }
}

/// If it strikes several times within a batch, the first time counts.
impl Trigger for ExpressionTrigger {
    fn take(&mut self, batch: &Batch) -> Option<Time> {
        // A watcher takes everything.
        let _ = batch.play(&mut self.watcher);
        let first = self.watcher.take();
        while self.watcher.take().is_some() {}
        first
    }
}

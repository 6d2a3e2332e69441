use logpose::find::{Query, QueryError, Watcher};
use logpose_core::Time;

use crate::Batch;

/// Recognises events that are worth a file of their own. Any function can be one.
pub trait Trigger: Send {
    /// Takes a batch in. Returns the moment since which the condition newly holds, on the clock of the samples, if it
    /// began to hold in this batch; if it did so several times, the first one.
    fn take(&mut self, batch: &Batch) -> Option<Time>;

    /// Why it may wait in vain, if there is a reason.
    fn doubt(&self) -> Option<String> {
        None
    }
}

impl<F: FnMut(&Batch) -> Option<Time> + Send> Trigger for F {
    fn take(&mut self, batch: &Batch) -> Option<Time> {
        self(batch)
    }
}

/// Strikes when an expression over channels begins to hold, such as `BatteryVoltage < 8 and enabled`.
///
/// The expressions are those of [`logpose::find`], with the same meaning. A moment is known when a later sample of any
/// channel shows that it is over, so it is mostly reported with the batch behind it.
pub struct ExpressionTrigger {
    watcher: Watcher,
}

impl ExpressionTrigger {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Ok(Self { watcher: Watcher::new(&Query::parse(text)?)? })
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

    fn doubt(&self) -> Option<String> {
        if let Some(fault) = self.watcher.fault() {
            return Some(fault.to_string());
        }
        let missing: Vec<String> = self.watcher.missing().map(|name| format!("{name:?}")).collect();
        (!missing.is_empty()).then(|| format!("no channel matched {}", missing.join(" or ")))
    }
}

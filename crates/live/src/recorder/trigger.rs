use logpose_core::Time;

use crate::Batch;

/// What tells that something happened which is worth a file of its own.
pub trait Trigger: Send {
    /// Takes a batch in. Returns the moment since which the condition newly holds, on the clock of the samples, if it
    /// began to hold in this batch; if it did so several times, the first one.
    fn take(&mut self, batch: &Batch) -> Option<Time>;
}

/// Any function can be one.
impl<F: FnMut(&Batch) -> Option<Time> + Send> Trigger for F {
    fn take(&mut self, batch: &Batch) -> Option<Time> {
        self(batch)
    }
}

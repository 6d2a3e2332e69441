use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells the work behind a request that nobody waits for its answer any more. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks the work to stop. It ends with an error of the kind `Cancelled` as soon as it looks.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

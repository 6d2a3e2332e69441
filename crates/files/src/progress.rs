/// Receives the progress of a long task.
pub trait Progress: Sync {
    /// A task begins, of about so many bytes (0 if nobody knows).
    fn begin(&self, what: &str, bytes: u64);
    /// So many of them are done.
    fn at(&self, bytes: u64);
    /// The task is over.
    fn end(&self);
}

/// The progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _: &str, _: u64) {}
    fn at(&self, _: u64) {}
    fn end(&self) {}
}

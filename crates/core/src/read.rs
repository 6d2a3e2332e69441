use std::fmt;

/// What a reader may use, so that no file can make it use more.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest record that a stream may claim. In a file the file's end is the limit.
    pub record_len: u64,
    /// How many channels or ids a log may have.
    pub channels: u32,
    /// How many bytes of records a stream decoder holds back while it waits for their declaration.
    pub held_back: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { record_len: 64 << 20, channels: 1 << 20, held_back: 16 << 20 }
    }
}

/// Runs two closures, perhaps side by side, and returns when both are done.
pub type Join = dyn Fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send)) + Sync;

/// The [`Join`] that starts no thread.
pub fn serially(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    a();
    b();
}

/// How a log is to be read. Dialects start no threads: they split the work and hand both halves to `join`.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// What it may cost.
    pub limits: Limits,
    /// Into how many parts to split large logs.
    pub threads: usize,
    /// Runs two parts side by side.
    pub join: &'a Join,
    /// Whether to search for readable records behind damage instead of stopping there.
    pub salvage: bool,
    /// The revision to assume where the file does not state it.
    pub revision: Option<u8>,
    /// Called once with every large block of fresh memory, before anything is written to it.
    pub prepare: fn(&mut [u8]),
    /// Called with every stretch of the log that a walk has behind it.
    pub passed: fn(&[u8]),
    /// Whether an index is to hold the place of every record. Without them it is small, and channels are found by
    /// walking over the log again.
    pub positions: bool,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            threads: 1,
            join: &serially,
            salvage: false,
            revision: None,
            prepare: |_| {},
            passed: |_| {},
            positions: true,
        }
    }
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("limits", &self.limits)
            .field("threads", &self.threads)
            .field("salvage", &self.salvage)
            .finish_non_exhaustive()
    }
}

/// Why a log could not be read at all.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{dialect}: byte {at:#x}: {message}")]
pub struct DecodeError {
    /// The dialect that gave up.
    pub dialect: &'static str,
    /// A short word for this kind of error, the same in every run.
    pub code: &'static str,
    /// The byte at fault.
    pub at: u64,
    /// What is wrong, in a sentence without the place.
    pub message: String,
    /// What the user can do, if there is something.
    pub help: Option<String>,
}

impl DecodeError {
    /// The index names a record at a byte where the log has none: they are not of one file, or the file has changed.
    #[must_use]
    pub fn stale_index(dialect: &'static str, at: u64) -> Self {
        let message = "the index names a record here, and the log has none".to_owned();
        let help = Some("the file changed after it was opened: open it again".to_owned());
        Self { dialect, code: "bad-index", at, message, help }
    }
}

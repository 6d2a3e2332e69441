use std::io;
use std::path::PathBuf;

use logpose_core::{EncodeError, Time};

use crate::Batch;

/// Where a pipeline ends. It is called from a thread of its own and may block on disks, never on clients.
pub trait Output: Send {
    /// Takes what happened. An error ends this output; the others go on.
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError>;
    /// Time went by: flush, sync, split, look at the free space. Called at least every 50 ms.
    fn tick(&mut self, now: Time) -> Result<(), OutputError>;
    /// No more will come: closes whole.
    fn finish(self: Box<Self>) -> Result<(), OutputError>;
}

/// Why an output takes no more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The format cannot say this.
    #[error(transparent)]
    Refused(#[from] EncodeError),
    /// Anything else that makes it impossible to go on.
    #[error("{0}")]
    Failed(String),
    /// The disk is full, or as full as it may get. What was recorded before is whole.
    #[error(
        "{}: {}: the recording was ended, its {} are whole; make room, record to another disk or keep less free",
        folder.display(),
        room(*free, *keep),
        amount(*saved)
    )]
    NoSpace {
        /// Where it was recorded to.
        folder: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that were to stay free.
        keep: u64,
        /// Bytes of the recording, all of them whole records.
        saved: u64,
    },
    /// The disk took no more for another reason. What was recorded before is whole.
    #[error("{}: {error}: the recording was ended, its {} are whole", path.display(), amount(*saved))]
    Disk {
        /// The file that was being written.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
        /// Bytes of the recording, all of them whole records.
        saved: u64,
    },
}

/// How much room there is on a disk that has too little.
pub(crate) fn room(free: u64, keep: u64) -> String {
    match free < keep {
        true => format!("{} free, {} are to stay so", amount(free), amount(keep)),
        false => format!("the disk is full, {} free", amount(free)),
    }
}

/// Bytes for people, in powers of 1000.
pub(crate) fn amount(bytes: u64) -> String {
    let mut unit = 1;
    for name in ["B", "kB", "MB", "GB"] {
        if bytes < unit * 1000 || name == "GB" {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            return if unit == 1 { format!("{bytes} B") } else { format!("{}.{} {name}", tenths / 10, tenths % 10) };
        }
        unit *= 1000;
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_have_a_unit() {
        let cases =
            [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (200_000_000, "200.0 MB"), (u64::MAX, "18446744073.7 GB")];
        for (bytes, text) in cases {
            assert_eq!(amount(bytes), text);
        }
    }
}

use std::io;
use std::path::PathBuf;

use crate::output::room;

/// Why a recording could not be begun. Nothing was written, and no file was touched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// There is a file of that name.
    #[error("{}: file already exists", .path.display())]
    Exists {
        /// The name.
        path: PathBuf,
    },
    /// The folder is not there.
    #[error("{}: no such folder", .folder.display())]
    NoFolder {
        /// Where the recording was to go.
        folder: PathBuf,
    },
    /// The name is that of a folder.
    #[error("{}: is a directory", .path.display())]
    Directory {
        /// The name.
        path: PathBuf,
    },
    /// Windows takes the name for that of a device.
    #[error("{}: Windows reserves this name for a device", .path.display())]
    Reserved {
        /// The name.
        path: PathBuf,
    },
    /// Files of that kind cannot be whole at every instant, or are not known at all.
    #[error("{}: {reason}", .path.display())]
    Format {
        /// The name, whose extension selects the format.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Options that do not go together.
    #[error("{0}")]
    Usage(&'static str),
    /// Less is free than is to stay so.
    #[error("{}: {}", .folder.display(), room(*.free, *.keep))]
    NoSpace {
        /// Where the recording was to go.
        folder: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that were to stay free.
        keep: u64,
    },
    /// The system refused.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What it said.
        #[source]
        error: io::Error,
    },
}

impl RecordError {
    /// What the user can do, where something can be said.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Exists { .. } => Some("choose another name, or overwrite it with --force"),
            Self::NoFolder { .. } => Some("create it first"),
            Self::Directory { .. } => Some("use a file in it, such as match.wpilog"),
            Self::Reserved { .. } => Some("choose another name"),
            Self::Format { .. } => Some("record to .wpilog or .mcap and convert the recording afterwards"),
            Self::NoSpace { .. } => Some("free some space, record to another disk, or lower --keep-free"),
            Self::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                Some("record to a folder you can write to")
            }
            Self::Usage(_) | Self::Io { .. } => None,
        }
    }
}

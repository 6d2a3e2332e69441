use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use logpose_refloat::rfrec;
use logpose_refloat::session::{Change, Failure, Refused};

/// Why something could not be done at a board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// What is there is no board.
    #[error("{0}: not a board address")]
    NoBoard(String),
    /// There is no connection.
    #[error("{trouble}")]
    Unreachable {
        /// What was tried.
        address: String,
        /// Why not, for each place that was tried.
        trouble: String,
    },
    /// There was a connection, and there is none any more.
    #[error("lost the link to {address} and could not reconnect within {:.0} s: {trouble}", .after.as_secs_f64())]
    Lost {
        /// What was tried.
        address: String,
        /// How long.
        after: Duration,
        /// Why not.
        trouble: String,
    },
    /// There is a connection from time to time, and what was asked is not done.
    #[error("{address} has not finished answering after {:.0} s: {trouble}", .after.as_secs_f64())]
    Endless {
        /// What was tried.
        address: String,
        /// How long.
        after: Duration,
        /// Why not.
        trouble: String,
    },
    /// The board answers, or does not, and that is why.
    #[error(transparent)]
    Failed(Failure),
    /// The session has enough to do.
    #[error(transparent)]
    Refused(Refused),
    /// Somebody did not want it any more.
    #[error("stopped")]
    Stopped,
    /// The system refuses.
    #[error("cannot run the link: {0}")]
    Io(#[source] io::Error),
}

impl LinkError {
    /// What helps.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { address, .. } if address.contains("://") => Some(
                "check that the board is on, that you are on its network, and that no other program is connected; `logpose refloat \
                 board` emulates one",
            ),
            _ => None,
        }
    }
}

/// Why a recording is not in its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// There is a file of that name, with a whole recording.
    #[error("{}: the file already exists and has a complete recording", .path.display())]
    Complete {
        /// The name.
        path: PathBuf,
    },
    /// There is a file of that name, and it is another one.
    #[error("{}: the file already exists and is not a partial recording: {error}", .path.display())]
    NoRecording {
        /// The name.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: rfrec::Error,
    },
    /// There is a file of that name, with a part of another recording.
    #[error("{}: {change}; the file was not changed and has {held} of {size} samples", .path.display())]
    Another {
        /// The name.
        path: PathBuf,
        /// How it shows.
        change: Change,
        /// How many samples the file has.
        held: u32,
        /// How many there should be.
        size: u32,
    },
    /// Another program fetches into this file.
    #[error("{}: another program is writing to this file", .path.display())]
    InUse {
        /// The name.
        path: PathBuf,
    },
    /// The folder is not there.
    #[error("{}: no such folder", .folder.display())]
    NoFolder {
        /// Where the file was to go.
        folder: PathBuf,
    },
    /// The disk is full.
    #[error("{}: the disk is full", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        error: io::Error,
    },
    /// What the board sent cannot be written.
    #[error("{}: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: rfrec::WriteError,
    },
    /// The board, or the link to it.
    #[error("{error}{}", left(.held.as_ref(), .path, *.autostart_left_off))]
    Link {
        /// What is wrong.
        #[source]
        error: LinkError,
        /// The file.
        path: PathBuf,
        /// How many samples it has, and how many there should be, if something of it is there.
        held: Option<(u32, u32)>,
        /// Whether autostart was switched off for the download, and it is not known that it is on again.
        autostart_left_off: bool,
    },
}

fn left(held: Option<&(u32, u32)>, path: &Path, autostart_left_off: bool) -> String {
    let held = held.map_or(String::new(), |(held, size)| format!("; {} has {held} of {size} samples", path.display()));
    let autostart = match autostart_left_off {
        true => "; autostart is still off on the board until it is switched off and on",
        false => "",
    };
    held + autostart
}

impl FetchError {
    /// What the user can do, where something can be said.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Complete { .. } => Some("choose another name, or overwrite it with --force"),
            Self::NoRecording { .. } => Some("choose another name, or overwrite it with --force"),
            Self::Another { .. } => Some("choose another name, or overwrite the file with --force"),
            Self::InUse { .. } => Some("wait until it is done, or choose another name"),
            Self::NoFolder { .. } => Some("create it first"),
            Self::NoSpace { .. } => Some("free some space, then run the same command to continue"),
            Self::Io { error, .. } if error.kind() == io::ErrorKind::PermissionDenied => {
                Some("choose a folder you can write to")
            }
            Self::Link { held: Some(_), .. } => Some("run the same command to continue"),
            Self::Io { .. } | Self::Write { .. } | Self::Link { .. } => None,
        }
    }

    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path },
            _ => Self::Io { path, error },
        }
    }
}

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use logpose_carla::EditError;
use logpose_core::{DecodeError, EncodeError};

use crate::{Formats, Wrapper};

/// Why something could not be done: what, in which file, at which byte, and what would help.
#[derive(Debug)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The file concerned.
    pub path: Option<PathBuf>,
    /// The byte concerned.
    pub at: Option<u64>,
    /// What the user can do.
    pub help: Option<String>,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no such file.
    #[error("no such file")]
    NotFound,
    /// It is a directory.
    #[error("is a directory")]
    Directory,
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// It may not be read or written.
    #[error("permission denied")]
    NoPermission,
    /// Another program has it open, and the system lets nobody else read or replace it meanwhile. Windows does that.
    #[error("another program has the file open")]
    InUse,
    /// Windows takes the name for that of a device.
    #[error("Windows reserves this name for a device")]
    Reserved,
    /// No dialect knows the bytes.
    #[error("unknown format: the file starts with {}", Head(head))]
    UnknownFormat {
        /// The first bytes, at most eight.
        head: Vec<u8>,
    },
    /// It is an address of something live.
    #[error("{scheme}:// is a live source, but this command needs a file")]
    Live {
        /// The part before `://`.
        scheme: String,
    },
    /// The compression around the log gave back nothing.
    #[error("cannot decompress ({wrapper}): {reason}")]
    Wrapper {
        /// What was found around the log.
        wrapper: Wrapper,
        /// Why nothing came out.
        reason: String,
    },
    /// The dialect could not read it.
    #[error("{}", .0.message)]
    Decode(Box<DecodeError>),
    /// The system refused.
    #[error("{0}")]
    Io(io::Error),
    /// The output already exists.
    #[error("file already exists")]
    Exists,
    /// The format cannot say what it was given.
    #[error("{0}")]
    Refused(Box<EncodeError>),
    /// A recording cannot be edited as asked.
    #[error("{0}")]
    Edit(Box<EditError>),
    /// Logs cannot be put on one clock.
    #[error("{0}")]
    Unaligned(String),
    /// The log has not what was asked about.
    #[error("no channel {}", channels.join(", "))]
    MissingChannels {
        /// Their names.
        channels: Vec<String>,
    },
    /// The request was invalid.
    #[error("{0}")]
    Usage(String),
    /// The output, read back, was not what was written.
    #[error("the result differs from the input: {0}")]
    Verify(String),
}

impl Error {
    /// An error without a place.
    pub fn new(kind: ErrorKind) -> Self {
        Self { kind, path: None, at: None, help: None }
    }

    /// An invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()))
    }

    /// The same, with the file named.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The same, with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A word for scripts, the same in every release.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            ErrorKind::NotFound => "not-found",
            ErrorKind::Directory => "directory",
            ErrorKind::Empty => "empty",
            ErrorKind::NoPermission => "no-permission",
            ErrorKind::InUse => "in-use",
            ErrorKind::Reserved => "reserved",
            ErrorKind::UnknownFormat { .. } => "unknown-format",
            ErrorKind::Live { .. } => "live",
            ErrorKind::Wrapper { .. } => "wrapper",
            ErrorKind::Decode(_) => "decode",
            ErrorKind::Io(_) => "io",
            ErrorKind::Exists => "exists",
            ErrorKind::Refused(_) => "refused",
            ErrorKind::Edit(_) => "edit",
            ErrorKind::Unaligned(_) => "unaligned",
            ErrorKind::MissingChannels { .. } => "missing-channels",
            ErrorKind::Usage(_) => "usage",
            ErrorKind::Verify(_) => "verify",
        }
    }

    /// What the system said about a file to be read.
    pub fn reading(path: &Path, error: io::Error) -> Self {
        let (kind, help) = match error.kind() {
            _ if is_in_use(&error) => (ErrorKind::InUse, Some("close that program, or copy the file".to_owned())),
            io::ErrorKind::NotFound => (ErrorKind::NotFound, None),
            // No file has a name that Windows does not allow, such as one with a `*`.
            io::ErrorKind::InvalidFilename if cfg!(windows) => (ErrorKind::NotFound, None),
            // Windows opens no folders.
            io::ErrorKind::PermissionDenied if cfg!(windows) && path.is_dir() => {
                (ErrorKind::Directory, Some(NAME_A_FILE.to_owned()))
            }
            io::ErrorKind::PermissionDenied => {
                let help = "ask the owner for read permission, or copy the file";
                (ErrorKind::NoPermission, Some(help.to_owned()))
            }
            io::ErrorKind::IsADirectory => (ErrorKind::Directory, Some(NAME_A_FILE.to_owned())),
            _ => (ErrorKind::Io(error), None),
        };
        Self { kind, path: Some(path.to_owned()), at: None, help }
    }

    /// What the system said about a file to be written.
    pub fn writing(path: &Path, error: io::Error) -> Self {
        let (kind, help) = match error.kind() {
            _ if is_in_use(&error) => (ErrorKind::InUse, Some(CLOSE_IT)),
            io::ErrorKind::NotFound => (ErrorKind::NotFound, Some("the folder does not exist; create it first")),
            io::ErrorKind::PermissionDenied => (ErrorKind::NoPermission, Some("choose a folder you can write to")),
            io::ErrorKind::AlreadyExists => (ErrorKind::Exists, Some(USE_FORCE)),
            io::ErrorKind::IsADirectory => (ErrorKind::Directory, Some("use a file in it")),
            _ => (ErrorKind::Io(error), None),
        };
        Self { kind, path: Some(path.to_owned()), at: None, help: help.map(str::to_owned) }
    }

    /// What the system said when a new file or folder was to take the place of an old one. Windows denies that while
    /// any program has the old one open.
    pub(crate) fn replacing(path: &Path, error: io::Error) -> Self {
        if cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied {
            return Self::new(ErrorKind::InUse).in_file(path).with_help(CLOSE_IT);
        }
        Self::writing(path, error)
    }

    /// Refuses to write to a name that Windows keeps for a device, such as `aux.csv`; other systems have no such names.
    pub(crate) fn check_name(path: &Path) -> Result<(), Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if cfg!(windows) && logpose_bridges::is_reserved(&name) {
            return Err(Self::new(ErrorKind::Reserved).in_file(path).with_help("choose another name"));
        }
        Ok(())
    }

    /// Why the content of a file cannot be read.
    pub fn decode(path: &Path, error: DecodeError) -> Self {
        Self { path: Some(path.to_owned()), ..Self::from(error) }
    }

    pub(crate) fn unknown_format(path: &Path, head: &[u8], formats: &Formats) -> Self {
        let known: Vec<_> = formats.readable().collect();
        let head: Vec<u8> = head.iter().copied().take(8).collect();
        let error = Self { path: Some(path.to_owned()), at: Some(0), ..Self::new(ErrorKind::UnknownFormat { head }) };
        error.with_help(format!("if you know the format, set it with --from ({})", known.join(", ")))
    }
}

/// One sentence: file, byte, what. The advice is apart, in [`Error::help`].
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(at) = self.at.filter(|at| *at > 0) {
            write!(f, "byte {at:#x}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            ErrorKind::Decode(error) => Some(error),
            ErrorKind::Refused(error) => Some(error),
            ErrorKind::Edit(error) => Some(error),
            _ => None,
        }
    }
}

/// An input that cannot be read, where its path is not known.
impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let (at, help) = (Some(error.at), error.help.clone());
        Self { kind: ErrorKind::Decode(Box::new(error)), path: None, at, help }
    }
}

impl From<EncodeError> for Error {
    fn from(error: EncodeError) -> Self {
        Self::new(ErrorKind::Refused(Box::new(error)))
    }
}

impl From<EditError> for Error {
    fn from(error: EditError) -> Self {
        Self::new(ErrorKind::Edit(Box::new(error)))
    }
}

/// First bytes of a file, as hexadecimal and, where they are letters, as text.
struct Head<'a>(&'a [u8]);

impl fmt::Display for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if i > 0 { " " } else { "" })?;
        }
        match str::from_utf8(self.0) {
            Ok(text) if text.chars().all(|c| !c.is_control()) => write!(f, " ({text:?})"),
            _ => Ok(()),
        }
    }
}

/// Whether Windows refused because another program has the file open, has locked a part of it, or has mapped it.
fn is_in_use(error: &io::Error) -> bool {
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;
    const USER_MAPPED_FILE: i32 = 1224;
    cfg!(windows) && matches!(error.raw_os_error(), Some(SHARING_VIOLATION | LOCK_VIOLATION | USER_MAPPED_FILE))
}

const CLOSE_IT: &str = "close that program, or choose another name; nothing was changed";
pub(crate) const NAME_A_FILE: &str = "use a log file in it";
pub(crate) const USE_FORCE: &str = "choose another name, or overwrite it with --force";

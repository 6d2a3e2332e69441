use logpose_core::{DecodeError, Truncated};

/// Why a log could not be read, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("wpilog: byte {at:#x}: {kind}")]
pub struct Error {
    /// Offset into the log of the field at fault.
    pub at: u64,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a field.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The log does not start with `WPILOG`.
    #[error("not a WPILOG: starts with {found:02x?}")]
    BadMagic {
        /// What it starts with.
        found: Vec<u8>,
    },
    /// A version from before the format was settled.
    #[error("unknown version {major}.{minor}, expected 1.0")]
    BadVersion {
        /// The high byte.
        major: u8,
        /// The low byte.
        minor: u8,
    },
    /// A field or record is not all there.
    #[error("{what} needs {needed} bytes, {left} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        left: u64,
    },
    /// A stream claims a record that is longer than allowed.
    #[error("a record has {claimed} bytes, the limit for streams is {limit}")]
    TooLong {
        /// The size it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// Whether the reader still knows where the next record starts. In WPILOG it never does: finding it again
    /// is a search, and asked for by name.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        false
    }
}

impl From<Truncated> for Error {
    fn from(t: Truncated) -> Self {
        Self { at: t.at, kind: ErrorKind::Truncated { what: t.what, needed: t.needed, left: t.left } }
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        let (code, help) = match &error.kind {
            ErrorKind::BadMagic { .. } => {
                ("bad-magic", Some("if this is a WPILOG that lost its header, try `logpose recover --from wpilog`"))
            }
            ErrorKind::BadVersion { .. } => {
                ("bad-version", Some("it may be from a newer program; `logpose recover --from wpilog` reads it as 1.0"))
            }
            ErrorKind::Truncated { .. } => {
                ("truncated", Some("the file is truncated; run `logpose recover` to keep everything before it"))
            }
            ErrorKind::TooLong { .. } => ("too-long", None),
        };
        Self { dialect: "wpilog", code, at: error.at, message: error.kind.to_string(), help: help.map(Into::into) }
    }
}

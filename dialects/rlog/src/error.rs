use logpose_core::{DecodeError, Truncated};

use crate::wire::Revision;

/// Why a log could not be read, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("rlog: byte {at:#x}: {kind}")]
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
    /// There is not even a revision byte.
    #[error("the log is empty")]
    Empty,
    /// The first byte names a revision that nobody has specified.
    #[error("unknown revision {found}, expected 1 or 2")]
    BadRevision {
        /// The byte.
        found: u8,
    },
    /// The log begins with a cycle: its revision byte stayed behind, often with the keys.
    #[error("missing revision byte; it looks like {guess}: use --rlog-revision {}, or `logpose recover`", guess.byte())]
    MissingRevision {
        /// The revision under which the messages make sense.
        guess: Revision,
    },
    /// A message type other than timestamp, key and field.
    #[error("unknown message type {found:#04x}")]
    UnknownMessage {
        /// The type byte.
        found: u8,
    },
    /// A value type that R1 does not have, so that the value's length is not known.
    #[error("unknown R1 value type {found:#04x} in a field of key {key}")]
    UnknownValue {
        /// The key of the field.
        key: u16,
        /// The type byte.
        found: u8,
    },
    /// A field or message is not all there.
    #[error("{what} needs {needed} bytes, {left} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        left: u64,
    },
    /// A stream claims a message or frame that is longer than allowed.
    #[error("a message or frame has at least {claimed} bytes, the limit for streams is {limit}")]
    TooLong {
        /// The size it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// Whether the reader still knows where the next message starts. In RLOG it never does: finding it again
    /// is a search, and asked for by name.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        false
    }

    /// Whether more bytes behind the last one could make the message whole.
    #[must_use]
    pub fn is_truncation(&self) -> bool {
        matches!(self.kind, ErrorKind::Truncated { .. })
    }

    /// A short word for this kind of error, the same in every run.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match &self.kind {
            ErrorKind::Empty => "empty",
            ErrorKind::BadRevision { .. } => "bad-revision",
            ErrorKind::MissingRevision { .. } => "missing-revision",
            ErrorKind::UnknownMessage { .. } | ErrorKind::UnknownValue { .. } => "bad-message",
            ErrorKind::Truncated { .. } => "truncated",
            ErrorKind::TooLong { .. } => "too-long",
        }
    }
}

impl From<Truncated> for Error {
    fn from(t: Truncated) -> Self {
        Self { at: t.at, kind: ErrorKind::Truncated { what: t.what, needed: t.needed, left: t.left } }
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        let help = match &error.kind {
            ErrorKind::BadRevision { .. } => Some(
                "openpilot and others also use the extension .rlog; if this is an AdvantageKit log with a damaged start, try `logpose recover --from rlog`",
            ),
            ErrorKind::MissingRevision { .. } => Some(
                "the first part of such a log is often left behind as temp.rlog: prepend it to this file to get the key names back",
            ),
            ErrorKind::UnknownMessage { .. } | ErrorKind::UnknownValue { .. } => {
                Some("run `logpose recover` to continue at the next complete cycle")
            }
            ErrorKind::Truncated { .. } => {
                Some("the file is truncated; run `logpose recover` to keep everything before it")
            }
            ErrorKind::Empty | ErrorKind::TooLong { .. } => None,
        };
        Self {
            dialect: "rlog",
            code: error.code(),
            at: error.at,
            message: error.kind.to_string(),
            help: help.map(Into::into),
        }
    }
}

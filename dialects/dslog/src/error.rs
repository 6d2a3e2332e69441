use logpose_core::{DecodeError, Truncated};

/// Why a file could not be read, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("dslog: byte {at:#x}: {kind}")]
pub struct Error {
    /// Offset into the file of the field at fault.
    pub at: u64,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a field.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A version whose records nobody has described.
    #[error("unsupported version {found}, expected 3 or 4: {}", season(*found))]
    Version {
        /// The version.
        found: i32,
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
    /// A text whose length is below zero.
    #[error("the text of an event has the invalid length {found}")]
    NegativeLength {
        /// The length.
        found: i32,
    },
    /// A stream claims a record that is longer than allowed.
    #[error("a record has {claimed} bytes, the limit for streams is {limit}")]
    TooLong {
        /// The size it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// An envelope that nobody here wrote.
    #[error("unsupported pair version {found}, expected 1")]
    PairVersion {
        /// The version of the envelope.
        found: u8,
    },
    /// A pair of files whose lengths do not fit.
    #[error("a pair of files needs {claimed} bytes, {left} left")]
    Pair {
        /// How long its files claim to be.
        claimed: u64,
        /// How many bytes there are.
        left: u64,
    },
}

/// Who wrote files of a version.
fn season(version: i32) -> &'static str {
    match version {
        0 => "written by the Driver Station of 2012 or 2013",
        1 => "written by the Driver Station of 2014",
        2 => "written by the Driver Station of 2015",
        _ => "not written by a Driver Station of 2012 to 2026",
    }
}

impl Error {
    /// A short word for this kind of error, the same in every run.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.kind {
            ErrorKind::Version { .. } => "bad-version",
            ErrorKind::Truncated { .. } => "truncated",
            ErrorKind::NegativeLength { .. } => "bad-length",
            ErrorKind::TooLong { .. } => "too-long",
            ErrorKind::PairVersion { .. } | ErrorKind::Pair { .. } => "bad-pair",
        }
    }

    /// Whether more bytes behind the last one could make the record whole.
    #[must_use]
    pub fn is_truncation(&self) -> bool {
        matches!(self.kind, ErrorKind::Truncated { .. })
    }
}

impl From<Truncated> for Error {
    fn from(t: Truncated) -> Self {
        Self { at: t.at, kind: ErrorKind::Truncated { what: t.what, needed: t.needed, left: t.left } }
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        let help = match error.kind {
            ErrorKind::Version { found: 2 } => Some(
                "open it with the Driver Station log viewer of 2015; its currents are in a .pdplog file next to it",
            ),
            ErrorKind::Version { found: 0 | 1 } => {
                Some("open it with the Driver Station log viewer of those years; the format is undocumented")
            }
            _ => None,
        };
        Self {
            dialect: "dslog",
            code: error.code(),
            at: error.at,
            message: error.kind.to_string(),
            help: help.map(Into::into),
        }
    }
}

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
    #[error("version {found} is not read, only 3 and 4 are: {}", season(*found))]
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
    #[error("the text of an event has a length of {found} bytes")]
    NegativeLength {
        /// The length.
        found: i32,
    },
    /// A stream claims a record that is longer than allowed.
    #[error("a record of {claimed} bytes, {limit} are allowed in a stream")]
    TooLong {
        /// The size it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// An envelope that nobody here wrote.
    #[error("a pair of files in an envelope of version {found}, only 1 is known")]
    PairVersion {
        /// The version of the envelope.
        found: u8,
    },
    /// A pair of files whose lengths do not fit.
    #[error("a pair of files of {claimed} bytes, {left} left")]
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
        0 => "the Driver Station of 2012 and 2013 wrote it",
        1 => "the Driver Station of 2014 wrote it",
        2 => "the Driver Station of 2015 wrote it",
        _ => "no Driver Station of 2012 to 2026 wrote it",
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
            ErrorKind::Version { found: 2 } => {
                Some("its currents are in a .pdplog beside it; the Driver Station's own log viewer of 2015 opens both")
            }
            ErrorKind::Version { found: 0 | 1 } => {
                Some("the Driver Station's own log viewer of those years opens it; nobody has described these files")
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

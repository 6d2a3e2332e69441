use logpose_core::{DecodeError, Truncated};

use super::block::{Kind, VERSION};

/// Why a file could not be read, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("refloat: byte {at:#x}: {kind}")]
pub struct Error {
    /// Offset into the file of what is at fault.
    pub at: u64,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a piece of a file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another file, or one that was changed on its way.
    #[error("not a recording: starts with {found:02x?}")]
    BadMagic {
        /// Its first bytes.
        found: [u8; 8],
    },
    /// A version whose blocks are not known.
    #[error("unsupported version {major}.{minor}, expected {}", VERSION.0)]
    Version {
        /// The number that decides.
        major: u8,
        /// The other one.
        minor: u8,
    },
    /// A field is not all there.
    #[error("{what} needs {needed} bytes, {left} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// How many bytes it needs.
        needed: u64,
        /// How many there are.
        left: u64,
    },
    /// A block whose bytes are not those that were written.
    #[error("bad checksum of {kind}: stored {stored:08x}, computed {computed:08x}")]
    BadCrc {
        /// What the block says that it is.
        kind: Kind,
        /// The checksum behind it.
        stored: u32,
        /// That of its bytes.
        computed: u32,
    },
    /// Two blocks have different bytes for one sample.
    #[error("sample {index} differs from the one at byte {other:#x}")]
    Disagreement {
        /// The number of the sample.
        index: u32,
        /// Where else it stands.
        other: u64,
    },
    /// A stream claims a block that is longer than allowed, or keeps too much waiting.
    #[error("a block has {claimed} bytes, the limit for streams is {limit}")]
    TooLong {
        /// The size it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    /// A short word for this kind of error, the same in every run.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.kind {
            ErrorKind::BadMagic { .. } => "bad-magic",
            ErrorKind::Version { .. } => "bad-version",
            ErrorKind::Truncated { .. } => "truncated",
            ErrorKind::BadCrc { .. } => "bad-crc",
            ErrorKind::Disagreement { .. } => "disagreement",
            ErrorKind::TooLong { .. } => "too-long",
        }
    }

    /// Whether more bytes behind the last one could make it whole.
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
            ErrorKind::Version { .. } => Some("it was written by a newer logpose; update logpose"),
            ErrorKind::Disagreement { .. } => {
                Some("the file contains two recordings; download the recording again to a new file")
            }
            ErrorKind::BadMagic { found } if found.starts_with(b"RFLTREC") => {
                Some("a text-mode transfer changed its line endings; copy it again in binary mode")
            }
            _ => None,
        };
        Self {
            dialect: "refloat",
            code: error.code(),
            at: error.at,
            message: error.kind.to_string(),
            help: help.map(Into::into),
        }
    }
}

use logpose_core::{DecodeError, Truncated};

/// Why bytes could not be read as a CARLA recording.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("byte {at:#x}: {kind}")]
pub struct Error {
    /// The byte at fault.
    pub at: u64,
    /// What is wrong.
    pub kind: ErrorKind,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ErrorKind {
    /// The bytes end within a field.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// The header's magic is another.
    #[error("not a CARLA recording: expected the magic CARLA_RECORDER")]
    Magic,
    /// The header names a version that does not exist.
    #[error("unknown recorder version {0}, expected 1 or 2")]
    Version(u16),
    /// The body of a packet has another size than its records take.
    #[error("packet {id} has {size} bytes, its {total} records take {used}")]
    Size {
        /// The packet's id.
        id: u8,
        /// The size it claims.
        size: u64,
        /// The records it claims.
        total: u16,
        /// The bytes that these take.
        used: u64,
    },
    /// A packet of a fixed size has another.
    #[error("packet {id} has {size} bytes, expected {expected}")]
    FixedSize {
        /// The packet's id.
        id: u8,
        /// The size it claims.
        size: u64,
        /// The size it must have.
        expected: u64,
    },
    /// The size of a packet was never filled in: the recorder died while it wrote this one.
    #[error("packet {id} was not finished: its size is still {size}")]
    Unpatched {
        /// The packet's id.
        id: u8,
        /// The size it claims.
        size: u64,
    },
}

impl Error {
    /// A short word for this kind of error, the same in every run.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self.kind {
            ErrorKind::Truncated(_) => "truncated",
            ErrorKind::Magic => "magic",
            ErrorKind::Version(_) => "version",
            ErrorKind::Size { .. } | ErrorKind::FixedSize { .. } => "packet-size",
            ErrorKind::Unpatched { .. } => "unpatched",
        }
    }
}

impl From<Truncated> for Error {
    fn from(truncated: Truncated) -> Self {
        Self { at: truncated.at, kind: truncated.into() }
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        let help = match error.kind {
            ErrorKind::Magic => None,
            ErrorKind::Version(_) => {
                Some("it may be from a newer CARLA; `logpose recover` reads it as the newest known version".to_owned())
            }
            _ => {
                Some("run `logpose doctor` to see the damage, `logpose recover` to keep the complete frames".to_owned())
            }
        };
        Self { dialect: "carla", code: error.code(), at: error.at, message: error.kind.to_string(), help }
    }
}

//! What can be wrong with a message, and where.

use logpose_core::Truncated;

/// Why a message could not be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("byte {at}: {kind}")]
pub struct WireError {
    /// Where in the message the field at fault stands.
    pub at: u64,
    /// What is wrong with it.
    pub kind: WireErrorKind,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// A field did not fit into what was left.
    #[error("{what} needs {needed} bytes, {left} left")]
    Truncated {
        /// The field.
        what: &'static str,
        /// How many bytes it needs.
        needed: u64,
        /// How many there were.
        left: u64,
    },
    /// Another package speaks.
    #[error("package id is {found}, expected 101 (Refloat)")]
    Package {
        /// Its id.
        found: u8,
    },
    /// A number that the field cannot have.
    #[error("unknown {what} {found}")]
    Unknown {
        /// The field.
        what: &'static str,
        /// The number.
        found: u8,
    },
    /// Another message than the one that was asked for.
    #[error("command id is {found}, expected {expected}")]
    Command {
        /// The id of the message that was asked for.
        expected: u8,
        /// The id that was found.
        found: u8,
    },
    /// A length that does not fit to what the message says of itself.
    #[error("{what} has {found} bytes, expected {expected}")]
    Length {
        /// The part.
        what: &'static str,
        /// How many bytes it should have.
        expected: u64,
        /// How many it has.
        found: u64,
    },
    /// The last sample or value is not whole.
    #[error("{found} bytes is not a multiple of {element}-byte {what}")]
    Ragged {
        /// What the parts are.
        what: &'static str,
        /// Bytes of one part.
        element: u64,
        /// How many bytes there are.
        found: u64,
    },
    /// A text with a byte that is not ASCII.
    #[error("{what} has the byte {found:#04x}, which is not ASCII")]
    Text {
        /// The text.
        what: &'static str,
        /// The byte.
        found: u8,
    },
}

impl WireError {
    pub(crate) fn new(at: u64, kind: WireErrorKind) -> Self {
        Self { at, kind }
    }
}

impl From<Truncated> for WireError {
    fn from(Truncated { at, what, needed, left }: Truncated) -> Self {
        Self { at, kind: WireErrorKind::Truncated { what, needed, left } }
    }
}

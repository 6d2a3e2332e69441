use logpose_core::Truncated;

/// Why a message could not be read, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("nt4: byte {at:#x}: {kind}")]
pub struct Error {
    /// Offset into the WebSocket message of the field at fault.
    pub at: u64,
    /// What is wrong with it.
    pub kind: ErrorKind,
}

/// What is wrong with a field.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
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
    /// The one byte that MessagePack never uses.
    #[error("byte 0xc1 is not valid MessagePack")]
    Reserved,
    /// A binary message begins with something else than an array of four elements.
    #[error("expected an array of 4 elements, found byte {found:#04x}")]
    NotAnUpdate {
        /// The byte.
        found: u8,
    },
    /// An element of a binary message that must be an integer.
    #[error("{what} is {found}, expected a 64-bit integer")]
    NotAnInteger {
        /// The element.
        what: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Text that is no JSON.
    #[error("not JSON: {message}")]
    BadJson {
        /// What the parser says.
        message: String,
    },
    /// JSON messages come in a list, with commas between them.
    #[error("expected {expected} of the list of messages")]
    NotAList {
        /// What should be there.
        expected: &'static str,
    },
    /// One JSON message is longer than any program sends.
    #[error("a JSON message of more than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A JSON message that is no object with a method and an object of parameters.
    #[error("a JSON message without {missing}")]
    NotAMessage {
        /// What it lacks.
        missing: &'static str,
    },
    /// A method that this side does not have.
    #[error("unknown method {method:?}")]
    UnknownMethod {
        /// The method.
        method: String,
    },
    /// A parameter is missing or has another type.
    #[error("{method} without {what} in {key:?}")]
    BadParameter {
        /// The method.
        method: &'static str,
        /// The parameter.
        key: &'static str,
        /// What it must be.
        what: &'static str,
    },
}

impl Error {
    pub(crate) fn new(at: u64, kind: ErrorKind) -> Self {
        Self { at, kind }
    }

    /// Whether the reader still knows where the next message starts. It does behind JSON that is no message that it
    /// knows: the specification wants such messages to be ignored.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::NotAMessage { .. } | ErrorKind::UnknownMethod { .. } | ErrorKind::BadParameter { .. }
        )
    }
}

impl From<Truncated> for Error {
    fn from(t: Truncated) -> Self {
        Self::new(t.at, ErrorKind::Truncated { what: t.what, needed: t.needed, left: t.left })
    }
}

//! Records and their bytes.

use std::fmt;

use logpose_core::{Cursor, DecodeError, Truncated};

/// The bytes that a file begins with.
pub(super) const MAGIC: &[u8; 8] = b"TOYLOG1\n";

/// One record, borrowed from the bytes it was read from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Record<'a> {
    /// What an id means from here on.
    Start { id: u8, name: &'a str },
    /// A value.
    Sample { id: u8, micros: i64, value: f64 },
}

/// Why bytes are no record.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Error {
    /// The file ends inside a record.
    #[error(transparent)]
    Truncated(#[from] Truncated),
    /// No record begins like this.
    #[error("unknown record kind {kind}")]
    UnknownKind { at: u64, kind: u8 },
    /// The name of a channel is not UTF-8.
    #[error("the name of a channel is not UTF-8")]
    Name { at: u64 },
    /// It is another file.
    #[error("not a toy log: expected TOYLOG1")]
    Magic,
}

impl<'a> Record<'a> {
    pub(super) fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        let kind = cur.u8("kind")?;
        let id = cur.u8("id")?;
        match kind {
            1 => {
                let length = cur.u8("length of the name")?;
                let name = str::from_utf8(cur.take(length.into(), "name")?).map_err(|_| Error::Name { at })?;
                Ok(Self::Start { id, name })
            }
            2 => {
                let micros = i64::from_le_bytes(*cur.array("time")?);
                let value = f64::from_le_bytes(*cur.array("value")?);
                Ok(Self::Sample { id, micros, value })
            }
            kind => Err(Error::UnknownKind { at, kind }),
        }
    }

    /// Appends the bytes of the record.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Start { id, name } => {
                // The encoder refuses names that are longer.
                out.extend([1, id, u8::try_from(name.len()).unwrap_or(u8::MAX)]);
                out.extend_from_slice(name.as_bytes());
            }
            Self::Sample { id, micros, value } => {
                out.extend([2, id]);
                out.extend(micros.to_le_bytes());
                out.extend(value.to_le_bytes());
            }
        }
    }
}

/// What `logpose dump` prints.
impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { id, name } => write!(f, "start {id} {name:?}"),
            Self::Sample { id, micros, value } => write!(f, "sample {id} at {micros} µs: {value}"),
        }
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        let (code, at) = match &error {
            Error::Truncated(truncated) => ("truncated", truncated.at),
            Error::UnknownKind { at, .. } => ("unknown-kind", *at),
            Error::Name { at } => ("bad-name", *at),
            Error::Magic => ("bad-magic", 0),
        };
        Self { dialect: super::dialect::INFO.name, code, at, message: error.to_string(), help: None }
    }
}

//! Byte layout: revision byte and messages of R1 and R2. Pure functions of bytes.

use std::fmt;

use logpose_core::{Cursor, Layout, Truncated, Type, Value};

use crate::error::{Error, ErrorKind};

/// The default port on which robots serve RLOG.
pub const PORT: u16 = 5800;
/// The frame of length zero that servers send every 20 ms since AdvantageKit 3.2.0.
pub const KEEP_ALIVE: [u8; 4] = [0; 4];
/// What AdvantageScope sends to show that it is still there. Servers take any bytes.
pub const HEARTBEAT: [u8; 4] = [6, 3, 2, 8];

/// Type byte of a timestamp message.
pub(crate) const TIMESTAMP: u8 = 0;
/// Type byte of a key message.
pub(crate) const KEY: u8 = 1;
/// Type byte of a field message.
pub(crate) const FIELD: u8 = 2;
/// Length of a timestamp message.
pub(crate) const TIMESTAMP_LEN: usize = 9;

/// Which of the two formats: the first byte of a log.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Revision {
    /// Every field names its value's type; AdvantageKit 0.0.1 to 1.8.1 and 2.2.0 to 3.1.1.
    R1,
    /// Every key names its type; AdvantageKit 3.2.0 and later, PsiKit.
    R2,
}

impl Revision {
    /// The revision that a byte names.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::R1),
            2 => Some(Self::R2),
            _ => None,
        }
    }

    /// The byte that names it.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Self::R1 => 1,
            Self::R2 => 2,
        }
    }

    /// How numbers lie in its values.
    #[must_use]
    pub fn layout(self) -> Layout {
        match self {
            Self::R1 => Layout::BigShort,
            Self::R2 => Layout::Big,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{}", self.byte())
    }
}

/// The type of one R1 value. There is no variant for unknown ones: the length of such a value is not known,
/// so that reading ends with an error that keeps the byte.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum Kind {
    Null,
    Boolean,
    BooleanArray,
    Integer,
    IntegerArray,
    Double,
    DoubleArray,
    String,
    StringArray,
    Byte,
    ByteArray,
}

impl Kind {
    /// All of them, in the order of their type bytes.
    pub const ALL: [Self; 11] = [
        Self::Null,
        Self::Boolean,
        Self::BooleanArray,
        Self::Integer,
        Self::IntegerArray,
        Self::Double,
        Self::DoubleArray,
        Self::String,
        Self::StringArray,
        Self::Byte,
        Self::ByteArray,
    ];

    /// The kind that a type byte names.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// The type byte.
    #[must_use]
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// The name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::BooleanArray => "boolean array",
            Self::Integer => "integer",
            Self::IntegerArray => "integer array",
            Self::Double => "double",
            Self::DoubleArray => "double array",
            Self::String => "string",
            Self::StringArray => "string array",
            Self::Byte => "byte",
            Self::ByteArray => "byte array",
        }
    }

    /// The type string that WPILOG and R2 have for it; empty for null.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Null => "",
            Self::Boolean => "boolean",
            Self::BooleanArray => "boolean[]",
            Self::Integer => "int64",
            Self::IntegerArray => "int64[]",
            Self::Double => "double",
            Self::DoubleArray => "double[]",
            Self::String => "string",
            Self::StringArray => "string[]",
            Self::Byte | Self::ByteArray => "raw",
        }
    }

    /// Reads the value of an R1 field: all bytes behind the type byte, inner lengths included. `None` for null,
    /// and for bytes that are not a whole value.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> Option<Value<'_>> {
        let elements = || bytes.get(2..);
        let (ty, bytes) = match self {
            Self::Null => return None,
            Self::Boolean => (Type::Boolean, bytes),
            Self::BooleanArray => (Type::BooleanArray, elements()?),
            Self::Integer => (Type::Int64, bytes),
            Self::IntegerArray => (Type::Int64Array, elements()?),
            Self::Double => (Type::Double, bytes),
            Self::DoubleArray => (Type::DoubleArray, elements()?),
            Self::String => (Type::String, elements()?),
            Self::StringArray => (Type::StringArray, bytes),
            Self::Byte => (Type::Bytes, bytes),
            Self::ByteArray => (Type::Bytes, elements()?),
        };
        Value::parse(ty, bytes, Layout::BigShort).ok()
    }

    /// Takes the value's bytes, inner lengths included.
    fn take<'a>(self, cur: &mut Cursor<'a>) -> Result<&'a [u8], Truncated> {
        const LENGTH: &str = "array length";
        let mut whole = *cur;
        match self {
            Self::Null => return Ok(&[]),
            Self::Boolean | Self::Byte => return cur.take(1, "value"),
            Self::Integer => return cur.take(4, "value"),
            Self::Double => return cur.take(8, "value"),
            Self::BooleanArray | Self::String | Self::ByteArray => {
                let n = cur.u16_be(LENGTH)?;
                cur.take(n.into(), "value")?;
            }
            Self::IntegerArray => {
                let n = cur.u16_be(LENGTH)?;
                cur.take(4 * u64::from(n), "value")?;
            }
            Self::DoubleArray => {
                let n = cur.u16_be(LENGTH)?;
                cur.take(8 * u64::from(n), "value")?;
            }
            Self::StringArray => {
                for _ in 0..cur.u16_be(LENGTH)? {
                    let n = cur.u16_be("string length")?;
                    cur.take(n.into(), "string")?;
                }
            }
        }
        whole.take(cur.offset() - whole.offset(), "value")
    }
}

/// One message, borrowed from the bytes it was read from.
///
/// ```text
/// 00 | seconds f64
/// 01 | key id u16 | n u16 | name: n | R2: m u16 | type string: m
/// 02 | key id u16 | R1: value type u8 | value
/// 02 | key id u16 | R2: n u16 | value: n
/// ```
///
/// All numbers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// A cycle begins: all fields up to the next one have this time.
    Timestamp {
        /// Seconds on the robot's clock.
        seconds: f64,
    },
    /// From here on the id stands for this name.
    Key {
        /// The id.
        id: u16,
        /// The name; UTF-8 by convention.
        name: &'a [u8],
        /// The type string; only R2 has it.
        type_name: Option<&'a [u8]>,
    },
    /// A key has a new value.
    Field {
        /// The key's id.
        key: u16,
        /// The value's type; only R1 has it.
        kind: Option<Kind>,
        /// The value: in R1 with its inner lengths, in R2 to be read as the key's type.
        value: &'a [u8],
    },
}

impl<'a> Message<'a> {
    /// Reads the next message.
    pub fn parse(revision: Revision, cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        Ok(match cur.u8("message type")? {
            TIMESTAMP => Self::Timestamp { seconds: f64::from_bits(cur.u64_be("timestamp")?) },
            KEY => {
                let id = cur.u16_be("key id")?;
                let n = cur.u16_be("key length")?;
                let name = cur.take(n.into(), "key")?;
                let type_name = match revision {
                    Revision::R1 => None,
                    Revision::R2 => {
                        let m = cur.u16_be("type string length")?;
                        Some(cur.take(m.into(), "type string")?)
                    }
                };
                Self::Key { id, name, type_name }
            }
            FIELD => {
                let key = cur.u16_be("key id")?;
                match revision {
                    Revision::R1 => {
                        let found = cur.u8("value type")?;
                        let kind = Kind::of(found).ok_or(Error { at, kind: ErrorKind::UnknownValue { key, found } })?;
                        Self::Field { key, kind: Some(kind), value: kind.take(cur)? }
                    }
                    Revision::R2 => {
                        let n = cur.u16_be("value length")?;
                        Self::Field { key, kind: None, value: cur.take(n.into(), "value")? }
                    }
                }
            }
            found => return Err(Error { at, kind: ErrorKind::UnknownMessage { found } }),
        })
    }

    /// Appends the message. Lengths that two bytes cannot say are cut: the writers refuse them before.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let text = |bytes: &[u8], out: &mut Vec<u8>| {
            let n = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
            out.extend_from_slice(&n.to_be_bytes());
            out.extend_from_slice(bytes.get(..n.into()).unwrap_or(bytes));
        };
        match *self {
            Self::Timestamp { seconds } => {
                out.push(TIMESTAMP);
                out.extend_from_slice(&seconds.to_be_bytes());
            }
            Self::Key { id, name, type_name } => {
                out.push(KEY);
                out.extend_from_slice(&id.to_be_bytes());
                text(name, out);
                if let Some(type_name) = type_name {
                    text(type_name, out);
                }
            }
            Self::Field { key, kind, value } => {
                out.push(FIELD);
                out.extend_from_slice(&key.to_be_bytes());
                match kind {
                    Some(kind) => {
                        out.push(kind.byte());
                        out.extend_from_slice(value);
                    }
                    None => text(value, out),
                }
            }
        }
    }
}

/// One line, like tcpdump's.
impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Timestamp { seconds } => write!(f, "timestamp {seconds} s"),
            Self::Key { id, name, type_name } => {
                write!(f, "key {id} {:?}", String::from_utf8_lossy(name))?;
                type_name.map_or(Ok(()), |name| write!(f, " {:?}", String::from_utf8_lossy(name)))
            }
            Self::Field { key, kind, value } => {
                write!(f, "field {key}")?;
                if let Some(kind) = kind {
                    write!(f, " {}", kind.name())?;
                }
                write!(f, " {}", Hex(value))
            }
        }
    }
}

/// Bytes in hexadecimal, the first 32 of them.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        f.write_str("[")?;
        for (i, byte) in self.0.iter().take(SHOWN).enumerate() {
            let space = if i > 0 { " " } else { "" };
            write!(f, "{space}{byte:02x}")?;
        }
        if self.0.len() > SHOWN {
            write!(f, " … {} bytes", self.0.len())?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::{Cursor, Value};

    use super::{Kind, Message, Revision};

    #[test]
    fn kinds_and_their_bytes_agree() {
        for byte in 0..=255 {
            assert_eq!(Kind::of(byte).map(Kind::byte), (byte <= 10).then_some(byte));
        }
    }

    #[test]
    fn r1_values_are_read_with_their_inner_lengths() {
        let bytes = b"\x02\0\x08\x08\0\x03\0\x01a\0\0\0\x02\xc3\xa9rest";
        let mut cur = Cursor::new(bytes, 0);
        let Message::Field { key: 8, kind: Some(kind), value } = Message::parse(Revision::R1, &mut cur).unwrap() else {
            panic!()
        };
        assert_eq!(cur.rest(), b"rest");
        let Some(Value::StringArray(texts)) = kind.value(value) else { panic!() };
        assert_eq!(texts.iter().collect::<Vec<_>>(), [&b"a"[..], b"", "é".as_bytes()]);
    }
}

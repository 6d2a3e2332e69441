//! Binary messages, and what the link must know.

use std::fmt;

use logpose_core::{Cursor, Time};

use crate::error::{Error, ErrorKind};
use crate::model::show;
use crate::msgpack::{Item, put_array, put_int};

/// The port of a server, without TLS.
pub const PORT: u16 = 5810;
/// The path that a client asks for, with its name behind it.
pub const PATH: &str = "/nt/";
/// The WebSocket subprotocols, the better one first: 4.1 and 4.0. Only with 4.1 may the link send WebSocket pings.
pub const SUBPROTOCOLS: [&str; 2] = ["v4.1.networktables.first.wpi.edu", "networktables.first.wpi.edu"];
/// The subprotocol of links that carry nothing but time syncs.
pub const RTT_SUBPROTOCOL: &str = "rtt.networktables.first.wpi.edu";
/// The id of a time sync.
pub const TIME_SYNC: i64 = -1;

/// Whether a WebSocket message is text. Text is a JSON list and begins with `[` or white space; a binary message begins
/// with a MessagePack array. So the first byte distinguishes them, and a session need not learn it from its link.
#[must_use]
pub fn is_text(message: &[u8]) -> bool {
    matches!(message.first(), Some(b'[' | b' ' | b'\t' | b'\r' | b'\n'))
}

/// One binary message: a value of a topic, or a time sync.
///
/// ```text
/// 94 | id               | timestamp µs | type code | value
///  1 | int, -1 for sync | int          | int       | what the type code says
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update<'a> {
    /// From a server the topic's id, from a client its publisher's; [`TIME_SYNC`] for a time sync.
    pub id: i64,
    /// Microseconds on the server's clock; 0 for a value that only stands in until somebody sets one.
    pub time: i64,
    /// What the value is said to be.
    pub kind: Kind,
    /// The value.
    pub value: Item<'a>,
    /// The bytes of the value.
    pub bytes: &'a [u8],
}

impl<'a> Update<'a> {
    /// Reads one message.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        let found = cur.u8("message")?;
        let elements = match found {
            0x94 => 4,
            0xdc => cur.u16_be("array length")?.into(),
            0xdd => u32::from_be_bytes(*cur.array("array length")?),
            _ => 0,
        };
        if elements != 4 {
            return Err(Error::new(at, ErrorKind::NotAnUpdate { found }));
        }
        let id = int(cur, "id")?;
        let time = int(cur, "timestamp")?;
        let kind = Kind::of_code(int(cur, "type code")?);
        let begin = cur.rest();
        let value = Item::parse(cur)?;
        let bytes = begin.get(..begin.len() - cur.rest().len()).unwrap_or_default();
        Ok(Self { id, time, kind, value, bytes })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_head(self.id, self.time, self.kind, out);
        out.extend_from_slice(self.bytes);
    }
}

fn int(cur: &mut Cursor<'_>, what: &'static str) -> Result<i64, Error> {
    let at = cur.offset();
    match Item::parse(cur)? {
        Item::Int(number) => Ok(number),
        other => Err(Error::new(at, ErrorKind::NotAnInteger { what, found: other.name() })),
    }
}

/// Appends all of a message but its value.
pub(crate) fn put_head(id: i64, time: i64, kind: Kind, out: &mut Vec<u8>) {
    put_array(4, out);
    put_int(id, out);
    put_int(time, out);
    put_int(kind.code(), out);
}

/// `#5 0.120 double 1.5`
impl fmt::Display for Update<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.id == TIME_SYNC {
            f.write_str("sync")?;
        } else {
            write!(f, "#{}", self.id)?;
        }
        write!(f, " {} {} ", Time::from_micros(self.time), self.kind)?;
        show(f, &self.value)
    }
}

/// The messages of one binary WebSocket message. After an error it ends: MessagePack has no marks to find the next by.
#[derive(Clone, Debug)]
pub struct Updates<'a>(Cursor<'a>);

impl<'a> Updates<'a> {
    /// The messages in `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Cursor::new(bytes, 0))
    }
}

impl<'a> Iterator for Updates<'a> {
    type Item = Result<Update<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let update = Update::parse(&mut self.0);
        if update.is_err() {
            self.0 = Cursor::new(&[], self.0.offset());
        }
        Some(update)
    }
}

/// What a value is on the wire. Every type string has a kind; many have [`Kind::Raw`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// `boolean`
    Boolean,
    /// `double`
    Double,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `string` and `json`
    String,
    /// `raw`, `msgpack`, `struct:…` and every type string that is not in this list
    Raw,
    /// `boolean[]`
    BooleanArray,
    /// `double[]`
    DoubleArray,
    /// `int[]`
    IntArray,
    /// `float[]`
    FloatArray,
    /// `string[]`
    StringArray,
    /// A type code that the specification does not have.
    Unknown(i64),
}

impl Kind {
    /// The kind of a topic with this type string.
    #[must_use]
    pub fn of_type(name: &str) -> Self {
        match name {
            "boolean" => Self::Boolean,
            "double" => Self::Double,
            "int" => Self::Int,
            "float" => Self::Float,
            "string" | "json" => Self::String,
            "boolean[]" => Self::BooleanArray,
            "double[]" => Self::DoubleArray,
            "int[]" => Self::IntArray,
            "float[]" => Self::FloatArray,
            "string[]" => Self::StringArray,
            _ => Self::Raw,
        }
    }

    /// The kind that a type code names.
    #[must_use]
    pub fn of_code(code: i64) -> Self {
        match code {
            0 => Self::Boolean,
            1 => Self::Double,
            2 => Self::Int,
            3 => Self::Float,
            4 => Self::String,
            5 => Self::Raw,
            16 => Self::BooleanArray,
            17 => Self::DoubleArray,
            18 => Self::IntArray,
            19 => Self::FloatArray,
            20 => Self::StringArray,
            _ => Self::Unknown(code),
        }
    }

    /// The type code.
    #[must_use]
    pub fn code(self) -> i64 {
        match self {
            Self::Boolean => 0,
            Self::Double => 1,
            Self::Int => 2,
            Self::Float => 3,
            Self::String => 4,
            Self::Raw => 5,
            Self::BooleanArray => 16,
            Self::DoubleArray => 17,
            Self::IntArray => 18,
            Self::FloatArray => 19,
            Self::StringArray => 20,
            Self::Unknown(code) => code,
        }
    }
}

/// The type string that stands for the kind, or the code.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "boolean",
            Self::Double => "double",
            Self::Int => "int",
            Self::Float => "float",
            Self::String => "string",
            Self::Raw => "raw",
            Self::BooleanArray => "boolean[]",
            Self::DoubleArray => "double[]",
            Self::IntArray => "int[]",
            Self::FloatArray => "float[]",
            Self::StringArray => "string[]",
            Self::Unknown(code) => return write!(f, "type {code}"),
        })
    }
}

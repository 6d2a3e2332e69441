use std::fmt::{self, Display, Formatter, Write as _};

use crate::json;

/// A decoded value of any shape.
///
/// `Display` gives one line for people:
///
/// ```
/// use logpose_schema::Tree;
///
/// let tree = Tree::Map(vec![
///     ("x".into(), Tree::Double(1.0)),
///     ("mode".into(), Tree::Enum { number: 2, name: Some("teleop".into()) }),
/// ]);
/// assert_eq!(tree.to_string(), "{x: 1, mode: teleop(2)}");
/// assert_eq!(tree.to_json(), r#"{"x":1.0,"mode":2}"#);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// Nothing there: JSON and msgpack null, unset optional fields.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed integer, and any integer of msgpack and JSON that fits.
    Int(i64),
    /// A field of unsigned type, or an integer that needs the 64th bit.
    UInt(u64),
    /// A single-precision number; kept apart so that it prints as short as it was written.
    Float(f32),
    /// A double-precision number.
    Double(f64),
    /// Characters.
    Text(String),
    /// Octets without a meaning of their own.
    Bytes(Vec<u8>),
    /// Elements of an array.
    List(Vec<Self>),
    /// Named values in declaration order.
    Map(Vec<(String, Self)>),
    /// A number with, if the schema lists it, a name; the number is the value.
    Enum {
        /// What was stored.
        number: i64,
        /// What the schema calls it.
        name: Option<String>,
    },
}

impl Tree {
    /// The value of that name, if this is a map that has it.
    pub fn field(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The elements, if this is a list.
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Appends the value as JSON; see [`json`] for what has no JSON token. Enums are their number.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => json::null(out),
            Self::Bool(value) => json::bool(out, *value),
            Self::Int(value) | Self::Enum { number: value, .. } => json::i64(out, *value),
            Self::UInt(value) => json::u64(out, *value),
            Self::Float(value) => json::f32(out, *value),
            Self::Double(value) => json::f64(out, *value),
            Self::Text(text) => json::string(out, text),
            Self::Bytes(bytes) => json::bytes(out, bytes),
            Self::List(items) => {
                joined(out, [b'[', b']'], items, |out, item| item.write_json(out));
            }
            Self::Map(fields) => {
                joined(out, [b'{', b'}'], fields, |out, (name, value)| {
                    json::string(out, name);
                    out.push(b':');
                    value.write_json(out);
                });
            }
        }
    }

    /// The value as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write_json(&mut out);
        // Everything written is UTF-8: names and texts are `str`, the rest is ASCII.
        String::from_utf8(out).unwrap_or_default()
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::UInt(value) => write!(f, "{value}"),
            Self::Float(value) => decimal(f, |out| json::f32_text(out, *value)),
            Self::Double(value) => decimal(f, |out| json::f64_text(out, *value)),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => hex(f, bytes),
            Self::Enum { number, name: None } => write!(f, "{number}"),
            Self::Enum { number, name: Some(name) } => write!(f, "{name}({number})"),
            Self::List(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    separate(f, at)?;
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Map(fields) => {
                f.write_char('{')?;
                for (at, (name, value)) in fields.iter().enumerate() {
                    separate(f, at)?;
                    // Names come from the log: a line break in one must not break the line.
                    write!(f, "{}: {value}", name.escape_debug())?;
                }
                f.write_char('}')
            }
        }
    }
}

fn joined<T>(out: &mut Vec<u8>, brackets: [u8; 2], items: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    let [open, close] = brackets;
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
}

fn separate(f: &mut Formatter<'_>, at: usize) -> fmt::Result {
    if at > 0 { f.write_str(", ") } else { Ok(()) }
}

/// A float without the `.0` that only programs need.
fn decimal(f: &mut Formatter<'_>, write: impl FnOnce(&mut Vec<u8>)) -> fmt::Result {
    let mut text = Vec::with_capacity(24);
    write(&mut text);
    let text = str::from_utf8(&text).unwrap_or_default();
    f.write_str(text.strip_suffix(".0").unwrap_or(text))
}

fn hex(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("0x")?;
    for &byte in bytes.iter().take(SHOWN_BYTES) {
        f.write_char(json::hex_digit(byte >> 4).into())?;
        f.write_char(json::hex_digit(byte & 0xf).into())?;
    }
    if bytes.len() > SHOWN_BYTES {
        write!(f, "… ({} bytes)", bytes.len())?;
    }
    Ok(())
}

/// How many bytes of a byte string a line shows.
const SHOWN_BYTES: usize = 32;

//! msgpack: one object per payload.
//!
//! Read here rather than with a crate: rmpv takes the reserved byte `c1`, the surest sign of damage,
//! for nil, and builds a tree of its own first.

use crate::budget::Budget;
use crate::{SchemaError, Tree};

/// The object at the start of `payload`, and how many bytes are left after it.
pub(crate) fn decode(payload: &[u8]) -> Result<(Tree, usize), SchemaError> {
    let mut reader = Reader { rest: payload, len: payload.len(), budget: Budget::new() };
    let tree = reader.object(MAX_DEPTH)?;
    Ok((tree, reader.rest.len()))
}

struct Reader<'a> {
    rest: &'a [u8],
    len: usize,
    budget: Budget,
}

impl<'a> Reader<'a> {
    /// The next object, of at most `depth` levels.
    fn object(&mut self, depth: usize) -> Result<Tree, SchemaError> {
        self.budget.node(0)?;
        let marker = u8::from_be_bytes(self.array()?);
        Ok(match marker {
            0x00..=0x7f => Tree::Int(marker.into()),
            0x80..=0x8f => self.map((marker & 0x0f).into(), depth)?,
            0x90..=0x9f => self.list((marker & 0x0f).into(), depth)?,
            0xa0..=0xbf => self.text((marker & 0x1f).into())?,
            0xc0 => Tree::Null,
            0xc1 => return Err(self.broken("the reserved byte c1")),
            0xc2 => Tree::Bool(false),
            0xc3 => Tree::Bool(true),
            0xc4..=0xc6 => {
                let len = self.size(marker - 0xc4)?;
                Tree::Bytes(self.take(len)?.to_vec())
            }
            0xc7..=0xc9 => {
                let len = self.size(marker - 0xc7)?;
                self.ext(len)?
            }
            0xca => Tree::Float(f32::from_be_bytes(self.array()?)),
            0xcb => Tree::Double(f64::from_be_bytes(self.array()?)),
            0xcc => Tree::Int(u8::from_be_bytes(self.array()?).into()),
            0xcd => Tree::Int(u16::from_be_bytes(self.array()?).into()),
            0xce => Tree::Int(u32::from_be_bytes(self.array()?).into()),
            0xcf => {
                let value = u64::from_be_bytes(self.array()?);
                i64::try_from(value).map_or(Tree::UInt(value), Tree::Int)
            }
            0xd0 => Tree::Int(i8::from_be_bytes(self.array()?).into()),
            0xd1 => Tree::Int(i16::from_be_bytes(self.array()?).into()),
            0xd2 => Tree::Int(i32::from_be_bytes(self.array()?).into()),
            0xd3 => Tree::Int(i64::from_be_bytes(self.array()?)),
            0xd4..=0xd8 => self.ext(1 << (marker - 0xd4))?,
            0xd9..=0xdb => {
                let len = self.size(marker - 0xd9)?;
                self.text(len)?
            }
            // Arrays and maps have no form with a one-byte count.
            0xdc | 0xdd => {
                let len = self.size(marker - 0xdc + 1)?;
                self.list(len, depth)?
            }
            0xde | 0xdf => {
                let len = self.size(marker - 0xde + 1)?;
                self.map(len, depth)?
            }
            0xe0..=0xff => Tree::Int(marker.cast_signed().into()),
        })
    }

    fn list(&mut self, count: usize, depth: usize) -> Result<Tree, SchemaError> {
        let depth = self.descend(depth)?;
        // The count is a claim, so the list grows as elements are found.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.object(depth)?);
        }
        Ok(Tree::List(items))
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Tree, SchemaError> {
        let depth = self.descend(depth)?;
        let mut fields = Vec::new();
        for _ in 0..count {
            let name = match self.object(depth)? {
                Tree::Text(text) => text,
                // Nested keys would be quoted once per level, and every quoting doubles the escapes.
                Tree::List(_) | Tree::Map(_) => {
                    return Err(self.broken("an array or map as the key of a map"));
                }
                other => other.to_string(),
            };
            fields.push((name, self.object(depth)?));
        }
        Ok(Tree::Map(fields))
    }

    /// A string that is not UTF-8 is legal on the wire; its bytes are what is certain.
    fn text(&mut self, len: usize) -> Result<Tree, SchemaError> {
        let bytes = self.take(len)?;
        Ok(str::from_utf8(bytes).map_or_else(|_| Tree::Bytes(bytes.to_vec()), |text| Tree::Text(text.to_owned())))
    }

    fn ext(&mut self, len: usize) -> Result<Tree, SchemaError> {
        let kind = i8::from_be_bytes(self.array()?);
        let data = Tree::Bytes(self.take(len)?.to_vec());
        Ok(Tree::Map(vec![("ext".to_owned(), Tree::Int(kind.into())), ("data".to_owned(), data)]))
    }

    /// A length of 1, 2 or 4 bytes.
    fn size(&mut self, form: u8) -> Result<usize, SchemaError> {
        let size = match form {
            0 => u8::from_be_bytes(self.array()?).into(),
            1 => u16::from_be_bytes(self.array()?).into(),
            _ => u32::from_be_bytes(self.array()?),
        };
        usize::try_from(size).map_err(|_| self.broken("a length beyond the payload"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SchemaError> {
        match self.rest.split_first_chunk() {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(*bytes)
            }
            None => Err(self.broken("the end of the payload inside an object")),
        }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], SchemaError> {
        match self.rest.split_at_checked(len) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(self.broken("a length beyond the payload")),
        }
    }

    fn descend(&self, depth: usize) -> Result<usize, SchemaError> {
        depth.checked_sub(1).ok_or_else(|| self.broken("too many levels"))
    }

    fn broken(&self, what: &str) -> SchemaError {
        let at = self.len - self.rest.len();
        SchemaError::Payload { format: "msgpack", reason: format!("byte {at}: {what}") }
    }
}

/// Levels of arrays and maps; the same as serde_json's.
const MAX_DEPTH: usize = 128;

//! msgpack: one object per payload.
//!
//! The markers are rmp's; the tree is built here, so that depth and memory are bounded.

use rmp::Marker;

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
        Ok(match Marker::from_u8(self.byte()?) {
            Marker::Null => Tree::Null,
            Marker::False => Tree::Bool(false),
            Marker::True => Tree::Bool(true),
            Marker::FixPos(value) => Tree::Int(value.into()),
            Marker::FixNeg(value) => Tree::Int(value.into()),
            Marker::U8 => Tree::Int(self.byte()?.into()),
            Marker::U16 => Tree::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Tree::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => {
                let value = u64::from_be_bytes(self.array()?);
                i64::try_from(value).map_or(Tree::UInt(value), Tree::Int)
            }
            Marker::I8 => Tree::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Tree::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Tree::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Tree::Int(i64::from_be_bytes(self.array()?)),
            Marker::F32 => Tree::Float(f32::from_be_bytes(self.array()?)),
            Marker::F64 => Tree::Double(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(len) => self.text(len.into())?,
            Marker::Str8 => self.byte().and_then(|len| self.text(len.into()))?,
            Marker::Str16 => self.size16().and_then(|len| self.text(len))?,
            Marker::Str32 => self.size32().and_then(|len| self.text(len))?,
            Marker::Bin8 => self.byte().and_then(|len| self.bytes(len.into()))?,
            Marker::Bin16 => self.size16().and_then(|len| self.bytes(len))?,
            Marker::Bin32 => self.size32().and_then(|len| self.bytes(len))?,
            Marker::FixArray(count) => self.list(count.into(), depth)?,
            Marker::Array16 => self.size16().and_then(|count| self.list(count, depth))?,
            Marker::Array32 => self.size32().and_then(|count| self.list(count, depth))?,
            Marker::FixMap(count) => self.map(count.into(), depth)?,
            Marker::Map16 => self.size16().and_then(|count| self.map(count, depth))?,
            Marker::Map32 => self.size32().and_then(|count| self.map(count, depth))?,
            Marker::FixExt1 => self.ext(1)?,
            Marker::FixExt2 => self.ext(2)?,
            Marker::FixExt4 => self.ext(4)?,
            Marker::FixExt8 => self.ext(8)?,
            Marker::FixExt16 => self.ext(16)?,
            Marker::Ext8 => self.byte().and_then(|len| self.ext(len.into()))?,
            Marker::Ext16 => self.size16().and_then(|len| self.ext(len))?,
            Marker::Ext32 => self.size32().and_then(|len| self.ext(len))?,
            // The surest sign of damage; rmpv would take it for nil.
            Marker::Reserved => return Err(self.broken("the reserved byte c1")),
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

    fn bytes(&mut self, len: usize) -> Result<Tree, SchemaError> {
        self.take(len).map(|bytes| Tree::Bytes(bytes.to_vec()))
    }

    fn ext(&mut self, len: usize) -> Result<Tree, SchemaError> {
        let kind = i8::from_be_bytes(self.array()?);
        let data = self.bytes(len)?;
        Ok(Tree::Map(vec![("ext".to_owned(), Tree::Int(kind.into())), ("data".to_owned(), data)]))
    }

    fn byte(&mut self) -> Result<u8, SchemaError> {
        self.array().map(|[byte]| byte)
    }

    fn size16(&mut self) -> Result<usize, SchemaError> {
        self.array().map(|size| u16::from_be_bytes(size).into())
    }

    fn size32(&mut self) -> Result<usize, SchemaError> {
        let size = u32::from_be_bytes(self.array()?);
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

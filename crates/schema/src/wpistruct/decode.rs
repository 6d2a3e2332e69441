use std::borrow::Cow;

use super::{Bits, EnumNames, Field, Kind, Layout, Scalar};
use crate::{SchemaError, Tree, budget};

/// The struct at the start of `bytes`.
pub(crate) fn tree(layout: &Layout, bytes: &[u8]) -> Result<Tree, SchemaError> {
    budget::check(layout.weight())?;
    bytes.get(..layout.size).and_then(|bytes| map(layout, bytes)).ok_or_else(|| short(layout, 1, bytes))
}

/// As many structs as given, from the start of `bytes`.
pub(crate) fn many(layout: &Layout, count: usize, bytes: &[u8]) -> Result<Tree, SchemaError> {
    budget::check(layout.weight().saturating_mul(budget::bytes(count)))?;
    list(layout, count, bytes).ok_or_else(|| short(layout, count, bytes))
}

/// The text of a `char` array.
///
/// Writers fill up with zeros and may cut a character in half when the text is too long.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let bytes = bytes.get(..end).unwrap_or_default();
    let whole = bytes.get(..end - half_character(bytes)).unwrap_or_default();
    String::from_utf8_lossy(whole)
}

impl Field {
    /// The value of the field in a struct of `bytes`, for readers that want a few fields and not the whole tree.
    pub fn read(&self, bytes: &[u8]) -> Option<Tree> {
        value(self, bytes)
    }
}

fn map(layout: &Layout, bytes: &[u8]) -> Option<Tree> {
    let fields = layout.fields.iter().map(|field| Some((field.name.clone(), value(field, bytes)?)));
    fields.collect::<Option<_>>().map(Tree::Map)
}

fn list(layout: &Layout, count: usize, bytes: &[u8]) -> Option<Tree> {
    let element = |at: usize| {
        let start = at.checked_mul(layout.size)?;
        map(layout, bytes.get(start..start.checked_add(layout.size)?)?)
    };
    (0..count).map(element).collect::<Option<_>>().map(Tree::List)
}

fn value(field: &Field, bytes: &[u8]) -> Option<Tree> {
    let bytes = bytes.get(field.offset..)?;
    match (&field.kind, field.bits, field.count) {
        (Kind::Scalar(scalar), Some(bits), _) => Some(named(bit_field(*scalar, bits, bytes)?, &field.names)),
        (Kind::Scalar(scalar), None, None) => Some(named(scalar.read(bytes)?, &field.names)),
        (Kind::Scalar(Scalar::Char), None, Some(count)) => Some(Tree::Text(text(bytes.get(..count)?).into_owned())),
        (Kind::Scalar(scalar), None, Some(count)) => {
            let packed = bytes.get(..count.checked_mul(scalar.size())?)?;
            let items = packed.chunks_exact(scalar.size());
            items.map(|item| Some(named(scalar.read(item)?, &field.names))).collect::<Option<_>>().map(Tree::List)
        }
        (Kind::Struct(inner), _, None) => map(inner, bytes.get(..inner.size)?),
        (Kind::Struct(inner), _, Some(count)) => list(inner, count, bytes),
    }
}

fn bit_field(scalar: Scalar, bits: Bits, bytes: &[u8]) -> Option<Tree> {
    Some(match scalar {
        Scalar::Bool => Tree::Bool(bits.unsigned(bytes)? != 0),
        _ if scalar.is_signed() => Tree::Int(bits.signed(bytes)?),
        _ => Tree::UInt(bits.unsigned(bytes)?),
    })
}

/// An integer of an enum. On other types WPILib accepts enums too; they say nothing there.
fn named(value: Tree, names: &EnumNames) -> Tree {
    if names.is_empty() {
        return value;
    }
    let number = match value {
        Tree::Int(number) => Some(number),
        Tree::UInt(number) => i64::try_from(number).ok(),
        _ => None,
    };
    match number {
        Some(number) => Tree::Enum { number, name: names.name(number).map(str::to_owned) },
        None => value,
    }
}

/// How many bytes at the end start a UTF-8 character without finishing it.
fn half_character(bytes: &[u8]) -> usize {
    let tail = bytes.iter().rev().take(3).position(|&byte| byte & 0b1100_0000 != 0b1000_0000);
    let Some(tail) = tail.map(|at| at + 1) else {
        return 0;
    };
    let needed = match bytes.iter().nth_back(tail - 1) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    if needed > tail { tail } else { 0 }
}

fn short(layout: &Layout, count: usize, bytes: &[u8]) -> SchemaError {
    SchemaError::Short {
        name: format!("struct:{}", layout.name),
        needed: layout.size.saturating_mul(count),
        len: bytes.len(),
    }
}

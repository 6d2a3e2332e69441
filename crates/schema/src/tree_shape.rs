use std::sync::Arc;

use crate::SchemaError;
use crate::budget::bytes;
use crate::wpistruct::{EnumNames, Kind, Layout, Scalar};

/// What the trees of a type look like, as far as its schema says: for code that makes columns of them.
///
/// Any part of a tree may also be [`Tree::Null`](crate::Tree::Null).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TreeShape {
    /// A fixed type. `char` is a text of one character.
    Scalar(Scalar),
    /// Characters.
    Text,
    /// Octets.
    Bytes,
    /// A number with names.
    Enum(Arc<EnumNames>),
    /// Any number of elements.
    List(Box<Self>),
    /// Always so many elements.
    Array(Box<Self>, usize),
    /// Named values in declaration order. Only the whole shape can have none.
    Struct(Vec<(String, Self)>),
    /// Values by key, which the tree has as text.
    Map(Box<Self>, Box<Self>),
    /// A value of any shape: JSON, msgpack, messages inside themselves, and those without fields.
    Any,
}

impl TreeShape {
    pub(crate) fn of_layout(layout: &Layout, budget: &mut FieldBudget) -> Result<Self, SchemaError> {
        let mut fields = Vec::new();
        for field in &layout.fields {
            let form = match &field.kind {
                // They say nothing, but there can be any number of them.
                Kind::Struct(inner) if inner.size == 0 => continue,
                Kind::Struct(inner) => Self::of_layout(inner, budget)?,
                Kind::Scalar(scalar) if scalar.is_integer() && !field.names.is_empty() => {
                    Self::Enum(Arc::clone(&field.names))
                }
                Kind::Scalar(scalar) => Self::Scalar(*scalar),
            };
            budget.add(&field.name)?;
            let form = match (form, field.count) {
                (form, None) => form,
                (Self::Scalar(Scalar::Char), Some(_)) => Self::Text,
                (form, Some(count)) => Self::Array(Box::new(form), count),
            };
            fields.push((field.name.clone(), form));
        }
        Ok(Self::Struct(fields))
    }

    /// What may be there or not, and has nothing in it, is no struct for columns.
    pub(crate) fn or_any(self) -> Self {
        if self == Self::Struct(Vec::new()) { Self::Any } else { self }
    }
}

/// How many fields a shape may still have: messages that contain others twice on each of many levels have no end.
#[derive(Debug)]
pub(crate) struct FieldBudget {
    limit: usize,
    left: usize,
}

impl FieldBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, left: limit }
    }

    /// Pays for a field; a long name counts more than once.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), SchemaError> {
        let limit = bytes(self.limit);
        let left = self.left.checked_sub(1 + name.len() / MEAN_NAME_BYTES);
        self.left = left.ok_or(SchemaError::TooLarge { what: "fields", limit })?;
        Ok(())
    }
}

/// How long names may be before they count as several fields.
const MEAN_NAME_BYTES: usize = 256;

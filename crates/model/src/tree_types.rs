//! Arrow types of what a schema describes.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields};
use logpose_schema::TreeShape;
use logpose_schema::wpistruct::Scalar;

/// The Arrow type of decoded values. `None` where they have no fields.
pub(crate) fn data_type(form: &TreeShape) -> Option<DataType> {
    if *form == TreeShape::Any {
        return Some(DataType::Utf8);
    }
    let inner = match form {
        TreeShape::List(item) | TreeShape::Array(item, _) => item,
        form => form,
    };
    if !matches!(inner, TreeShape::Struct(fields) if !fields.is_empty()) {
        return None;
    }
    let arrays = if slots(inner) <= MOST_SLOTS { Arrays::Fixed } else { Arrays::Lists };
    Some(match form {
        // How many there are is a claim of the type string, and a payload that has fewer is null.
        TreeShape::List(item) | TreeShape::Array(item, _) => list(item, arrays),
        form => type_of(form, arrays),
    })
}

/// What arrays of a fixed number of elements become.
#[derive(Clone, Copy)]
enum Arrays {
    Fixed,
    Lists,
}

fn type_of(form: &TreeShape, arrays: Arrays) -> DataType {
    match form {
        TreeShape::Scalar(scalar) => scalar_type(*scalar),
        TreeShape::Text | TreeShape::Any => DataType::Utf8,
        TreeShape::Bytes => DataType::Binary,
        TreeShape::Enum(_) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        TreeShape::List(item) => list(item, arrays),
        TreeShape::Array(item, count) => match (arrays, i32::try_from(*count)) {
            (Arrays::Fixed, Ok(count)) => {
                DataType::FixedSizeList(Arc::new(Field::new_list_field(type_of(item, arrays), true)), count)
            }
            _ => list(item, arrays),
        },
        TreeShape::Struct(fields) => {
            let field = |(name, form): &(String, TreeShape)| Field::new(name, type_of(form, arrays), true);
            DataType::Struct(fields.iter().map(field).collect())
        }
        TreeShape::Map(key, value) => {
            let pair =
                [Field::new("key", type_of(key, arrays), true), Field::new("value", type_of(value, arrays), true)];
            let pair = DataType::Struct(Fields::from(pair.to_vec()));
            DataType::List(Arc::new(Field::new_list_field(pair, true)))
        }
    }
}

fn list(item: &TreeShape, arrays: Arrays) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(type_of(item, arrays), true)))
}

fn scalar_type(scalar: Scalar) -> DataType {
    match scalar {
        Scalar::Bool => DataType::Boolean,
        Scalar::Char => DataType::Utf8,
        Scalar::Int8 => DataType::Int8,
        Scalar::UInt8 => DataType::UInt8,
        Scalar::Int16 => DataType::Int16,
        Scalar::UInt16 => DataType::UInt16,
        Scalar::Int32 => DataType::Int32,
        Scalar::UInt32 => DataType::UInt32,
        Scalar::Int64 => DataType::Int64,
        Scalar::UInt64 => DataType::UInt64,
        Scalar::Float => DataType::Float32,
        Scalar::Double => DataType::Float64,
    }
}

/// How many places a null row takes, with all arrays fixed.
fn slots(form: &TreeShape) -> usize {
    match form {
        TreeShape::Array(item, count) => slots(item).saturating_mul(*count),
        TreeShape::Struct(fields) => fields.iter().fold(0, |sum, (_, form)| sum.saturating_add(slots(form))),
        _ => 1,
    }
}

/// Fields of the largest value that becomes columns. Each costs a place a row also where payloads are empty, so a
/// hostile schema gets no more than some megabytes a chunk out of this.
pub(crate) const MOST_FIELDS: usize = 1024;

/// Beyond this, arrays of fixed size are lists, of which a null costs nothing.
const MOST_SLOTS: usize = 1024;

//! WPILib structs, field by field: every field lies at a fixed place in every struct, so a column is one strided copy.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, StructArray, new_null_array};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Fields};
use logpose_core::array_at;
use logpose_schema::wpistruct::{self, Bits, EnumNames, Field, Kind, Layout, Scalar};

use crate::enums::Names;
use crate::memory::numbers;
use crate::plain::{Texts, list_of, some};

/// Where structs, or elements of an array in them, begin.
#[derive(Clone)]
pub(crate) struct Places<'a> {
    bytes: &'a Buffer,
    starts: Arc<Starts>,
    /// Added to every start.
    offset: usize,
    nulls: Option<NullBuffer>,
}

enum Starts {
    /// One after the other: the first, the step, how many.
    Even(usize, usize, usize),
    /// Each somewhere, or [`MISSING`].
    Each(Vec<usize>),
}

/// A start where there is nothing to read.
pub(crate) const MISSING: usize = usize::MAX;

impl<'a> Places<'a> {
    /// `count` places, `step` bytes apart.
    pub(crate) fn even(bytes: &'a Buffer, step: usize, count: usize) -> Self {
        Self { bytes, starts: Arc::new(Starts::Even(0, step, count)), offset: 0, nulls: None }
    }

    /// Places that are listed.
    pub(crate) fn each(bytes: &'a Buffer, starts: Vec<usize>) -> Self {
        let valid = BooleanBuffer::collect_bool(starts.len(), |at| starts.get(at).is_some_and(|at| *at != MISSING));
        Self { bytes, starts: Arc::new(Starts::Each(starts)), offset: 0, nulls: some(NullBuffer::new(valid)) }
    }

    fn len(&self) -> usize {
        match &*self.starts {
            Starts::Even(_, _, count) => *count,
            Starts::Each(starts) => starts.len(),
        }
    }

    /// The places `offset` bytes further on.
    fn at(&self, offset: usize) -> Self {
        Self { offset: self.offset + offset, ..self.clone() }
    }

    /// The places of `count` elements of `size` bytes at each of these places; of missing ones none, or missing ones.
    fn elements(&self, count: usize, size: usize, missing: bool) -> Self {
        match &*self.starts {
            Starts::Even(first, step, len) if *step == count * size => {
                let starts = Starts::Even(first + self.offset, size, len * count);
                Self { starts: Arc::new(starts), offset: 0, ..self.clone() }
            }
            _ => {
                let start = |start: usize| {
                    let count = if start == MISSING && !missing { 0 } else { count };
                    (0..count).map(move |at| if start == MISSING { MISSING } else { start + at * size })
                };
                Self { offset: 0, ..Self::each(self.bytes, self.iter().flat_map(start).collect()) }
            }
        }
    }

    /// Where the places are; [`MISSING`] stays.
    fn iter(&self) -> impl Iterator<Item = usize> {
        let (even, each) = match &*self.starts {
            Starts::Even(first, step, count) => (Some((0..*count).map(move |at| first + at * step)), None),
            Starts::Each(starts) => (None, Some(starts.iter().copied())),
        };
        let starts = even.into_iter().flatten().chain(each.into_iter().flatten());
        starts.map(|start| if start == MISSING { MISSING } else { start + self.offset })
    }

    /// What lies at each place; zeros where there is nothing.
    fn read<const N: usize, T>(&self, read: impl Fn([u8; N]) -> T) -> Vec<T> {
        let bytes = self.bytes.as_slice();
        let at = |at: usize| read(array_at(bytes, at).copied().unwrap_or([0; N]));
        match &*self.starts {
            Starts::Even(first, step, count) => (0..*count).map(|i| at(first + self.offset + i * step)).collect(),
            Starts::Each(starts) => starts.iter().map(|start| at(start.saturating_add(self.offset))).collect(),
        }
    }

    /// Numbers; as they are where they lie side by side.
    fn numbers<T: ArrowPrimitiveType, const N: usize>(&self, read: impl Fn([u8; N]) -> T::Native) -> ArrayRef {
        let values = match &*self.starts {
            Starts::Even(first, step, count) if *step == N && *count > 0 => {
                numbers(&self.bytes.slice_with_length(first + self.offset, N * count), *count)
            }
            _ => self.read(read).into(),
        };
        Arc::new(PrimitiveArray::<T>::new(values, self.nulls.clone()))
    }
}

/// The structs at all places.
pub(crate) fn array(layout: &Layout, fields: &Fields, places: &Places<'_>) -> ArrayRef {
    let visible = layout.fields.iter().filter(|field| !matches!(&field.kind, Kind::Struct(inner) if inner.size == 0));
    let columns =
        visible.zip(fields).map(|(field, field_type)| column(field, field_type.data_type(), &places.at(field.offset)));
    Arc::new(StructArray::new(fields.clone(), columns.collect(), places.nulls.clone()))
}

fn column(field: &Field, data_type: &DataType, places: &Places<'_>) -> ArrayRef {
    let size = match &field.kind {
        Kind::Scalar(scalar) => scalar.size(),
        Kind::Struct(inner) => inner.size,
    };
    match (data_type, field.count) {
        (DataType::Utf8, count) => text(places, count.unwrap_or(1)),
        (DataType::FixedSizeList(item, _), Some(count)) => {
            let values = element(field, item.data_type(), &places.elements(count, size, true));
            let count = i32::usize_as(count);
            Arc::new(FixedSizeListArray::new(Arc::clone(item), count, values, places.nulls.clone()))
        }
        (DataType::List(item), Some(count)) => {
            let values = element(field, item.data_type(), &places.elements(count, size, false));
            let lengths = places.iter().map(|start| if start == MISSING { 0 } else { count });
            list_of(OffsetBuffer::from_lengths(lengths), values, places.nulls.clone())
        }
        _ => element(field, data_type, places),
    }
}

fn element(field: &Field, data_type: &DataType, places: &Places<'_>) -> ArrayRef {
    match (&field.kind, data_type) {
        (Kind::Struct(inner), DataType::Struct(fields)) => array(inner, fields, places),
        (Kind::Scalar(scalar), _) => leaf(*scalar, field.bits, &field.names, places),
        // Types are made of layouts, so that there is no other struct.
        (Kind::Struct(_), _) => new_null_array(data_type, places.len()),
    }
}

fn leaf(scalar: Scalar, bits: Option<Bits>, names: &EnumNames, places: &Places<'_>) -> ArrayRef {
    if scalar.is_integer() && !names.is_empty() {
        return enums(scalar, bits, names, places);
    }
    if let Some(bits) = bits {
        return bit_field(scalar, bits, places);
    }
    match scalar {
        Scalar::Bool => {
            let bytes = places.read(|[byte]| byte);
            Arc::new(BooleanArray::new(crate::plain::bits(&bytes), places.nulls.clone()))
        }
        Scalar::Char => text(places, 1),
        Scalar::Int8 => places.numbers::<Int8Type, _>(i8::from_le_bytes),
        Scalar::UInt8 => places.numbers::<UInt8Type, _>(u8::from_le_bytes),
        Scalar::Int16 => places.numbers::<Int16Type, _>(i16::from_le_bytes),
        Scalar::UInt16 => places.numbers::<UInt16Type, _>(u16::from_le_bytes),
        Scalar::Int32 => places.numbers::<Int32Type, _>(i32::from_le_bytes),
        Scalar::UInt32 => places.numbers::<UInt32Type, _>(u32::from_le_bytes),
        Scalar::Int64 => places.numbers::<Int64Type, _>(i64::from_le_bytes),
        Scalar::UInt64 => places.numbers::<UInt64Type, _>(u64::from_le_bytes),
        Scalar::Float => places.numbers::<Float32Type, _>(f32::from_le_bytes),
        Scalar::Double => places.numbers::<Float64Type, _>(f64::from_le_bytes),
    }
}

fn bit_field(scalar: Scalar, bits: Bits, places: &Places<'_>) -> ArrayRef {
    /// A field is narrower than its type, so it fits.
    fn narrow<T: ArrowPrimitiveType>(values: Vec<i64>, nulls: Option<NullBuffer>) -> ArrayRef
    where
        T::Native: TryFrom<i64> + Default,
    {
        let values = values.into_iter().map(|value| T::Native::try_from(value).unwrap_or_default());
        Arc::new(PrimitiveArray::<T>::new(values.collect(), nulls))
    }
    let values = bit_values(scalar, bits, places);
    let nulls = places.nulls.clone();
    match scalar {
        Scalar::Bool => {
            let set = |at: usize| values.get(at).is_some_and(|value| *value != 0);
            Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(values.len(), set), nulls))
        }
        Scalar::Int8 => narrow::<Int8Type>(values, nulls),
        Scalar::UInt8 => narrow::<UInt8Type>(values, nulls),
        Scalar::Int16 => narrow::<Int16Type>(values, nulls),
        Scalar::UInt16 => narrow::<UInt16Type>(values, nulls),
        Scalar::Int32 => narrow::<Int32Type>(values, nulls),
        Scalar::UInt32 => narrow::<UInt32Type>(values, nulls),
        Scalar::UInt64 => narrow::<UInt64Type>(values, nulls),
        // Other types have no bit-fields.
        _ => narrow::<Int64Type>(values, nulls),
    }
}

/// The values of a bit-field, which has at most 63 bits.
fn bit_values(scalar: Scalar, bits: Bits, places: &Places<'_>) -> Vec<i64> {
    let bytes = places.bytes.as_slice();
    let value = |at: usize| {
        let unit = bytes.get(at..)?;
        if scalar.is_signed() { bits.signed(unit) } else { bits.unsigned(unit).map(u64::cast_signed) }
    };
    places.iter().map(|at| value(at).unwrap_or(0)).collect()
}

fn enums(scalar: Scalar, bits: Option<Bits>, names: &EnumNames, places: &Places<'_>) -> ArrayRef {
    let values: Vec<i64> = match (bits, scalar) {
        (Some(bits), _) => bit_values(scalar, bits, places),
        (None, Scalar::Int8) => places.read(|bytes| i8::from_le_bytes(bytes).into()),
        (None, Scalar::UInt8) => places.read(|bytes| u8::from_le_bytes(bytes).into()),
        (None, Scalar::Int16) => places.read(|bytes| i16::from_le_bytes(bytes).into()),
        (None, Scalar::UInt16) => places.read(|bytes| u16::from_le_bytes(bytes).into()),
        (None, Scalar::Int32) => places.read(|bytes| i32::from_le_bytes(bytes).into()),
        (None, Scalar::UInt32) => places.read(|bytes| u32::from_le_bytes(bytes).into()),
        (None, _) => places.read(i64::from_le_bytes),
    };
    let mut names = Names::new(names);
    for value in values {
        names.push(if scalar == Scalar::UInt64 { value.cast_unsigned().into() } else { value.into() });
    }
    names.finish(places.nulls.clone())
}

fn text(places: &Places<'_>, count: usize) -> ArrayRef {
    let bytes = places.bytes.as_slice();
    let mut texts = Texts::default();
    for start in places.iter() {
        let chars = bytes.get(start..start.saturating_add(count));
        let _ = chars.is_some_and(|chars| texts.push_str(&wpistruct::text(chars))) || texts.push_nothing();
    }
    Arc::new(texts.finish(places.nulls.clone()))
}

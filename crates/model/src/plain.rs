//! Arrays of the types that need no schema.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Int64Array, ListArray, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use logpose_core::{Chunk, Layout, Strings, Type};

use crate::Memory;
use crate::memory::{MOST, Payloads, numbers};

/// Times of a chunk in nanoseconds.
#[must_use]
pub fn times(memory: &Memory, chunk: &Chunk) -> Int64Array {
    Int64Array::new(memory.times(chunk), None)
}

/// Payloads of a chunk as they are.
#[must_use]
pub fn binary(memory: &Memory, chunk: &Chunk) -> BinaryArray {
    bytes(&Payloads::new(memory, chunk))
}

/// The Arrow type of values that are held as `ty`.
pub(crate) fn data_type(ty: Type) -> DataType {
    let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
    match ty {
        Type::Boolean => DataType::Boolean,
        Type::Int64 => DataType::Int64,
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        Type::String => DataType::Utf8,
        Type::Bytes => DataType::Binary,
        Type::BooleanArray => list(DataType::Boolean),
        Type::Int64Array => list(DataType::Int64),
        Type::FloatArray => list(DataType::Float32),
        Type::DoubleArray => list(DataType::Float64),
        Type::StringArray => list(DataType::Utf8),
    }
}

/// Values that are held as `ty`; anything that is not a value of the type is null.
pub(crate) fn array(ty: Type, payloads: Payloads) -> ArrayRef {
    let payloads = fit(ty, payloads);
    match ty {
        Type::Boolean => Arc::new(BooleanArray::new(bits(&payloads.bytes), payloads.nulls)),
        Type::Int64 => Arc::new(scalars::<Int64Type>(&payloads)),
        Type::Float => Arc::new(scalars::<Float32Type>(&payloads)),
        Type::Double => Arc::new(scalars::<Float64Type>(&payloads)),
        Type::String => Arc::new(text(&payloads).unwrap_or_else(|| lossy_text(&payloads))),
        Type::Bytes => Arc::new(bytes(&payloads)),
        Type::BooleanArray => list(&payloads, 1, Arc::new(BooleanArray::new(bits(&payloads.bytes), None))),
        Type::Int64Array => list(&payloads, 8, elements::<Int64Type>(&payloads)),
        Type::FloatArray => list(&payloads, 4, elements::<Float32Type>(&payloads)),
        Type::DoubleArray => list(&payloads, 8, elements::<Float64Type>(&payloads)),
        Type::StringArray => texts(&payloads),
    }
}

/// Payloads of which every one that is not null has a size that the type allows.
pub(crate) fn fit(ty: Type, payloads: Payloads) -> Payloads {
    match (ty.fixed_size(), ty.element_size()) {
        (Some(size), _) => payloads.fit(|len| len == size, size),
        (_, Some(1)) | (None, None) => payloads,
        (_, Some(size)) => payloads.fit(|len| len.is_multiple_of(size), 0),
    }
}

/// One number a row.
pub(crate) fn scalars<T: ArrowPrimitiveType>(payloads: &Payloads) -> PrimitiveArray<T> {
    PrimitiveArray::new(numbers(&payloads.bytes, payloads.rows), payloads.nulls.clone())
}

/// The numbers of all rows.
pub(crate) fn elements<T: ArrowPrimitiveType>(payloads: &Payloads) -> ArrayRef {
    let len = payloads.bytes.len() / size_of::<T::Native>();
    Arc::new(PrimitiveArray::<T>::new(numbers(&payloads.bytes, len), None))
}

/// Bytes as bits: what is not zero is true.
pub(crate) fn bits(bytes: &[u8]) -> BooleanBuffer {
    BooleanBuffer::collect_bool(bytes.len(), |at| bytes.get(at).is_some_and(|byte| *byte != 0))
}

/// A list a row, of elements that took `size` bytes.
pub(crate) fn list(payloads: &Payloads, size: usize, values: ArrayRef) -> ArrayRef {
    list_of(payloads.offsets(size), values, payloads.nulls.clone())
}

/// A list a row.
pub(crate) fn list_of(offsets: OffsetBuffer<i32>, values: ArrayRef, nulls: Option<NullBuffer>) -> ArrayRef {
    let field = Field::new_list_field(values.data_type().clone(), true);
    Arc::new(ListArray::new(Arc::new(field), offsets, values, nulls))
}

pub(crate) fn bytes(payloads: &Payloads) -> BinaryArray {
    BinaryArray::new(payloads.offsets(1), payloads.bytes.clone(), payloads.nulls.clone())
}

/// Texts as they are, if all are UTF-8.
pub(crate) fn text(payloads: &Payloads) -> Option<StringArray> {
    StringArray::try_new(payloads.offsets(1), payloads.bytes.clone(), payloads.nulls.clone()).ok()
}

#[cold]
fn lossy_text(payloads: &Payloads) -> StringArray {
    let mut texts = Texts::default();
    let valid = payloads.iter().map(|payload| texts.push_row(payload)).collect::<Vec<_>>();
    texts.finish(Some(NullBuffer::from(valid)))
}

/// String arrays: the lengths between the texts make them not one text for Arrow, so they are copied.
fn texts(payloads: &Payloads) -> ArrayRef {
    let mut texts = Texts::default();
    let mut offsets = vec![0];
    let valid = payloads.iter().map(|payload| {
        let strings = payload.and_then(|payload| Strings::new(payload, Layout::Little).ok());
        let whole = strings.is_some_and(|strings| {
            let before = texts.len();
            strings.iter().all(|text| texts.push(text)) || texts.truncate(before)
        });
        offsets.push(i32::usize_as(texts.len()));
        whole
    });
    let nulls = NullBuffer::from(valid.collect::<Vec<_>>());
    list_of(OffsetBuffer::new(offsets.into()), Arc::new(texts.finish(None)), some(nulls))
}

/// Validity, if it says something.
pub(crate) fn some(nulls: NullBuffer) -> Option<NullBuffer> {
    (nulls.null_count() > 0).then_some(nulls)
}

/// Texts, one after the other.
#[derive(Debug)]
pub(crate) struct Texts {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Texts {
    /// Adds a text, with � for what is not UTF-8; false if there is no room for it.
    pub(crate) fn push(&mut self, text: &[u8]) -> bool {
        match str::from_utf8(text) {
            Ok(text) => self.push_str(text),
            Err(_) => self.push_str(&String::from_utf8_lossy(text)),
        }
    }

    /// Adds a text; false if there is no room for it.
    pub(crate) fn push_str(&mut self, text: &str) -> bool {
        if text.len() > self.room() {
            return false;
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.offsets.push(i32::usize_as(self.bytes.len()));
        true
    }

    /// Adds the text of a row, or an empty one; true if it is the text.
    pub(crate) fn push_row(&mut self, text: Option<&[u8]>) -> bool {
        text.is_some_and(|text| self.push(text)) || self.push_nothing()
    }

    /// Adds an empty text in the place of a missing one; always false.
    pub(crate) fn push_nothing(&mut self) -> bool {
        self.offsets.push(i32::usize_as(self.bytes.len()));
        false
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Bytes of text for which there is room.
    pub(crate) fn room(&self) -> usize {
        MOST - self.bytes.len()
    }

    /// Bytes held.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.offsets.len() * 4
    }

    /// Keeps the first `len` texts; always false.
    fn truncate(&mut self, len: usize) -> bool {
        self.offsets.truncate(len + 1);
        self.bytes.truncate(self.offsets.last().map_or(0, |end| end.as_usize()));
        false
    }

    pub(crate) fn finish(self, nulls: Option<NullBuffer>) -> StringArray {
        let offsets = OffsetBuffer::new(self.offsets.into());
        StringArray::new(offsets, Buffer::from_vec(self.bytes), nulls.and_then(some))
    }
}

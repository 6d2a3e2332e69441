use std::sync::{Arc, LazyLock};

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use logpose_core::{Layout, Value};

use super::{VALUES, is_signalling, widen};
use crate::memory::MOST;
use crate::plain::{Texts, bits, list_of, some};

/// The columns of values while they grow. A row is set in one of them; the others catch up when they are set again.
#[derive(Debug, Default)]
pub(super) struct Cells {
    number: Scalars<f64>,
    integer: Scalars<i64>,
    boolean: Scalars<u8>,
    text: Runs<u8>,
    bytes: Runs<u8>,
    numbers: Runs<f64>,
    integers: Runs<i64>,
    booleans: Runs<u8>,
    texts: Runs<()>,
    /// What the runs of `texts` count.
    each_text: Texts,
    payload: Vec<u8>,
}

/// The columns in the order of [`VALUES`].
pub(super) type Arrays = [ArrayRef; VALUES.len()];

/// There is no room for a value: the offsets of a batch have 31 bits.
#[derive(Debug)]
pub(super) struct Full;

impl Cells {
    /// Sets the value of a row. Rows are set in their order, each once.
    #[inline]
    pub(super) fn push(&mut self, row: usize, value: &Value<'_>) -> Result<(), Full> {
        match *value {
            Value::Double(x) => self.number.push(row, x),
            Value::Int64(x) => self.integer.push(row, x),
            Value::Boolean(x) => self.boolean.push(row, x.into()),
            Value::Float(x) if !is_signalling(x) => self.number.push(row, widen(x)),
            Value::String(text) if str::from_utf8(text).is_ok() => return self.text.extend_slice(row, text),
            Value::Bytes(bytes) => return self.bytes.extend_slice(row, bytes),
            _ => return self.push_array(row, value),
        }
        Ok(())
    }

    #[inline(never)]
    fn push_array(&mut self, row: usize, value: &Value<'_>) -> Result<(), Full> {
        match *value {
            Value::DoubleArray(numbers) => self.numbers.extend(row, numbers.iter()),
            Value::Int64Array(numbers) => self.integers.extend(row, numbers.iter()),
            Value::FloatArray(numbers) if !numbers.iter().any(is_signalling) => {
                self.numbers.extend(row, numbers.iter().map(widen))
            }
            Value::BooleanArray(bytes) if bytes.iter().all(|byte| *byte <= 1) => self.booleans.extend_slice(row, bytes),
            Value::StringArray(texts) if texts.iter().all(|text| str::from_utf8(text).is_ok()) => {
                if self.each_text.room() < texts.iter().map(<[u8]>::len).sum() {
                    return Err(Full);
                }
                self.texts.extend(row, std::iter::repeat_n((), texts.len()))?;
                texts.iter().for_each(|text| {
                    self.each_text.push(text);
                });
                Ok(())
            }
            _ => self.push_exact(row, value),
        }
    }

    /// A value that its own column cannot hold exactly.
    #[cold]
    fn push_exact(&mut self, row: usize, value: &Value<'_>) -> Result<(), Full> {
        self.payload.clear();
        value.emit(Layout::Little, &mut self.payload);
        self.bytes.extend_slice(row, &self.payload)
    }

    /// A payload that is not a valid value of its channel's type.
    pub(super) fn push_payload(&mut self, row: usize, payload: &[u8]) -> Result<(), Full> {
        self.bytes.extend_slice(row, payload)
    }

    /// Bytes held.
    pub(super) fn size(&self) -> usize {
        let scalars = self.number.size() + self.integer.size() + self.boolean.size();
        let lists = self.numbers.size() + self.integers.size() + self.booleans.size() + self.texts.size();
        scalars + lists + self.text.size() + self.bytes.size() + self.each_text.size()
    }

    /// The columns, of `rows` rows each. Starts anew.
    pub(super) fn finish(&mut self, rows: usize) -> Arrays {
        let mut arrays = null_arrays(rows);
        let [number, integer, boolean, text, bytes, numbers, integers, booleans, texts] = &mut arrays;
        self.number.finish(rows, number, primitive::<Float64Type>);
        self.integer.finish(rows, integer, primitive::<Int64Type>);
        self.boolean.finish(rows, boolean, |values, nulls| Arc::new(BooleanArray::new(bits(&values), nulls)));
        self.text
            .finish(rows, text, |offsets, values, nulls| Arc::new(StringArray::new(offsets, values.into(), nulls)));
        self.bytes
            .finish(rows, bytes, |offsets, values, nulls| Arc::new(BinaryArray::new(offsets, values.into(), nulls)));
        self.numbers.finish(rows, numbers, |offsets, values, nulls| {
            list_of(offsets, primitive::<Float64Type>(values, None), nulls)
        });
        self.integers.finish(rows, integers, |offsets, values, nulls| {
            list_of(offsets, primitive::<Int64Type>(values, None), nulls)
        });
        self.booleans.finish(rows, booleans, |offsets, values, nulls| {
            list_of(offsets, Arc::new(BooleanArray::new(bits(&values), None)), nulls)
        });
        let each_text = &mut self.each_text;
        self.texts.finish(rows, texts, |offsets, _, nulls| {
            list_of(offsets, Arc::new(std::mem::take(each_text).finish(None)), nulls)
        });
        arrays
    }
}

/// Columns without values. Those of most sizes are parts of the same ones, made once.
pub(super) fn null_arrays(rows: usize) -> Arrays {
    static NULLS: LazyLock<Arrays> = LazyLock::new(|| new_null_arrays(NULL_ROWS));
    if rows > NULL_ROWS { new_null_arrays(rows) } else { NULLS.each_ref().map(|array| array.slice(0, rows)) }
}

/// Columns without values, over the same zeros: as numbers, as bits, and as offsets.
fn new_null_arrays(rows: usize) -> Arrays {
    let values = Buffer::from_vec(vec![0_u64; rows + 1]);
    let nulls = || Some(NullBuffer::new(BooleanBuffer::new(values.clone(), 0, rows)));
    let offsets = || OffsetBuffer::new(ScalarBuffer::new(values.clone(), 0, rows + 1));
    let list = |item: ArrayRef| list_of(offsets(), item, nulls());
    [
        Arc::new(PrimitiveArray::<Float64Type>::new(ScalarBuffer::new(values.clone(), 0, rows), nulls())),
        Arc::new(PrimitiveArray::<Int64Type>::new(ScalarBuffer::new(values.clone(), 0, rows), nulls())),
        Arc::new(BooleanArray::new(BooleanBuffer::new(values.clone(), 0, rows), nulls())),
        Arc::new(StringArray::new(offsets(), Buffer::default(), nulls())),
        Arc::new(BinaryArray::new(offsets(), Buffer::default(), nulls())),
        list(Arc::new(PrimitiveArray::<Float64Type>::new(ScalarBuffer::default(), None))),
        list(Arc::new(PrimitiveArray::<Int64Type>::new(ScalarBuffer::default(), None))),
        list(Arc::new(BooleanArray::new(BooleanBuffer::new_unset(0), None))),
        list(Arc::new(Texts::default().finish(None))),
    ]
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
}

/// One value a row.
#[derive(Debug, Default)]
struct Scalars<T> {
    values: Vec<T>,
    valid: Valid,
}

impl<T: Copy + Default> Scalars<T> {
    #[inline]
    fn push(&mut self, row: usize, value: T) {
        if self.values.len() < row {
            self.values.resize(row, T::default());
        }
        self.values.push(value);
        self.valid.set(row);
    }

    fn size(&self) -> usize {
        self.values.len() * size_of::<T>() + self.values.len() / 8
    }

    /// Puts an array in `place`, if there is a value.
    fn finish(&mut self, rows: usize, place: &mut ArrayRef, make: impl FnOnce(Vec<T>, Option<NullBuffer>) -> ArrayRef) {
        if self.values.is_empty() {
            return;
        }
        let mut values = renew(&mut self.values);
        values.resize(rows, T::default());
        *place = make(values, self.valid.take(rows));
    }
}

/// Several values a row, all back to back.
#[derive(Debug)]
struct Runs<T> {
    values: Vec<T>,
    offsets: Vec<i32>,
    valid: Valid,
}

impl<T> Default for Runs<T> {
    fn default() -> Self {
        Self { values: Vec::new(), offsets: Vec::new(), valid: Valid::default() }
    }
}

impl<T: Copy> Runs<T> {
    fn extend(&mut self, row: usize, values: impl ExactSizeIterator<Item = T>) -> Result<(), Full> {
        if values.len() > MOST - self.values.len() {
            return Err(Full);
        }
        let start = self.values.len();
        self.values.extend(values);
        self.end(row, start);
        Ok(())
    }

    #[inline]
    fn extend_slice(&mut self, row: usize, values: &[T]) -> Result<(), Full> {
        if values.len() > MOST - self.values.len() {
            return Err(Full);
        }
        let start = self.values.len();
        self.values.extend_from_slice(values);
        self.end(row, start);
        Ok(())
    }

    /// The row's values began at `start` and are all there.
    #[inline]
    fn end(&mut self, row: usize, start: usize) {
        if self.offsets.len() < row + 1 {
            self.offsets.resize(row + 1, i32::usize_as(start));
        }
        self.offsets.push(i32::usize_as(self.values.len()));
        self.valid.set(row);
    }

    fn size(&self) -> usize {
        self.values.len() * size_of::<T>() + self.offsets.len() * 4
    }

    /// Puts an array in `place`, if there is a value.
    fn finish(
        &mut self,
        rows: usize,
        place: &mut ArrayRef,
        make: impl FnOnce(OffsetBuffer<i32>, Vec<T>, Option<NullBuffer>) -> ArrayRef,
    ) {
        if self.offsets.is_empty() {
            return;
        }
        let values = renew(&mut self.values);
        let mut offsets = renew(&mut self.offsets);
        offsets.resize(rows + 1, i32::usize_as(values.len()));
        *place = make(OffsetBuffer::new(offsets.into()), values, self.valid.take(rows));
    }
}

/// Which rows are set, a bit each.
#[derive(Debug, Default)]
struct Valid {
    words: Vec<u64>,
}

impl Valid {
    #[inline]
    fn set(&mut self, row: usize) {
        let word = row / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= 1 << (row % 64);
        }
    }

    fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        let mut words = renew(&mut self.words);
        words.resize(rows.div_ceil(64), 0);
        some(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(words), 0, rows)))
    }
}

/// The vector, with an empty one of the same room in its place: the next batch is about as large.
fn renew<T>(values: &mut Vec<T>) -> Vec<T> {
    let room = Vec::with_capacity(values.len());
    std::mem::replace(values, room)
}

/// Rows of the shared columns without values, as many as batches commonly have.
const NULL_ROWS: usize = 1 << 16;

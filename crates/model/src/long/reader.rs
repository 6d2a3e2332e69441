use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, BinaryArray, BooleanArray, DictionaryArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use arrow_buffer::ArrowNativeType;
use logpose_core::{Layout, Numbers, Time, Type, Value};

use super::{CHANNEL, TIME, narrow, schema};
use crate::ModelError;

/// Samples of a batch, as they were before they became rows.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    times: &'a Int64Array,
    channels: &'a DictionaryArray<Int32Type>,
    names: &'a StringArray,
    number: Option<&'a Float64Array>,
    integer: Option<&'a Int64Array>,
    boolean: Option<&'a BooleanArray>,
    text: Option<&'a StringArray>,
    bytes: Option<&'a BinaryArray>,
    numbers: Option<List<'a, Float64Array>>,
    integers: Option<List<'a, Int64Array>>,
    booleans: Option<List<'a, BooleanArray>>,
    texts: Option<List<'a, StringArray>>,
}

impl<'a> Reader<'a> {
    /// A reader of the batch, which must have the times and channels; columns of values that it lacks hold none.
    pub fn new(batch: &'a RecordBatch) -> Result<Self, ModelError> {
        let times = required(batch, TIME, |array| array.as_primitive_opt())?;
        let channels: &DictionaryArray<Int32Type> = required(batch, CHANNEL, |array| array.as_dictionary_opt())?;
        let names = required(batch, CHANNEL, |_| channels.values().as_string_opt())?;
        Ok(Self {
            times,
            channels,
            names,
            number: optional(batch, "number", |array| array.as_primitive_opt::<Float64Type>())?,
            integer: optional(batch, "integer", |array| array.as_primitive_opt::<Int64Type>())?,
            boolean: optional(batch, "boolean", |array| array.as_boolean_opt())?,
            text: optional(batch, "text", |array| array.as_string_opt())?,
            bytes: optional(batch, "bytes", |array| array.as_binary_opt())?,
            numbers: optional(batch, "numbers", |array| List::new(array, |values| values.as_primitive_opt()))?,
            integers: optional(batch, "integers", |array| List::new(array, |values| values.as_primitive_opt()))?,
            booleans: optional(batch, "booleans", |array| List::new(array, |values| values.as_boolean_opt()))?,
            texts: optional(batch, "texts", |array| List::new(array, |values| values.as_string_opt()))?,
        })
    }

    /// How many rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The names that channels are keys of.
    #[must_use]
    pub fn names(&self) -> &'a StringArray {
        self.names
    }

    /// The time of a row; zero beyond the last.
    #[must_use]
    pub fn time(&self, row: usize) -> Time {
        Time::from_nanos(self.times.values().get(row).copied().unwrap_or(0))
    }

    /// The channel of a row: its place among [`Reader::names`]. `None` where the file has none.
    #[must_use]
    pub fn channel(&self, row: usize) -> Option<usize> {
        let key = self.channels.keys().values().get(row).filter(|_| self.channels.keys().is_valid(row))?;
        usize::try_from(*key).ok()
    }

    /// The value of a row on a channel that holds `ty`; `None` if no column has one. What cannot be borrowed from the
    /// batch is written to `scratch` first.
    pub fn value<'v>(&self, row: usize, ty: Type, scratch: &'v mut Vec<u8>) -> Option<Value<'v>>
    where
        'a: 'v,
    {
        scratch.clear();
        let own: Option<Value<'v>> = match ty {
            Type::Double => scalar(self.number, row).map(|array| Value::Double(array.value(row))),
            Type::Float => scalar(self.number, row).map(|array| Value::Float(narrow(array.value(row)))),
            Type::Int64 => scalar(self.integer, row).map(|array| Value::Int64(array.value(row))),
            Type::Boolean => scalar(self.boolean, row).map(|array| Value::Boolean(array.value(row))),
            Type::String => scalar(self.text, row).map(|array| Value::String(array.value(row).as_bytes())),
            Type::Bytes => None,
            Type::DoubleArray => self.numbers.and_then(|list| {
                let bytes = list.bytes(list.values.values().inner(), row)?;
                Numbers::new(bytes, Layout::Little).ok().map(Value::DoubleArray)
            }),
            Type::Int64Array => self.integers.and_then(|list| {
                let bytes = list.bytes(list.values.values().inner(), row)?;
                Numbers::new(bytes, Layout::Little).ok().map(Value::Int64Array)
            }),
            _ => return self.packed(row, ty, scratch),
        };
        own.or_else(|| self.exact(row, ty))
    }

    /// Values that are packed otherwise in a batch than in a payload.
    fn packed<'v>(&self, row: usize, ty: Type, scratch: &'v mut Vec<u8>) -> Option<Value<'v>>
    where
        'a: 'v,
    {
        let found = match ty {
            Type::FloatArray => self.numbers.and_then(|list| {
                let numbers = list.values.values().get(list.range(row)?)?;
                numbers.iter().for_each(|x| scratch.extend_from_slice(&narrow(*x).to_le_bytes()));
                Some(())
            }),
            Type::BooleanArray => self.booleans.and_then(|list| {
                scratch.extend(list.range(row)?.map(|at| u8::from(list.values.value(at))));
                Some(())
            }),
            Type::StringArray => self.texts.and_then(|list| {
                let range = list.range(row)?;
                scratch.extend_from_slice(&length(range.len())?);
                for at in range {
                    let text = list.values.value(at);
                    scratch.extend_from_slice(&length(text.len())?);
                    scratch.extend_from_slice(text.as_bytes());
                }
                Some(())
            }),
            _ => None,
        };
        match found {
            Some(()) => Value::parse(ty, scratch, Layout::Little).ok(),
            None => self.exact(row, ty),
        }
    }

    /// A payload among the bytes.
    fn exact(&self, row: usize, ty: Type) -> Option<Value<'a>> {
        let payload = scalar(self.bytes, row)?.value(row);
        Value::parse(ty, payload, Layout::Little).ok()
    }
}

/// A column of lists, and the elements of all of them.
#[derive(Debug)]
struct List<'a, A> {
    list: &'a ListArray,
    values: &'a A,
}

impl<A> Clone for List<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for List<'_, A> {}

impl<'a, A> List<'a, A> {
    fn new(array: &'a dyn Array, values: impl FnOnce(&'a dyn Array) -> Option<&'a A>) -> Option<Self> {
        let list = array.as_list_opt()?;
        Some(Self { list, values: values(list.values())? })
    }

    /// Which elements a row has.
    fn range(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let offsets = scalar(Some(self.list), row)?.value_offsets();
        Some(offsets.get(row)?.as_usize()..offsets.get(row + 1)?.as_usize())
    }

    /// The 64-bit numbers of a row, as the bytes they are.
    fn bytes(&self, buffer: &'a [u8], row: usize) -> Option<&'a [u8]> {
        let range = self.range(row)?;
        buffer.get(range.start * 8..range.end * 8)
    }
}

/// The array, if it has a value in the row.
fn scalar<A: Array>(array: Option<&A>, row: usize) -> Option<&A> {
    array.filter(|array| row < array.len() && array.is_valid(row))
}

fn length(n: usize) -> Option<[u8; 4]> {
    u32::try_from(n).ok().map(u32::to_le_bytes)
}

fn required<'a, T>(
    batch: &'a RecordBatch,
    name: &'static str,
    cast: impl FnOnce(&'a dyn Array) -> Option<T>,
) -> Result<T, ModelError> {
    optional(batch, name, cast)?.ok_or(ModelError::Missing { name })
}

fn optional<'a, T>(
    batch: &'a RecordBatch,
    name: &'static str,
    cast: impl FnOnce(&'a dyn Array) -> Option<T>,
) -> Result<Option<T>, ModelError> {
    let Some(array) = batch.column_by_name(name) else { return Ok(None) };
    let found = array.data_type().clone();
    match (cast(array), schema().field_with_name(name)) {
        (Some(array), _) => Ok(Some(array)),
        (None, expected) => {
            let expected = expected.map_or(arrow_schema::DataType::Null, |field| field.data_type().clone());
            Err(ModelError::Type { name, expected, found })
        }
    }
}

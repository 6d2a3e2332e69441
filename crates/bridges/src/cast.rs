//! Columns of other types as the few types that channels have.
//!
//! The results are those of `arrow_cast::cast`, which the tests compare with. That one casts between all types that Arrow
//! has, which took more than a tenth of the binary without SQL.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float32Type,
    Float64Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowNativeTypeOp, BinaryArray, BooleanArray, DictionaryArray, FixedSizeListArray,
    GenericListViewArray, Int32Array, LargeListArray, ListArray, OffsetSizeTrait, PrimitiveArray, StringArray,
    StructArray, UInt64Array, new_null_array,
};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use num_traits::ToPrimitive;

/// The array as `to`, which is a type that channels have, a list of one, or the array's own type without dictionaries.
/// A value that `to` cannot hold becomes null.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType::{
        Binary, BinaryView, Boolean, Decimal32, Decimal64, Decimal128, Decimal256, Dictionary, FixedSizeBinary,
        FixedSizeList, Int16, Int32, LargeBinary, LargeList, LargeListView, LargeUtf8, List, ListView, Null,
        RunEndEncoded, Struct, Utf8, Utf8View,
    };
    let from = array.data_type();
    if from == to {
        return Ok(Arc::clone(array));
    }
    match (from, to) {
        (Null, _) => Ok(new_null_array(to, array.len())),
        (RunEndEncoded(ends, _), _) => match ends.data_type() {
            Int16 => cast_runs::<Int16Type>(array, to),
            Int32 => cast_runs::<Int32Type>(array, to),
            _ => cast_runs::<Int64Type>(array, to),
        },
        (Dictionary(..), Dictionary(_, values)) => cast_dictionary(array, values),
        (Dictionary(..), _) => {
            let dictionary = array.as_any_dictionary();
            take(&cast(dictionary.values(), to)?, dictionary.keys(), None)
        }
        (_, Dictionary(_, values)) => {
            let texts = cast(array, values)?;
            let texts = texts.as_string_opt::<i32>().ok_or_else(|| unsupported(from, to))?;
            Ok(Arc::new(texts.iter().collect::<DictionaryArray<Int32Type>>()))
        }
        (Struct(_), Struct(fields)) => {
            let outer = array.as_struct();
            let columns = outer.columns().iter().zip(fields).map(|(column, field)| cast(column, field.data_type()));
            let columns = columns.collect::<Result<_, _>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, outer.nulls().cloned())?))
        }
        (LargeList(_), LargeList(field)) => {
            let list = array.as_list::<i64>();
            let values = cast(list.values(), field.data_type())?;
            let offsets = list.offsets().clone();
            Ok(Arc::new(LargeListArray::try_new(Arc::clone(field), offsets, values, list.nulls().cloned())?))
        }
        (FixedSizeList(_, length), FixedSizeList(field, same)) if length == same => {
            let list = array.as_fixed_size_list();
            let values = cast(list.values(), field.data_type())?;
            Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(field), *same, values, list.nulls().cloned())?))
        }
        (List(_) | LargeList(_) | FixedSizeList(..) | ListView(_) | LargeListView(_), List(field)) => {
            let (offsets, values) = list_parts(array)?;
            let values = cast(&values, field.data_type())?;
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, array.nulls().cloned())?))
        }
        (FixedSizeList(_, 1), _) => cast(array.as_fixed_size_list().values(), to),
        (_, List(field)) => {
            let values = cast(array, field.data_type())?;
            let offsets = repeated(1, values.len())?;
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, None)?))
        }
        (Utf8 | LargeUtf8 | Utf8View, _) => cast_text(array, to),
        (Binary | LargeBinary | BinaryView | FixedSizeBinary(_), Binary) => Ok(Arc::new(bytes(array)?)),
        (Binary | LargeBinary | BinaryView, Utf8) => Ok(Arc::new(texts(array)?)),
        (Boolean, _) => cast_boolean(array, to),
        (Decimal32(_, scale), _) => cast_decimal::<Decimal32Type>(array, 10, *scale, to),
        (Decimal64(_, scale), _) => cast_decimal::<Decimal64Type>(array, 10, *scale, to),
        (Decimal128(_, scale), _) => cast_decimal::<Decimal128Type>(array, 10, *scale, to),
        (Decimal256(_, scale), _) => cast_decimal::<Decimal256Type>(array, i256::from_i128(10), *scale, to),
        _ => cast_number(array, to),
    }
}

fn unsupported(from: &DataType, to: &DataType) -> ArrowError {
    ArrowError::CastError(format!("Casting from {from} to {to} not supported"))
}

fn too_large(array: &dyn Array) -> ArrowError {
    ArrowError::CastError(format!("an array of {} needs offsets beyond 31 bits", array.data_type()))
}

fn cast_runs<R: RunEndIndexType>(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let runs = array.as_run_opt::<R>().ok_or_else(|| unsupported(array.data_type(), to))?;
    let mut places: Vec<u64> = Vec::with_capacity(array.len());
    for (run, end) in (0..).zip(runs.run_ends().sliced_values()) {
        places.resize(end.as_usize(), run);
    }
    take(&cast(&runs.values_slice(), to)?, &UInt64Array::from(places), None)
}

/// The dictionary with keys of 32 bits and other values.
fn cast_dictionary(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let dictionary = array.as_any_dictionary();
    if matches!(dictionary.values().data_type(), DataType::Dictionary(..)) {
        let flat = take(dictionary.values(), dictionary.keys(), None)?;
        return cast(&flat, &DataType::Dictionary(Box::new(DataType::Int32), Box::new(to.clone())));
    }
    let values = cast(dictionary.values(), to)?;
    let keys = if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
    let keys: Result<ScalarBuffer<i32>, _> = keys.into_iter().map(i32::try_from).collect();
    let keys = keys.map_err(|_| too_large(array))?;
    let keys = Int32Array::try_new(keys, dictionary.keys().nulls().cloned())?;
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

/// Where the lists of an array of any kind of lists lie, and what they hold.
fn list_parts(array: &ArrayRef) -> Result<(OffsetBuffer<i32>, ArrayRef), ArrowError> {
    if let Some(list) = array.as_list_opt::<i32>() {
        return Ok((list.offsets().clone(), Arc::clone(list.values())));
    }
    if let Some(list) = array.as_list_opt::<i64>() {
        return Ok((narrow(list.offsets(), 0).ok_or_else(|| too_large(array))?, Arc::clone(list.values())));
    }
    if let Some(list) = array.as_list_view_opt::<i32>() {
        return view_parts(list);
    }
    if let Some(list) = array.as_list_view_opt::<i64>() {
        return view_parts(list);
    }
    let list = array.as_fixed_size_list();
    Ok((repeated(list.value_length().as_usize(), list.len())?, Arc::clone(list.values())))
}

/// The lists of a view one after the other, because those of a list neither overlap nor leave gaps.
fn view_parts<O: OffsetSizeTrait>(list: &GenericListViewArray<O>) -> Result<(OffsetBuffer<i32>, ArrayRef), ArrowError> {
    let mut places: Vec<u64> = Vec::new();
    let mut lengths = Vec::with_capacity(list.len());
    for (row, (offset, size)) in list.offsets().iter().zip(list.sizes()).enumerate() {
        let size = if list.is_null(row) { 0 } else { size.as_usize() };
        places.extend((offset.as_usize() as u64..).take(size));
        lengths.push(size);
    }
    if i32::try_from(places.len()).is_err() {
        return Err(too_large(list));
    }
    Ok((OffsetBuffer::from_lengths(lengths), take(list.values(), &UInt64Array::from(places), None)?))
}

/// The offsets of so many pieces of one length.
fn repeated(length: usize, count: usize) -> Result<OffsetBuffer<i32>, ArrowError> {
    match length.checked_mul(count).map(i32::try_from) {
        Some(Ok(_)) => Ok(OffsetBuffer::from_repeated_length(length, count)),
        _ => Err(ArrowError::CastError(format!("{count} pieces of {length} need offsets beyond 31 bits"))),
    }
}

/// The offsets in 32 bits, counted from `first`.
fn narrow(offsets: &[i64], first: i64) -> Option<OffsetBuffer<i32>> {
    let narrow: Option<ScalarBuffer<i32>> =
        offsets.iter().map(|offset| i32::try_from(offset.checked_sub(first)?).ok()).collect();
    narrow.map(OffsetBuffer::new)
}

fn cast_text(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    if *to == DataType::Binary {
        return Ok(Arc::new(bytes(array)?));
    }
    let texts = texts(array)?;
    Ok(match to {
        DataType::Utf8 => Arc::new(texts),
        DataType::Boolean => Arc::new(texts.iter().map(|text| parse_boolean(text?)).collect::<BooleanArray>()),
        DataType::Int64 => {
            let parse = |text: Option<&str>| text?.trim_ascii().parse().ok();
            Arc::new(texts.iter().map(parse).collect::<PrimitiveArray<Int64Type>>())
        }
        DataType::Float64 => {
            let parse = |text: Option<&str>| text?.trim_ascii().parse().ok();
            Arc::new(texts.iter().map(parse).collect::<PrimitiveArray<Float64Type>>())
        }
        _ => return Err(unsupported(array.data_type(), to)),
    })
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().trim() {
        "t" | "tr" | "tru" | "true" | "y" | "ye" | "yes" | "on" | "1" => Some(true),
        "f" | "fa" | "fal" | "fals" | "false" | "n" | "no" | "of" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Texts of any kind; bytes that are not UTF-8 become null.
fn texts(array: &ArrayRef) -> Result<StringArray, ArrowError> {
    if let Some(texts) = array.as_string_opt::<i32>() {
        return Ok(texts.clone());
    }
    let (offsets, values, nulls) = bytes(array)?.into_parts();
    Ok(match StringArray::try_new(offsets.clone(), values.clone(), nulls.clone()) {
        Ok(texts) => texts,
        // Not all is UTF-8, so each value is looked at.
        Err(_) => {
            let bytes = BinaryArray::try_new(offsets, values, nulls)?;
            bytes.iter().map(|bytes| str::from_utf8(bytes?).ok()).collect()
        }
    })
}

/// The bytes of texts or bytes of any kind.
fn bytes(array: &ArrayRef) -> Result<BinaryArray, ArrowError> {
    let large = |offsets: &OffsetBuffer<i64>, values: &Buffer| {
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        // Validating a text looks at all of the buffer, which may be that of a longer array.
        let values = values.slice_with_length(first.as_usize(), (last - first).as_usize());
        BinaryArray::try_new(narrow(offsets, first)?, values, array.nulls().cloned()).ok()
    };
    match array.data_type() {
        DataType::Utf8 => Some(BinaryArray::from(array.as_string::<i32>().clone())),
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            large(texts.offsets(), texts.values())
        }
        DataType::LargeBinary => {
            let bytes = array.as_binary::<i64>();
            large(bytes.offsets(), bytes.values())
        }
        DataType::Utf8View => gathered(array.as_string_view().iter().map(|text| text.map(str::as_bytes))),
        DataType::BinaryView => gathered(array.as_binary_view().iter()),
        DataType::FixedSizeBinary(_) => gathered(array.as_fixed_size_binary().iter()),
        _ => array.as_binary_opt().cloned(),
    }
    .ok_or_else(|| too_large(array))
}

fn gathered<'a>(values: impl Iterator<Item = Option<&'a [u8]>> + Clone) -> Option<BinaryArray> {
    let size: usize = values.clone().flatten().map(<[u8]>::len).sum();
    i32::try_from(size).ok().map(|_| values.collect())
}

fn cast_boolean(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let values = array.as_boolean().iter();
    Ok(match to {
        DataType::Int64 => Arc::new(values.map(|x| x.map(i64::from)).collect::<PrimitiveArray<Int64Type>>()),
        DataType::Float64 => Arc::new(values.map(|x| x.map(f64::from)).collect::<PrimitiveArray<Float64Type>>()),
        DataType::Utf8 => {
            Arc::new(values.map(|x| x.map(|x| if x { "true" } else { "false" })).collect::<StringArray>())
        }
        _ => return Err(unsupported(array.data_type(), to)),
    })
}

fn cast_decimal<D: DecimalType>(
    array: &ArrayRef,
    ten: D::Native,
    scale: i8,
    to: &DataType,
) -> Result<ArrayRef, ArrowError>
where
    D::Native: ToPrimitive,
{
    let numbers = array.as_primitive::<D>();
    Ok(match to {
        DataType::Float64 => {
            let unit = 10_f64.powi(scale.into());
            Arc::new(numbers.unary_opt::<_, Float64Type>(|x| Some(ToPrimitive::to_f64(&x)? / unit)))
        }
        DataType::Int64 => {
            let unit = ten.pow_checked(scale.unsigned_abs().into())?;
            let shifted = |x: D::Native| if scale < 0 { x.mul_checked(unit) } else { x.div_checked(unit) };
            Arc::new(numbers.unary_opt::<_, Int64Type>(|x| whole(shifted(x).ok()?)))
        }
        DataType::Utf8 => {
            let text = |row| numbers.is_valid(row).then(|| numbers.value_as_string(row));
            Arc::new((0..numbers.len()).map(text).collect::<StringArray>())
        }
        _ => return Err(unsupported(array.data_type(), to)),
    })
}

/// Numbers of any width, and times as the numbers that they are stored as.
fn cast_number(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    use DataType::{Binary, Boolean, Duration, Float16, Float32, Float64, Int64, Timestamp, UInt64, Utf8};
    let from = array.data_type();
    let wide = widest(array).ok_or_else(|| unsupported(from, to))?;
    if wide.data_type() == to {
        return Ok(wide);
    }
    let number = from.is_numeric();
    Ok(match (wide.data_type(), to) {
        (Int64, Float64) if number || matches!(from, Timestamp(..) | Duration(_)) => {
            Arc::new(wide.as_primitive::<Int64Type>().unary::<_, Float64Type>(|x| x as f64))
        }
        (UInt64, Float64) => Arc::new(wide.as_primitive::<UInt64Type>().unary::<_, Float64Type>(|x| x as f64)),
        (Float32, Float64) => Arc::new(wide.as_primitive::<Float32Type>().unary::<_, Float64Type>(f64::from)),
        (UInt64, Int64) => Arc::new(wide.as_primitive::<UInt64Type>().unary_opt::<_, Int64Type>(whole)),
        (Float32, Int64) => Arc::new(wide.as_primitive::<Float32Type>().unary_opt::<_, Int64Type>(whole)),
        (Float64, Int64) => Arc::new(wide.as_primitive::<Float64Type>().unary_opt::<_, Int64Type>(whole)),
        (Int64, Boolean) if number => Arc::new(booleans(wide.as_primitive::<Int64Type>())),
        (UInt64, Boolean) => Arc::new(booleans(wide.as_primitive::<UInt64Type>())),
        (Float32, Boolean) => Arc::new(booleans(wide.as_primitive::<Float32Type>())),
        (Float64, Boolean) => Arc::new(booleans(wide.as_primitive::<Float64Type>())),
        (Int64, Utf8) if number => Arc::new(shown(wide.as_primitive::<Int64Type>(), |x| x.to_string())),
        (UInt64, Utf8) => Arc::new(shown(wide.as_primitive::<UInt64Type>(), |x| x.to_string())),
        (Float32, Utf8) if *from == Float16 => Arc::new(shown(wide.as_primitive::<Float32Type>(), |x| x.to_string())),
        (Float32, Utf8) => Arc::new(shown(wide.as_primitive::<Float32Type>(), fraction)),
        (Float64, Utf8) => Arc::new(shown(wide.as_primitive::<Float64Type>(), fraction)),
        // The bytes of a number.
        (Int64 | UInt64, Binary) if from.is_integer() => {
            let width = from.primitive_width().unwrap_or(8);
            let data = array.to_data();
            let values = data.buffers().first().ok_or_else(|| unsupported(from, to))?;
            let values = values.slice_with_length(data.offset() * width, data.len() * width);
            Arc::new(BinaryArray::try_new(repeated(width, data.len())?, values, data.nulls().cloned())?)
        }
        _ => return Err(unsupported(from, to)),
    })
}

/// The whole part of a number, if 64 bits hold it. Arrow's own method `to_i64` has none for fractions.
fn whole<T: ToPrimitive>(x: T) -> Option<i64> {
    ToPrimitive::to_i64(&x)
}

/// A fraction in the shortest form that reads back to the same, written as Arrow does.
fn fraction<T: zmij::Float>(x: T) -> String {
    zmij::Buffer::new().format(x).replace("e+", "e")
}

/// Whole numbers and times in 64 bits, and fractions in at least 32.
fn widest(array: &ArrayRef) -> Option<ArrayRef> {
    use DataType::{
        Date32, Date64, Duration, Float16, Float32, Float64, Int8, Int16, Int32, Int64, Time32, Time64, Timestamp,
        UInt8, UInt16, UInt32, UInt64,
    };
    match array.data_type() {
        Int8 => widened::<i8, Int64Type>(array),
        Int16 => widened::<i16, Int64Type>(array),
        Int32 | Date32 | Time32(_) => widened::<i32, Int64Type>(array),
        UInt8 => widened::<u8, Int64Type>(array),
        UInt16 => widened::<u16, Int64Type>(array),
        UInt32 => widened::<u32, Int64Type>(array),
        Float16 => widened::<<arrow_array::types::Float16Type as ArrowPrimitiveType>::Native, Float32Type>(array),
        Date64 | Time64(_) | Timestamp(..) | Duration(_) => {
            let values = stored::<i64>(array)?;
            let same = PrimitiveArray::<Int64Type>::try_new(values, array.nulls().cloned()).ok()?;
            Some(Arc::new(same))
        }
        Int64 | UInt64 | Float32 | Float64 => Some(Arc::clone(array)),
        _ => None,
    }
}

fn widened<T: ArrowNativeType + Into<P::Native>, P: ArrowPrimitiveType>(array: &ArrayRef) -> Option<ArrayRef> {
    let wide = stored::<T>(array)?.iter().map(|x| (*x).into()).collect();
    Some(Arc::new(PrimitiveArray::<P>::try_new(wide, array.nulls().cloned()).ok()?))
}

/// What the array stores, as plain numbers.
fn stored<T: ArrowNativeType>(array: &ArrayRef) -> Option<ScalarBuffer<T>> {
    let data = array.to_data();
    Some(ScalarBuffer::new(data.buffers().first()?.clone(), data.offset(), data.len()))
}

fn booleans<P: ArrowPrimitiveType>(numbers: &PrimitiveArray<P>) -> BooleanArray {
    BooleanArray::from_unary(numbers, |x| x != P::Native::default())
}

fn shown<P: ArrowPrimitiveType>(numbers: &PrimitiveArray<P>, show: fn(P::Native) -> String) -> StringArray {
    numbers.iter().map(|number| number.map(show)).collect()
}

#[cfg(test)]
mod tests;

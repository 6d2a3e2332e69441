//! Values of Arrow arrays as text and JSON, as the rest of logpose writes them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use logpose::schema::json;

/// Appends one value as JSON. What JSON has no token for is a string: NaN, infinities, integers beyond 2^53, bytes as
/// base64, moments as RFC 3339.
pub(crate) fn value(array: &ArrayRef, row: usize, out: &mut Vec<u8>) {
    write(array, row, true, out);
}

/// Appends one value as text; nothing for NULL. What is nested is JSON.
pub(crate) fn text(array: &ArrayRef, row: usize, out: &mut Vec<u8>) {
    if !array.is_null(row) {
        write(array, row, false, out);
    }
}

fn write(array: &ArrayRef, row: usize, quoted: bool, out: &mut Vec<u8>) {
    if row >= array.len() || array.is_null(row) {
        return json::null(out);
    }
    let string = |text: &str, out: &mut Vec<u8>| {
        if quoted { json::string(out, text) } else { out.extend_from_slice(text.as_bytes()) }
    };
    let bytes = |bytes: &[u8], out: &mut Vec<u8>| {
        if quoted { json::bytes(out, bytes) } else { json::base64_text(out, bytes) }
    };
    let integer = |n: i64, out: &mut Vec<u8>| if quoted { json::i64(out, n) } else { json::i64_text(out, n) };
    let float = |x: f64, out: &mut Vec<u8>| if quoted { json::f64(out, x) } else { json::f64_text(out, x) };
    match array.data_type() {
        DataType::Null => json::null(out),
        DataType::Boolean => json::bool(out, array.as_boolean().value(row)),
        DataType::Int8 => integer(array.as_primitive::<Int8Type>().value(row).into(), out),
        DataType::Int16 => integer(array.as_primitive::<Int16Type>().value(row).into(), out),
        DataType::Int32 => integer(array.as_primitive::<Int32Type>().value(row).into(), out),
        DataType::Int64 => integer(array.as_primitive::<Int64Type>().value(row), out),
        DataType::UInt8 => integer(array.as_primitive::<UInt8Type>().value(row).into(), out),
        DataType::UInt16 => integer(array.as_primitive::<UInt16Type>().value(row).into(), out),
        DataType::UInt32 => integer(array.as_primitive::<UInt32Type>().value(row).into(), out),
        DataType::UInt64 => {
            let n = array.as_primitive::<UInt64Type>().value(row);
            if quoted { json::u64(out, n) } else { json::u64_text(out, n) }
        }
        DataType::Float16 => float(array.as_primitive::<Float16Type>().value(row).into(), out),
        DataType::Float32 => {
            let x = array.as_primitive::<Float32Type>().value(row);
            if quoted { json::f32(out, x) } else { json::f32_text(out, x) }
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row), out),
        DataType::Utf8 => string(array.as_string::<i32>().value(row), out),
        DataType::LargeUtf8 => string(array.as_string::<i64>().value(row), out),
        DataType::Utf8View => string(array.as_string_view().value(row), out),
        DataType::Binary => bytes(array.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row), out),
        DataType::BinaryView => bytes(array.as_binary_view().value(row), out),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().value(row), out),
        DataType::List(_) => list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row), out),
        DataType::Map(..) => list(&(std::sync::Arc::new(array.as_map().value(row)) as ArrayRef), out),
        DataType::Struct(fields) => {
            out.push(b'{');
            for (i, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                json::string(out, field.name());
                out.push(b':');
                value(column, row, out);
            }
            out.push(b'}');
        }
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => entry::<Int8Type>(array, row, quoted, out),
            DataType::Int16 => entry::<Int16Type>(array, row, quoted, out),
            DataType::Int32 => entry::<Int32Type>(array, row, quoted, out),
            DataType::Int64 => entry::<Int64Type>(array, row, quoted, out),
            DataType::UInt8 => entry::<UInt8Type>(array, row, quoted, out),
            DataType::UInt16 => entry::<UInt16Type>(array, row, quoted, out),
            DataType::UInt32 => entry::<UInt32Type>(array, row, quoted, out),
            _ => entry::<UInt64Type>(array, row, quoted, out),
        },
        _ => {
            let options = FormatOptions::default().with_timestamp_tz_format(Some(RFC_3339));
            let shown = ArrayFormatter::try_new(array, &options).map(|f| f.value(row).to_string());
            string(&shown.unwrap_or_default(), out);
        }
    }
}

fn entry<K: ArrowDictionaryKeyType>(array: &ArrayRef, row: usize, quoted: bool, out: &mut Vec<u8>) {
    let dictionary = array.as_dictionary::<K>();
    match dictionary.key(row) {
        Some(key) => write(dictionary.values(), key, quoted, out),
        None => json::null(out),
    }
}

fn list(values: &ArrayRef, out: &mut Vec<u8>) {
    out.push(b'[');
    for row in 0..values.len() {
        if row > 0 {
            out.push(b',');
        }
        value(values, row, out);
    }
    out.push(b']');
}

const RFC_3339: &str = "%Y-%m-%dT%H:%M:%S%.6fZ";

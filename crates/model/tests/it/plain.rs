use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array as _, ArrayRef};
use logpose_core::{Channel, Layout, Strings, Value};
use logpose_model::{Shape, binary, channel_batches, channel_schema, names, times};
use logpose_schema::Registry;
use proptest::prelude::*;

use crate::support::{TYPES, column, payload};

fn shape(type_name: &str) -> Shape {
    Shape::of(&Channel::new("/c", type_name), &Registry::new())
}

/// Asserts that a row of an array is the value of a payload.
fn check(array: &ArrayRef, row: usize, value: &Value<'_>) {
    assert!(array.is_valid(row), "{value:?}");
    let list = || array.as_list::<i32>().value(row);
    match *value {
        Value::Boolean(x) => assert_eq!(array.as_boolean().value(row), x),
        Value::Int64(x) => assert_eq!(array.as_primitive::<Int64Type>().value(row), x),
        Value::Float(x) => assert_eq!(array.as_primitive::<Float32Type>().value(row).to_bits(), x.to_bits()),
        Value::Double(x) => assert_eq!(array.as_primitive::<Float64Type>().value(row).to_bits(), x.to_bits()),
        Value::String(x) => assert_eq!(array.as_string::<i32>().value(row), String::from_utf8_lossy(x)),
        Value::Bytes(x) => assert_eq!(array.as_binary::<i32>().value(row), x),
        Value::BooleanArray(x) => {
            assert!(list().as_boolean().values().iter().eq(x.iter().map(|byte| *byte != 0)));
        }
        Value::Int64Array(x) => assert!(list().as_primitive::<Int64Type>().values().iter().copied().eq(x.iter())),
        Value::FloatArray(x) => {
            let found = list().as_primitive::<Float32Type>().values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(found.into_iter().eq(x.iter().map(f32::to_bits)));
        }
        Value::DoubleArray(x) => {
            let found = list().as_primitive::<Float64Type>().values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(found.into_iter().eq(x.iter().map(f64::to_bits)));
        }
        Value::StringArray(x) => {
            let found = list();
            let found = found.as_string::<i32>().iter().map(|text| text.unwrap().to_owned());
            assert!(found.eq(x.iter().map(|text| String::from_utf8_lossy(text).into_owned())));
        }
    }
}

proptest! {
    #[test]
    fn arrays_hold_the_values(
        which in 0..TYPES.len(),
        samples in prop::collection::vec((any::<i64>(), prop::collection::vec(any::<u8>(), 0..30)), 0..100),
    ) {
        let type_name = TYPES[which];
        let ty = logpose_core::Type::of(type_name);
        let samples: Vec<(i64, Vec<u8>)> =
            samples.into_iter().map(|(time, bytes)| (time, payload(ty, &bytes))).collect();
        let (column, memory) = column(type_name, &samples);
        let shape = shape(type_name);
        let mut rest = samples.iter();
        for chunk in &column.chunks {
            let (times, array, raw) = (times(&memory, chunk), shape.array(&memory, chunk), binary(&memory, chunk));
            prop_assert_eq!(array.data_type(), shape.data_type());
            for row in 0..chunk.rows as usize {
                let (time, payload) = rest.next().unwrap();
                prop_assert_eq!(times.value(row), *time);
                prop_assert_eq!(raw.value(row), &payload[..]);
                check(&array, row, &Value::parse(ty, payload, Layout::Little).unwrap());
            }
        }
        let batches = channel_batches(&column, &memory, &shape);
        prop_assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), samples.len());
        let mut sorted = samples.clone();
        sorted.sort_by_key(|(time, _)| *time);
        let mut sorted = sorted.iter();
        for batch in batches {
            prop_assert_eq!(batch.schema(), channel_schema(&shape));
            for row in 0..batch.num_rows() {
                let (time, payload) = sorted.next().unwrap();
                prop_assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(row), *time);
                check(batch.column(1), row, &Value::parse(ty, payload, Layout::Little).unwrap());
            }
        }
    }
}

#[test]
fn numbers_are_not_copied() {
    let samples: Vec<(i64, Vec<u8>)> = (0..20_000).map(|i| (i, (i as f64).to_le_bytes().to_vec())).collect();
    let (column, memory) = column("double", &samples);
    assert!(column.chunks.len() > 2);
    for chunk in &column.chunks {
        let array = || shape("double").array(&memory, chunk).to_data().buffers()[0].as_ptr();
        assert_eq!(array(), array());
        assert_eq!(times(&memory, chunk).values().as_ptr(), times(&memory, chunk).values().as_ptr());
    }
}

#[test]
fn payloads_that_do_not_fit_are_null() {
    // The builder takes any payload; what fits is for the reader of a log to say.
    let bytes: Vec<(i64, Vec<u8>)> = (0..30).map(|i| (i, vec![1; if i % 7 == 3 { 5 } else { 8 }])).collect();
    let (raw, memory) = column("raw", &bytes);
    for type_name in ["double", "double[]", "string[]"] {
        let arrays = raw.chunks.iter().map(|chunk| shape(type_name).array(&memory, chunk));
        let valid: Vec<bool> = arrays.flat_map(|array| (0..array.len()).map(move |row| array.is_valid(row))).collect();
        let fits = |payload: &[u8]| {
            if type_name == "string[]" { Strings::new(payload, Layout::Little).is_ok() } else { payload.len() == 8 }
        };
        assert_eq!(valid, bytes.iter().map(|(_, payload)| fits(payload)).collect::<Vec<_>>(), "{type_name}");
    }
}

#[test]
fn names_are_the_channels_own_unless_shared() {
    let channels = |names: &[(&str, &str)]| names.iter().map(|(n, t)| Channel::new(*n, *t)).collect::<Vec<_>>();
    assert_eq!(names(&channels(&[("a", "double"), ("b", "int64")])), ["a", "b"]);
    assert_eq!(names(&channels(&[("a", "double"), ("a", "int64"), ("b", "x")])), ["a (double)", "a (int64)", "b"]);
    let odd = [("a", "x"), ("a (x)", "y"), ("a", "x")];
    assert_eq!(names(&channels(&odd)), ["a (x) 2", "a (x)", "a (x) 3"]);
}

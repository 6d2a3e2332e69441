#![expect(clippy::cast_possible_truncation, reason = "generated numbers may be any")]

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType, Field, TimeUnit};

use super::cast;

/// Every type that files bring, with nulls, its extremes, and values of every bit pattern.
fn scalars() -> Vec<ArrayRef> {
    let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits
    };
    let mut all: Vec<ArrayRef> = vec![Arc::new(NullArray::new(ROWS))];
    macro_rules! primitive {
        ($($native:ty, [$($value:expr),*], $from:expr => $($ty:ty),+;)+) => {$(
            let mut values: Vec<$native> = vec![$($value),*];
            values.extend(std::iter::repeat_with(&mut random).map($from).take(ROWS - values.len()));
            $(
                all.push(Arc::new(PrimitiveArray::<$ty>::new(values.clone().into(), None)));
                all.push(Arc::new(PrimitiveArray::<$ty>::new(values.clone().into(), nulls())));
            )+
        )+};
    }
    let float = |x: u64| f64::from_bits(x);
    primitive! {
        i8, [0, 1, -1, i8::MIN, i8::MAX], |x| x as i8 => Int8Type;
        i16, [0, 1, -1, i16::MIN, i16::MAX], |x| x as i16 => Int16Type;
        i32, [0, 1, -1, i32::MIN, i32::MAX], |x| x as i32 => Int32Type, Date32Type, Time32SecondType, Time32MillisecondType;
        i64, [0, 1, -1, i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1], |x| x as i64 => Int64Type, Date64Type,
            Time64MicrosecondType, Time64NanosecondType, TimestampSecondType, TimestampMillisecondType,
            TimestampMicrosecondType, TimestampNanosecondType, DurationSecondType, DurationMillisecondType,
            DurationMicrosecondType, DurationNanosecondType;
        u8, [0, 1, u8::MAX], |x| x as u8 => UInt8Type;
        u16, [0, 1, u16::MAX], |x| x as u16 => UInt16Type;
        u32, [0, 1, u32::MAX], |x| x as u32 => UInt32Type;
        u64, [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, (1 << 53) + 1], |x| x >> (x & 63) => UInt64Type;
        f32, [0.0, -0.0, 1.0, -1.5, 0.1, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN, f32::MAX, 9.2e18, 9.3e18],
            |x| if x & 1 == 0 { f32::from_bits(x as u32) } else { (x as i32) as f32 / 128.0 } => Float32Type;
        f64, [0.0, -0.0, 1.0, -1.5, 0.1, 1e15, 1e16, 1e17, 1e-4, 1e-5, 1e-6, f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
            f64::MIN, f64::MAX, f64::MIN_POSITIVE, i64::MAX as f64, i64::MIN as f64, -9.3e18, 9_223_372_036_854_774_784.0],
            |x| if x & 1 == 0 { float(x) } else { (x as i32) as f64 / 128.0 } => Float64Type;
    }
    let halves: Float16Array = (0..ROWS)
        .map(|row| (row % 5 != 3).then(|| <Float16Type as ArrowPrimitiveType>::Native::from_bits(random() as u16)))
        .collect();
    all.push(Arc::new(halves));
    let zone = TimestampMicrosecondArray::new((0..ROWS as i64).collect::<Vec<_>>().into(), nulls());
    all.push(Arc::new(zone.clone().with_timezone("America/New_York")));
    all.push(Arc::new(zone.with_timezone("+02:00")));
    for scale in [-3, 0, 2, 9] {
        let number = |row: usize| {
            [0, 1, -1, 99, -199, 123_456_789, -999_999_999, i128::from(random() as i32 % 1_000_000_000)][row % 8]
        };
        let numbers: Vec<i128> = (0..ROWS).map(number).collect();
        let narrow = numbers.iter().map(|x| *x as i32).collect::<Vec<_>>();
        let long = numbers.iter().map(|x| *x as i64 * 1_000_000_007).collect::<Vec<_>>();
        let longer = numbers.iter().map(|x| x * (1 << 95)).collect::<Vec<_>>();
        let longest = numbers.iter().map(|x| i256::from_i128(*x) * i256::from_i128(1 << 100)).collect::<Vec<_>>();
        let short = numbers.iter().map(|x| i256::from_i128(*x)).collect::<Vec<_>>();
        all.push(Arc::new(Decimal32Array::new(narrow.into(), nulls()).with_precision_and_scale(9, scale).unwrap()));
        all.push(Arc::new(Decimal64Array::new(long.into(), nulls()).with_precision_and_scale(18, scale).unwrap()));
        all.push(Arc::new(Decimal128Array::new(longer.into(), nulls()).with_precision_and_scale(38, scale).unwrap()));
        all.push(Arc::new(Decimal128Array::new(numbers.into(), None).with_precision_and_scale(38, scale).unwrap()));
        for values in [longest, short] {
            let values = Decimal256Array::new(values.into(), nulls());
            all.push(Arc::new(values.with_precision_and_scale(76, scale).unwrap()));
        }
    }
    all.push(Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(ROWS, |row| row % 3 == 0), nulls())));
    let texts = [
        "",
        "true",
        " T ",
        "OFF",
        "ye",
        "maybe",
        "0",
        "1",
        "-5",
        "+5",
        " 42 ",
        "007",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "1.5",
        "-.5",
        "5.",
        "1e3",
        "1E-400",
        "1e400",
        "inf",
        "-Infinity",
        "nan",
        "NaN",
        ".",
        "e5",
        "-",
        "+-5",
        "0x10",
        "1_000",
        "\u{a0}7.5\u{a0}",
        "a text that is too long to be inline",
        "Größe",
        "\t8\n",
        "infinit",
        "+.5e+1",
        "--1",
        "1 2",
        "1e",
    ];
    let texts = || (0..ROWS).map(|row| (row % 7 != 6).then(|| texts[row % texts.len()]));
    all.push(Arc::new(texts().collect::<StringArray>()));
    all.push(Arc::new(texts().collect::<LargeStringArray>()));
    all.push(Arc::new(texts().collect::<StringViewArray>()));
    let bytes: Vec<Vec<u8>> = (0..ROWS)
        .map(|row| match row % 4 {
            0 => vec![],
            1 => "Größe".as_bytes().to_vec(),
            2 => vec![0xff, row as u8],
            _ => vec![b'a'; row],
        })
        .collect();
    let bytes = || bytes.iter().enumerate().map(|(row, bytes)| (row % 7 != 6).then_some(bytes));
    all.push(Arc::new(bytes().collect::<BinaryArray>()));
    all.push(Arc::new(bytes().collect::<LargeBinaryArray>()));
    all.push(Arc::new(bytes().collect::<BinaryViewArray>()));
    let fixed = (0..ROWS).map(|row| (row % 7 != 6).then_some([row as u8, 0xff, b'x']));
    all.push(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(fixed, 3).unwrap()));
    all
}

/// The array as values of dictionaries, of runs and of lists.
fn wrapped(array: &ArrayRef) -> Vec<ArrayRef> {
    let places = || (0..ROWS).map(|row| (row % 5 != 4).then_some((row * 7) % ROWS));
    let mut all: Vec<ArrayRef> = Vec::new();
    macro_rules! dictionaries {
        ($($key:ty),+) => {$(
            let keys = places().map(|place| place.map(|place| place as <$key as ArrowPrimitiveType>::Native));
            let keys: PrimitiveArray<$key> = keys.collect();
            all.push(Arc::new(DictionaryArray::new(keys, Arc::clone(array))));
        )+};
    }
    dictionaries!(Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type);
    let twice = all.iter().take(2).map(|inner| {
        let keys: Int32Array = places().map(|place| place.map(|place| place as i32)).collect();
        Arc::new(DictionaryArray::new(keys, Arc::clone(inner))) as ArrayRef
    });
    let twice: Vec<ArrayRef> = twice.collect();
    all.extend(twice);
    let field = || Arc::new(Field::new("element", array.data_type().clone(), true));
    let half = ROWS / 2;
    let nulls = || nulls().map(|nulls| nulls.slice(0, half));
    let offsets: Vec<usize> = (0..half).map(|row| [0, 1, 4, 2][row % 4]).collect();
    all.push(Arc::new(ListArray::new(
        field(),
        OffsetBuffer::from_lengths(offsets.clone()),
        Arc::clone(array),
        nulls(),
    )));
    all.push(Arc::new(LargeListArray::new(field(), OffsetBuffer::from_lengths(offsets), Arc::clone(array), nulls())));
    all.push(Arc::new(FixedSizeListArray::new(field(), 2, Arc::clone(array), nulls())));
    all.push(Arc::new(FixedSizeListArray::new(field(), 1, Arc::clone(array), self::nulls())));
    let starts: Vec<usize> = (0..half).map(|row| (row * 11) % (ROWS - 4)).collect();
    let sizes: Vec<usize> = (0..half).map(|row| row % 4).collect();
    let narrow = |x: &[usize]| x.iter().map(|x| *x as i32).collect::<ScalarBuffer<i32>>();
    let wide = |x: &[usize]| x.iter().map(|x| *x as i64).collect::<ScalarBuffer<i64>>();
    all.push(Arc::new(ListViewArray::new(field(), narrow(&starts), narrow(&sizes), Arc::clone(array), nulls())));
    all.push(Arc::new(LargeListViewArray::new(field(), wide(&starts), wide(&sizes), Arc::clone(array), nulls())));
    let ends = || (1..=ROWS).map(|row| row * 2);
    let ends16 = Int16Array::from_iter_values(ends().map(|end| end as i16));
    all.push(Arc::new(RunArray::try_new(&ends16, array.as_ref()).unwrap()));
    let ends32 = Int32Array::from_iter_values(ends().map(|end| end as i32));
    all.push(Arc::new(RunArray::try_new(&ends32, array.as_ref()).unwrap()));
    let ends64 = Int64Array::from_iter_values(ends().map(|end| end as i64));
    all.push(Arc::new(RunArray::try_new(&ends64, array.as_ref()).unwrap()));
    all
}

fn nulls() -> Option<NullBuffer> {
    Some(NullBuffer::new(BooleanBuffer::collect_bool(ROWS, |row| row % 7 != 6)))
}

fn targets() -> Vec<DataType> {
    let scalars = [DataType::Boolean, DataType::Int64, DataType::Float64, DataType::Utf8, DataType::Binary];
    let list = |ty: &DataType| DataType::List(Arc::new(Field::new_list_field(ty.clone(), true)));
    let mut all: Vec<DataType> = scalars.iter().map(list).collect();
    all.extend(scalars);
    all.push(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)));
    all
}

/// Pairs that no call brings together, and for which there is no code: texts of times and of lists.
fn is_left_out(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    match (from, to) {
        (Dictionary(_, from), _) => is_left_out(from, to),
        (RunEndEncoded(_, from), _) => is_left_out(from.data_type(), to),
        (_, Dictionary(_, to)) => is_left_out(from, to),
        (List(from) | LargeList(from) | FixedSizeList(from, _) | ListView(from) | LargeListView(from), List(to)) => {
            is_left_out(from.data_type(), to.data_type())
        }
        (FixedSizeList(from, 1), _) => is_left_out(from.data_type(), to),
        (_, List(to)) => is_left_out(from, to.data_type()),
        (List(_) | LargeList(_) | ListView(_) | LargeListView(_), Utf8) => true,
        _ => from.is_temporal() && *to == Utf8,
    }
}

#[track_caller]
fn compare(array: &ArrayRef, to: &DataType) -> bool {
    let middle = array.slice(3, array.len() - 5);
    for array in [array, &middle, &middle.slice(1, 2), &array.slice(2, 0)] {
        match (arrow_cast::cast(array, to), cast(array, to)) {
            (Ok(expected), Ok(ours)) => {
                ours.to_data().validate_full().unwrap();
                assert_eq!(ours.data_type(), to);
                assert_eq!(ours.logical_null_count(), expected.logical_null_count(), "{} to {to}", array.data_type());
                let differs = |row: &usize| ours.slice(*row, 1) != expected.slice(*row, 1);
                if *ours != *expected
                    && let Some(row) = (0..array.len()).find(differs)
                {
                    let (from, ours, expected) = (array.slice(row, 1), ours.slice(row, 1), expected.slice(row, 1));
                    panic!("{} to {to}: {from:?} is {ours:?}, but {expected:?} in Arrow", array.data_type());
                }
                assert_eq!(&ours, &expected, "{} to {to}", array.data_type());
            }
            (Err(_), Err(_)) => return false,
            (expected, ours) => panic!("{} to {to}: {expected:?}, but {ours:?}", array.data_type()),
        }
    }
    true
}

#[test]
fn casts_are_those_of_arrow() {
    let mut done = 0;
    for array in scalars() {
        for to in targets().iter().filter(|to| !is_left_out(array.data_type(), to)) {
            done += u32::from(compare(&array, to));
        }
    }
    assert!(done > 500, "{done}");
}

#[test]
fn casts_within_dictionaries_runs_and_lists_are_those_of_arrow() {
    let mut done = 0;
    for array in scalars() {
        for array in wrapped(&array) {
            for to in targets().iter().filter(|to| !is_left_out(array.data_type(), to)) {
                done += u32::from(compare(&array, to));
            }
        }
    }
    assert!(done > 7_000, "{done}");
}

#[test]
fn lists_of_dictionaries_are_those_of_arrow() {
    for array in scalars() {
        let outer = wrapped(&array).into_iter().filter(|array| array.len() == ROWS).take(1);
        for list in outer.flat_map(|inner| wrapped(&inner)).filter(|list| list.len() == ROWS / 2) {
            for to in targets().iter().filter(|to| !is_left_out(&element(&list), to)) {
                if matches!(to, DataType::List(_)) {
                    compare(&list, to);
                }
            }
        }
    }
}

/// The innermost type of lists and dictionaries.
fn element(list: &ArrayRef) -> DataType {
    let mut ty = list.data_type().clone();
    loop {
        ty = match ty {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::FixedSizeList(field, _)
            | DataType::ListView(field)
            | DataType::LargeListView(field) => field.data_type().clone(),
            DataType::Dictionary(_, values) => *values,
            ty => return ty,
        }
    }
}

#[test]
fn fractions_of_less_than_32_bits_are_floats() {
    for array in scalars().iter().filter(|array| matches!(array.data_type(), DataType::Float16 | DataType::Float32)) {
        assert!(compare(array, &DataType::Float32));
        for array in wrapped(array).iter().filter(|array| array.len() == ROWS) {
            compare(array, &DataType::Float32);
        }
    }
}

#[test]
fn dictionaries_are_unpacked_wherever_they_are() {
    for values in scalars() {
        let plain = Arc::new(Field::new("x", values.data_type().clone(), true));
        let dictionary = Arc::clone(&wrapped(&values)[2]);
        let field = Arc::new(Field::new("x", dictionary.data_type().clone(), true));
        let lengths = OffsetBuffer::<i32>::from_repeated_length(2, ROWS / 2);
        let long = OffsetBuffer::<i64>::from_repeated_length(2, ROWS / 2);
        let nulls = || nulls().map(|nulls| nulls.slice(0, ROWS / 2));
        let list = ListArray::new(Arc::clone(&field), lengths, Arc::clone(&dictionary), nulls());
        compare(&(Arc::new(list) as ArrayRef), &DataType::List(Arc::clone(&plain)));
        let list = LargeListArray::new(Arc::clone(&field), long, Arc::clone(&dictionary), nulls());
        compare(&(Arc::new(list) as ArrayRef), &DataType::LargeList(Arc::clone(&plain)));
        let list = FixedSizeListArray::new(Arc::clone(&field), 2, Arc::clone(&dictionary), nulls());
        let list = Arc::new(list) as ArrayRef;
        assert!(compare(&list, &DataType::FixedSizeList(Arc::clone(&plain), 2)));
        let fields = vec![field.as_ref().clone(), Field::new("list", list.data_type().clone(), true)];
        let outer = StructArray::new(fields.into(), vec![dictionary.slice(0, ROWS / 2), list], nulls());
        let fields =
            vec![plain.as_ref().clone(), Field::new("list", DataType::FixedSizeList(Arc::clone(&plain), 2), true)];
        assert!(compare(&(Arc::new(outer) as ArrayRef), &DataType::Struct(fields.into())));
        assert!(compare(&dictionary, values.data_type()));
    }
}

#[test]
fn what_channels_cannot_be_is_refused() {
    let day = Arc::new(IntervalDayTimeArray::new(vec![IntervalDayTimeType::make_value(1, 2)].into(), None)) as ArrayRef;
    let error = cast(&day, &DataType::Float64).unwrap_err();
    assert_eq!(error.to_string(), arrow_cast::cast(&day, &DataType::Float64).unwrap_err().to_string());
    let zone = DataType::Timestamp(TimeUnit::Second, None);
    assert!(cast(&(Arc::new(BooleanArray::from(vec![true])) as ArrayRef), &zone).is_err());
}

const ROWS: usize = 84;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use logpose_core::{Channel, ChannelId, Layout, Sample, Sink as _, SinkError, Time, Value};
use logpose_model::long::{self, Reader, Rows};
use proptest::prelude::*;

use crate::support::{TYPES, column, payload};

fn channels() -> Vec<Channel> {
    TYPES.iter().map(|ty| Channel::new(format!("/{ty}"), *ty)).collect()
}

/// Bytes of which many are parts of special numbers, of UTF-8, or plain.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let special: Vec<Vec<u8>> = vec![
        vec![],
        f64::NAN.to_le_bytes().to_vec(),
        0x7ff0_0000_0000_0001_u64.to_le_bytes().to_vec(),
        (-0.0_f64).to_le_bytes().to_vec(),
        0x7f80_0001_u32.to_le_bytes().repeat(2),
        0xffc0_1234_u32.to_le_bytes().to_vec(),
        i64::MIN.to_le_bytes().to_vec(),
        "é – x".as_bytes().to_vec(),
        vec![b'a', 0xff, 0xc3],
        vec![0, 1, 1, 0, 1],
        vec![2],
    ];
    prop_oneof![
        prop::sample::select(special),
        prop::collection::vec(any::<u8>(), 0..40),
        prop::collection::vec(0_u8..2, 0..20),
        ".{0,12}".prop_map(String::into_bytes),
    ]
}

fn check(batch: &RecordBatch, row: usize, time: i64, channel: usize, value: &Value<'_>) {
    let reader = Reader::new(batch).unwrap();
    let mut scratch = vec![1, 2, 3];
    assert_eq!(reader.time(row), Time::from_nanos(time));
    assert_eq!(reader.channel(row), Some(channel));
    let found = reader.value(row, value.ty(), &mut scratch);
    assert!(found.is_some_and(|found| found.same(value)), "{value:?} came back as {found:?}");
    let set = batch.columns()[2..].iter().filter(|column| column.is_valid(row)).count();
    assert_eq!(set, 1, "{value:?}");
}

proptest! {
    #[test]
    fn samples_come_back_to_the_bit(
        samples in prop::collection::vec((0..TYPES.len(), any::<i64>(), bytes()), 0..200),
        cut in 0..200_usize,
    ) {
        let channels = channels();
        let payloads: Vec<Vec<u8>> =
            samples.iter().map(|(channel, _, bytes)| payload(channels[*channel].ty(), bytes)).collect();
        let samples: Vec<Sample<'_>> = samples.iter().zip(&payloads).map(|((channel, time, _), payload)| Sample {
            channel: ChannelId::try_from(*channel).unwrap(),
            time: Time::from_nanos(*time),
            value: Value::parse(channels[*channel].ty(), payload, Layout::Little).unwrap(),
        }).collect();
        let mut rows = Rows::new(&channels);
        let (first, second) = samples.split_at(cut.min(samples.len()));
        for samples in [first, second] {
            rows.samples(samples).unwrap();
            prop_assert_eq!(rows.len(), samples.len());
            let batch = rows.finish();
            prop_assert!(rows.is_empty());
            prop_assert_eq!(batch.schema(), long::schema());
            prop_assert_eq!(batch.num_rows(), samples.len());
            for (row, sample) in samples.iter().enumerate() {
                check(&batch, row, sample.time.nanos(), sample.channel as usize, &sample.value);
            }
        }
    }

    #[test]
    fn a_chunk_is_the_same_rows(which in 0..TYPES.len(), samples in prop::collection::vec((any::<i64>(), bytes()), 0..100)) {
        let channels = channels();
        let channel = &channels[which];
        let samples: Vec<(i64, Vec<u8>)> =
            samples.into_iter().map(|(time, bytes)| (time, payload(channel.ty(), &bytes))).collect();
        let (column, memory) = column(&channel.type_name, &samples);
        let names = long::dictionary(&channels);
        let id = ChannelId::try_from(which).unwrap();
        let mut rest = samples.iter();
        for chunk in &column.chunks {
            let batch = long::of_chunk(id, &names, channel, &memory, chunk);
            prop_assert_eq!(batch.schema(), long::schema());
            let mut rows = Rows::new(&channels);
            for row in 0..batch.num_rows() {
                let (time, payload) = rest.next().unwrap();
                let value = Value::parse(channel.ty(), payload, Layout::Little).unwrap();
                check(&batch, row, *time, which, &value);
                rows.samples(&[Sample { channel: id, time: Time::from_nanos(*time), value }]).unwrap();
            }
            prop_assert_eq!(batch, rows.finish());
        }
        prop_assert!(rest.next().is_none());
    }
}

#[test]
fn numbers_of_a_chunk_are_not_copied() {
    let samples: Vec<(i64, Vec<u8>)> = (0..100).map(|i| (i, (i as f64).to_le_bytes().to_vec())).collect();
    let (column, memory) = column("double", &samples);
    let channels = [Channel::new("/c", "double")];
    let batch = |chunk| long::of_chunk(0, &long::dictionary(&channels), &channels[0], &memory, chunk);
    for chunk in &column.chunks {
        let (a, b) = (batch(chunk), batch(chunk));
        for column in ["time_ns", "number", "integer", "texts"] {
            let data = |batch: &RecordBatch| batch.column_by_name(column).unwrap().to_data().buffers()[0].as_ptr();
            assert_eq!(data(&a), data(&b), "{column}");
        }
    }
}

#[test]
fn channels_may_be_declared_late_and_share_names() {
    let channels = [Channel::new("a", "double"), Channel::new("b", "double"), Channel::new("b", "int64")];
    let mut rows = Rows::new(&channels);
    rows.channel(0, &channels[0]).unwrap();
    rows.channel(3, &Channel::new("a", "string")).unwrap();
    rows.samples(&[Sample { channel: 3, time: Time::ZERO, value: Value::String(b"x") }]).unwrap();
    let batch = rows.finish();
    let names = Reader::new(&batch).unwrap().names();
    assert_eq!(names.iter().flatten().collect::<Vec<_>>(), ["a", "b (double)", "b (int64)", "a (string)"]);
    assert_eq!(batch.column_by_name("text").unwrap().as_string::<i32>().value(0), "x");

    let unknown = rows.samples(&[Sample { channel: 9, time: Time::ZERO, value: Value::Int64(1) }]);
    assert!(matches!(unknown, Err(SinkError::Refused(_))));
    assert!(rows.channel(9, &channels[0]).is_err());
    assert!(rows.is_empty());
}

#[test]
fn other_tables_are_refused_by_name() {
    let batch = long::schema();
    let without = RecordBatch::new_empty(std::sync::Arc::new(batch.project(&[1, 2]).unwrap()));
    let error = Reader::new(&without).unwrap_err().to_string();
    assert!(error.starts_with("missing column \"time_ns\""), "{error}");
    let narrow = RecordBatch::new_empty(std::sync::Arc::new(batch.project(&[0, 1, 4]).unwrap()));
    assert!(Reader::new(&narrow).is_ok());
    let fields = [batch.field(0).clone(), batch.field(1).clone(), batch.field(3).clone().with_name("number")];
    let wrong = RecordBatch::new_empty(std::sync::Arc::new(arrow_schema::Schema::new(fields.to_vec())));
    assert_eq!(Reader::new(&wrong).unwrap_err().to_string(), "column \"number\" is Int64, expected Float64");
}

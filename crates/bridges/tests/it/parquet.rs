use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int32Array,
    Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
    UInt64Array,
    types::{Float64Type, Int32Type},
};
use arrow_schema::{DataType, Field, Fields};
use bytes::Bytes;
use logpose_bridges::{Header, ParquetWriter, Piece, TableFormat, UnpackError, Writer, write_batches};
use logpose_core::{Channel, DecodeError, FileDialect, Problems, ReadOptions, Sink, SinkError, Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use crate::{Call, bridge, doubles, log_of_everything, long_log, open, replay, send, write};

fn everything(rows: usize) -> Vec<u8> {
    let (header, calls) = log_of_everything();
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, header).unwrap(), &calls, rows);
    file
}

pub(crate) fn refused(name: &str, file: &[u8]) -> DecodeError {
    let error =
        bridge(name).unpack(file, &ReadOptions::default(), &mut Vec::new(), &mut Problems::default()).unwrap_err();
    match error {
        UnpackError::Decode(error) => error,
        UnpackError::Write(error) => panic!("{error}"),
    }
}

/// A file of one batch, as others write it.
pub(crate) fn foreign(columns: Vec<(&str, ArrayRef)>, format: TableFormat) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let rows = batch.num_rows() as u64;
    let batches = std::iter::once(Ok::<_, std::io::Error>(batch.clone()));
    assert_eq!(write_batches(&batch.schema(), batches, &mut file, format).unwrap(), rows);
    file
}

fn samples(calls: &[Call]) -> Vec<(u32, i64, Type, Vec<u8>)> {
    let sample = |call: &Call| match call {
        Call::Sample(id, time, ty, payload) => Some((*id, *time, *ty, payload.clone())),
        _ => None,
    };
    calls.iter().filter_map(sample).collect()
}

#[test]
fn every_call_comes_back() {
    let (header, calls) = log_of_everything();
    for rows in [usize::MAX, 5, 1] {
        assert_eq!(replay("parquet", &everything(rows)), (header.clone(), calls.clone()), "{rows}");
    }
}

#[test]
fn long_logs_come_back() {
    let (header, calls) = long_log(50_000);
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, header.clone()).unwrap(), &calls, 20_000);
    assert_eq!(replay("parquet", &file), (header, calls));
}

#[test]
fn pieces_that_each_declare_their_channels_declare_them_once() {
    let (header, calls) = log_of_everything();
    let channels: Vec<Call> = calls.iter().filter(|call| matches!(call, Call::Channel(..))).cloned().collect();
    let mut file = Vec::new();
    let mut writer = ParquetWriter::new(&mut file, header.clone()).unwrap();
    for part in calls.chunks(20) {
        let mut piece = writer.piece();
        send(&channels, &mut piece).unwrap();
        send(part, &mut piece).unwrap();
        let rows = piece.rows();
        assert!(piece.size() > 0);
        piece.seal().unwrap();
        assert_eq!(piece.rows(), rows);
        writer.append(piece).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(replay("parquet", &file), (header, calls));
}

#[test]
fn a_log_without_samples_is_a_file_all_the_same() {
    let (header, calls) = (log_of_everything().0, log_of_everything().1[..15].to_vec());
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, header.clone()).unwrap(), &calls, 100);
    // The fourth channel's metadata were other ones when it was declared.
    assert_eq!(replay("parquet", &file), (header, calls));
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, Header::default()).unwrap(), &[], 1);
    let (header, calls) = replay("parquet", &file);
    assert_eq!((header, calls), (Header::default(), Vec::new()));
}

#[test]
fn channels_that_the_header_lacks_are_refused() {
    let writer = ParquetWriter::new(Vec::new(), Header::default()).unwrap();
    let error = writer.piece().channel(0, &Channel::new("/a", "double"));
    let Err(SinkError::Refused(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.to_string(), r#"parquet: channel "/a": is missing from the file header"#);
}

#[test]
fn row_groups_have_what_a_filter_by_time_needs() {
    let (header, calls) = long_log(300_000);
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, header).unwrap(), &calls, 100_000);
    let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
    let groups = reader.metadata().row_groups();
    assert_eq!(groups.len(), 4);
    let mut last = 0;
    for group in groups {
        let time = group.columns().iter().find(|c| c.column_path().string() == "time_ns").unwrap();
        let Some(Statistics::Int64(times)) = time.statistics() else { panic!("no statistics") };
        assert!(*times.min_opt().unwrap() >= last - 20_000 * 1000);
        last = *times.max_opt().unwrap();
        assert!(time.column_index_offset().is_some() && time.offset_index_offset().is_some());
        let channel = group.columns().iter().find(|c| c.column_path().string() == "channel").unwrap();
        assert!(channel.dictionary_page_offset().is_some());
        let number = group.columns().iter().find(|c| c.column_path().string() == "number").unwrap();
        assert!(number.statistics().unwrap().null_count_opt().is_some());
    }
}

#[test]
fn long_tables_of_others_are_channels() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("time", Arc::new(Float64Array::from(vec![Some(0.5), Some(1.0), Some(1.5), None, Some(2.0)]))),
        ("channel", Arc::new(LargeStringArray::from(vec![Some("a"), Some("b"), Some("a"), Some("a"), None]))),
        ("value", Arc::new(Float64Array::from(vec![Some(1.0), None, None, Some(4.0), Some(5.0)]))),
        ("note", Arc::new(StringArray::from(vec![None, Some("x"), Some("y"), None, None]))),
    ];
    for (name, format) in [("parquet", TableFormat::Parquet), ("arrow", TableFormat::Arrow)] {
        let (store, index, problems) = open(name, &foreign(columns.clone(), format));
        let channels: Vec<_> = index.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name)).collect();
        assert_eq!(channels, [("a", "double"), ("b", "string"), ("a", "string")]);
        let kinds: Vec<_> = problems.kinds().iter().map(|(code, ..)| *code).collect();
        assert_eq!(kinds, ["row-without-time", "row-without-channel"]);
        let mut calls = crate::Recording::default();
        bridge(name).replay(&store, &index, &Default::default(), &mut calls).unwrap();
        assert_eq!(samples(&calls.0)[2], (2, 1_500_000_000, Type::String, b"y".to_vec()));
    }
}

/// The names of zones are kept and never looked up: that would need their tables, which only SQL brings.
#[test]
fn times_in_named_zones_are_read_and_written() {
    for zone in ["America/New_York", "UTC", "+02:00", "Nowhere/At_All"] {
        let times = TimestampMicrosecondArray::from(vec![1_700_000_000_000_000, 1_700_000_000_000_001]);
        let moments = TimestampMicrosecondArray::from(vec![Some(5), None]).with_timezone(zone);
        let packed = DictionaryArray::<Int32Type>::new(Int32Array::from(vec![0, 0]), Arc::new(moments.clone()));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("timestamp", Arc::new(times.with_timezone(zone))),
            ("moment", Arc::new(moments.clone())),
            ("packed", Arc::new(packed)),
        ];
        for (name, format) in [("parquet", TableFormat::Parquet), ("arrow", TableFormat::Arrow)] {
            let file = foreign(columns.clone(), format);
            let (header, calls) = replay(name, &file);
            let found: Vec<_> = header.channels.iter().map(|channel| (&*channel.name, &*channel.type_name)).collect();
            assert_eq!(found, [("moment", "int64"), ("packed", "int64")], "{name} {zone}");
            let five = |id, time| (id, time, Type::Int64, 5_i64.to_le_bytes().to_vec());
            let expected =
                [(0, 1_700_000_000_000_000_000), (1, 1_700_000_000_000_000_000), (1, 1_700_000_000_000_001_000)];
            assert_eq!(samples(&calls), expected.map(|(id, time)| five(id, time)), "{name} {zone}");
            let mut again = Vec::new();
            write(ParquetWriter::new(&mut again, header.clone()).unwrap(), &calls, usize::MAX);
            assert_eq!(replay("parquet", &again), (header, calls), "{name} {zone}");
            if format == TableFormat::Parquet {
                let file = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
                assert_eq!(file.schema().field(1).data_type(), moments.data_type());
                let batch = file.build().unwrap().next().unwrap().unwrap();
                assert_eq!(batch.column(1).as_ref(), &moments as &dyn Array);
            }
        }
    }
}

#[test]
fn wide_tables_of_others_are_channels() {
    let pose = Fields::from(vec![Field::new("x", DataType::Float32, true), Field::new("on", DataType::Boolean, true)]);
    let pose = StructArray::new(
        pose,
        vec![Arc::new(Float32Array::from(vec![1.0, 2.0])), Arc::new(BooleanArray::from(vec![Some(true), None]))],
        Some(vec![true, false].into()),
    );
    let list =
        ListArray::from_iter_primitive::<Float64Type, _, _>(vec![Some(vec![Some(1.0), Some(2.0)]), Some(vec![None])]);
    let decimal = Decimal128Array::from(vec![150, 250]).with_precision_and_scale(5, 2).unwrap();
    let modes: DictionaryArray<Int32Type> = vec!["auto", "teleop"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("timestamp", Arc::new(TimestampMicrosecondArray::from(vec![7, 8]))),
        ("speed", Arc::new(decimal)),
        ("count", Arc::new(UInt64Array::from(vec![5, u64::MAX]))),
        ("mode", Arc::new(modes)),
        ("pose", Arc::new(pose)),
        ("list", Arc::new(list)),
        ("nothing", arrow_array::new_null_array(&DataType::Null, 2)),
    ];
    for (name, format) in [("parquet", TableFormat::Parquet), ("arrow", TableFormat::Arrow)] {
        let (store, index, problems) = open(name, &foreign(columns.clone(), format));
        assert_eq!(index.fact("epoch_ns"), Some("0"));
        let found: Vec<_> =
            index.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name, c.samples)).collect();
        let expected = [
            ("speed", "double", 2),
            ("count", "int64", 1),
            ("mode", "string", 2),
            ("pose/x", "float", 1),
            ("pose/on", "boolean", 1),
            ("list", "double[]", 1),
        ];
        assert_eq!(found, expected);
        let kinds: Vec<_> = problems.list().iter().map(|p| (p.code, &*p.message)).collect();
        let skipped = "skipped columns of unsupported types: \"nothing\" (Null)";
        let values = "skipped 2 values with nulls or numbers beyond 64 bits";
        assert_eq!(kinds, [("column-skipped", skipped), ("bad-value", values)]);
        let mut calls = crate::Recording::default();
        bridge(name).replay(&store, &index, &Default::default(), &mut calls).unwrap();
        let samples = samples(&calls.0);
        assert_eq!((samples[0].1, doubles(&samples[0].3)), (7_000, vec![1.5]));
        assert!(samples.iter().any(|s| doubles_of(s) == [1.0, 2.0]));
    }
    fn doubles_of(sample: &(u32, i64, Type, Vec<u8>)) -> Vec<f64> {
        if sample.2 == Type::DoubleArray { doubles(&sample.3) } else { Vec::new() }
    }
}

#[test]
fn a_long_file_that_lost_our_header_is_read_by_its_columns() {
    let file = everything(usize::MAX);
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes::Bytes::from(file), 1024);
    let batch = reader.unwrap().next().unwrap().unwrap();
    let batches = std::iter::once(Ok::<_, std::io::Error>(batch.clone()));
    let mut copy = Vec::new();
    write_batches(&batch.schema(), batches, &mut copy, TableFormat::Arrow).unwrap();
    let (_, index, problems) = open("arrow", &copy);
    assert!(problems.is_empty());
    assert_eq!(index.samples(), batch.num_rows() as u64);
    let double = index.channels.iter().find(|c| c.channel.name == "/3").unwrap();
    assert_eq!((double.channel.type_name.as_str(), double.samples), ("double", 4));
}

#[test]
fn other_tables_are_refused_with_what_they_have() {
    let numbers = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let cases: [(Vec<(&str, ArrayRef)>, &str); 3] = [
        (
            vec![("a", numbers()), ("b", Arc::new(StringArray::from(vec!["x"])))],
            "no column of timestamps; found the columns a (Int32), b (Utf8); expected time_ns (or time, in \
             seconds), channel and columns of values, or a time and one column per channel",
        ),
        (
            vec![("Time", numbers()), ("b", numbers())],
            "column \"Time\" has integers of an unknown unit; rename it to time_ns, time_us or time_ms",
        ),
        (
            vec![("time_ns", Arc::new(Int64Array::from(vec![1]))), ("channel", Arc::new(StringArray::from(vec!["x"])))],
            "no column of values besides the time; found the columns time_ns (Int64), channel (Utf8); expected \
             time_ns (or time, in seconds), channel and columns of values, or a time and one column per channel",
        ),
    ];
    for (columns, message) in cases {
        let error = refused("parquet", &foreign(columns, TableFormat::Parquet));
        assert_eq!((error.code, &*error.message), ("no-samples", message));
    }
}

#[test]
fn a_cut_file_says_that_the_footer_is_missing() {
    let file = everything(usize::MAX);
    for len in [12, 100, file.len() - 1] {
        let error = refused("parquet", &file[..len]);
        assert_eq!((error.code, error.at), ("no-footer", len as u64));
        assert_eq!(error.message, "missing footer: the file is truncated or was not finished");
        assert!(error.help.unwrap().contains("copy the file again"));
    }
    assert_eq!(refused("parquet", b"PARE").code, "encrypted");
    assert_eq!(refused("parquet", b"").code, "bad-magic");
}

#[test]
fn every_damaged_byte_is_an_error_or_other_samples() {
    let file = everything(20);
    let mut whole = 0;
    for at in (0..file.len()).step_by(13) {
        let mut file = file.clone();
        file[at] ^= 0x15;
        let result =
            bridge("parquet").unpack(&file, &ReadOptions::default(), &mut Vec::new(), &mut Problems::default());
        whole += usize::from(result.is_ok());
    }
    assert!(whole < file.len());
}

#[test]
fn hostile_footers_cost_little() {
    // A footer that claims more rows, row groups, or bytes than the file can hold.
    let mut file = Vec::new();
    write(ParquetWriter::new(&mut file, Header::default()).unwrap(), &[], 1);
    for length in [0_u32, 1, u32::MAX, 1 << 31, 1 << 20] {
        let mut file = file.clone();
        let at = file.len() - 8;
        file[at..at + 4].copy_from_slice(&length.to_le_bytes());
        assert_eq!(refused("parquet", &file).code, "bad-footer");
    }
}

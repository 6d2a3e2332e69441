//! The test vectors of the specification, section 15: bytes that WPILib 2026.2.2 wrote and read back.

use logpose_core::{Channel, ChannelId, Cursor, Encode, EncodeOptions, FileDialect, Layout, Sample, Time, Type, Value};
use logpose_wpilog::{
    Control, FIXED_HEADER, Header, Opaque, Reader, Record, VERSION, Wpilog, Writer, boolean, boolean_array, double,
    double_array, float, float_array, int64, int64_array, raw, string, string_array,
};

use crate::support::{Build, hex, index, replay};

const EMPTY: &str = "57 50 49 4c 4f 47 00 01 00 00 00 00";
const EMPTY_AKIT: &str = "57 50 49 4c 4f 47 00 01 0c 00 00 00 41 64 76 61 6e 74 61 67 65 4b 69 74";

#[test]
fn empty_logs_are_their_header() {
    for (extra, bytes) in [("", EMPTY), ("AdvantageKit", EMPTY_AKIT)] {
        let bytes = hex(bytes);
        assert_eq!(Writer::new(Vec::new(), extra).unwrap().into_inner().unwrap(), bytes);
        let mut encoder = encoder(extra);
        let mut out = Vec::new();
        encoder.begin(&mut out);
        assert!(encoder.finish(&mut out).is_empty());
        assert_eq!(out, bytes);
        let reader = Reader::new(&bytes).unwrap();
        assert_eq!(reader.header(), Header { version: VERSION, extra: extra.as_bytes() });
        assert_eq!(reader.count(), 0, "no phantom record");
        let (index, problems) = index(&bytes);
        assert_eq!((index.records, problems), (0, vec![]));
        assert_eq!(index.fact("extra_header"), Some(extra));
    }
}

const TEST_START: &str =
    "20 00 1a 40 42 0f 00 01 00 00 00 04 00 00 00 74 65 73 74 05 00 00 00 69 6e 74 36 34 00 00 00 00";
const TEST_DATA: &str = "20 01 08 40 42 0f 03 00 00 00 00 00 00 00";
const TEST_METADATA: &str = "20 00 18 40 42 0f 02 01 00 00 00 0f 00 00 00 7b 22 73 6f 75 72 63 65 22 3a 22 4e 54 22 7d";
const TEST_FINISH: &str = "20 00 05 40 42 0f 01 01 00 00 00";

#[test]
fn the_example_of_the_format_document_is_written_byte_for_byte() {
    let mut expected = hex(EMPTY);
    [TEST_START, TEST_DATA, TEST_METADATA, TEST_FINISH].iter().for_each(|record| expected.extend(hex(record)));
    let metadata = r#"{"source":"NT"}"#;

    let mut log = Writer::new(Vec::new(), "").unwrap();
    let test = log.start("test", int64, "", 1_000_000).unwrap();
    assert_eq!(test.id(), 1);
    log.append(test, 1_000_000, 3).unwrap();
    log.set_metadata(test, metadata, 1_000_000).unwrap();
    log.finish(test, 1_000_000).unwrap();
    assert_eq!(log.into_inner().unwrap(), expected);

    let second = Time::from_millis(1000);
    let (mut encoder, mut out) = (encoder(""), Vec::new());
    encoder.begin(&mut out);
    encoder.channel(0, &Channel::new("test", "int64"), &mut out).unwrap();
    encoder.samples(&[Sample { channel: 0, time: second, value: Value::Int64(3) }], &mut out).unwrap();
    encoder.metadata(0, second, metadata, &mut out).unwrap();
    encoder.end(0, second, &mut out).unwrap();
    assert!(encoder.finish(&mut out).is_empty());
    assert_eq!(out, expected);

    let made = Build::new()
        .start(1, "test", "int64", "", 1_000_000)
        .int(1, 1_000_000, 3)
        .metadata(1, metadata, 1_000_000)
        .finish(1, 1_000_000);
    assert_eq!(made.0, expected);

    let shown: Vec<String> = Reader::new(&expected).unwrap().map(|record| record.unwrap().to_string()).collect();
    let lines = [
        r#"Start entry=1 name="test" type="int64" metadata="" time=1000000us"#,
        "Data entry=1 time=1000000us size=8 0300000000000000",
        r#"SetMetadata entry=1 metadata="{\"source\":\"NT\"}" time=1000000us"#,
        "Finish entry=1 time=1000000us",
    ];
    assert_eq!(shown, lines);
    let (index, problems) = index(&expected);
    assert_eq!(problems, []);
    let channel = &index.channels[0];
    assert_eq!(
        (&*channel.channel.name, &*channel.channel.type_name, &*channel.channel.metadata),
        ("test", "int64", metadata)
    );
    assert_eq!((channel.samples, channel.first, channel.last), (1, second, second));
}

/// A record that is read from its bytes and written to the same.
fn check(bytes: &str, entry: u32, timestamp: i64, payload: &[u8]) {
    let bytes = hex(bytes);
    let record = Record { entry, timestamp, payload };
    let mut cur = Cursor::new(&bytes, 0);
    assert_eq!(Record::parse(&mut cur), Ok(record), "{bytes:02x?}");
    assert!(cur.is_empty(), "{bytes:02x?}");
    let mut out = Vec::new();
    record.emit(&mut out);
    assert_eq!(out, bytes);
}

#[test]
fn timestamps_have_the_fewest_bytes() {
    let cases = [
        (1, "00 01 01 01 01"),
        (255, "00 01 01 ff 01"),
        (256, "10 01 01 00 01 01"),
        (65_535, "10 01 01 ff ff 01"),
        (65_536, "20 01 01 00 00 01 01"),
        ((1 << 24) - 1, "20 01 01 ff ff ff 01"),
        (1 << 24, "30 01 01 00 00 00 01 01"),
        ((1 << 32) - 1, "30 01 01 ff ff ff ff 01"),
        (1 << 32, "40 01 01 00 00 00 00 01 01"),
        (1 << 40, "50 01 01 00 00 00 00 00 01 01"),
        (1 << 48, "60 01 01 00 00 00 00 00 00 01 01"),
        (1 << 56, "70 01 01 00 00 00 00 00 00 00 01 01"),
        (i64::MAX, "70 01 01 ff ff ff ff ff ff ff 7f 01"),
        (-1, "70 01 01 ff ff ff ff ff ff ff ff 01"),
        (-1_000_000, "70 01 01 c0 bd f0 ff ff ff ff ff 01"),
    ];
    for (timestamp, bytes) in cases {
        check(bytes, 1, timestamp, &[1]);
        let mut log = Writer::new(Vec::new(), "").unwrap();
        let entry = log.start("a", boolean, "", 0).unwrap();
        log.append(entry, timestamp, true).unwrap();
        assert!(log.into_inner().unwrap().ends_with(&hex(bytes)), "{timestamp}");
    }
}

#[test]
fn ids_have_the_fewest_bytes() {
    for (entry, bytes) in [(255, "00 ff 01 01 01"), (256, "01 00 01 01 01 01"), (300, "01 2c 01 01 01 01")] {
        check(bytes, entry, 1, &[1]);
        let mut log = Writer::new(Vec::new(), "").unwrap();
        let entries: Vec<_> = (1..=entry).map(|i| log.start(&format!("/{i}"), boolean, "", 0).unwrap()).collect();
        let last = *entries.last().unwrap();
        assert_eq!(last.id(), entry);
        log.append(last, 1, true).unwrap();
        assert!(log.into_inner().unwrap().ends_with(&hex(bytes)), "{entry}");
    }
}

#[test]
fn sizes_have_the_fewest_bytes() {
    let cases = [
        (0, "00 01 00 01"),
        (255, "00 01 ff 01"),
        (256, "04 01 00 01 01"),
        (65_535, "04 01 ff ff 01"),
        (65_536, "08 01 00 00 01 01"),
    ];
    for (size, header) in cases {
        let payload = vec![0xa5; size];
        let mut expected = hex(header);
        expected.extend(&payload);
        let mut out = Vec::new();
        Record { entry: 1, timestamp: 1, payload: &payload }.emit(&mut out);
        assert_eq!(out, expected);
        let mut log = Writer::new(Vec::new(), "").unwrap();
        let entry = log.start("a", raw, "", 0).unwrap();
        log.append(entry, 1, &payload).unwrap();
        let log = log.into_inner().unwrap();
        assert!(log.ends_with(&expected), "{size}");
        let last = Reader::new(&log).unwrap().last().unwrap().unwrap();
        assert_eq!((last.entry, last.timestamp, last.payload), (1, 1, &*payload));
    }
}

/// Ids 1 to 11 are the eleven standard types, in this order; each value is written at 1000 µs.
#[test]
fn values_of_every_standard_type_are_written_byte_for_byte() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let names: Vec<String> = (1..=11).map(|i| format!("/{i}")).collect();
    macro_rules! start {
        ($i:literal, $kind:expr) => {
            log.start(&names[$i - 1], $kind, "", 1).unwrap()
        };
    }
    let (a, b, c, d, e, f) =
        (start!(1, raw), start!(2, boolean), start!(3, int64), start!(4, float), start!(5, double), start!(6, string));
    let (g, h, i, j, k) = (
        start!(7, boolean_array),
        start!(8, int64_array),
        start!(9, float_array),
        start!(10, double_array),
        start!(11, string_array),
    );
    log.flush().unwrap();
    log.append(a, 1000, &[0, 1, 0xfe, 0xff]).unwrap();
    log.append(b, 1000, false).unwrap();
    log.append(b, 1000, true).unwrap();
    log.append(c, 1000, -2).unwrap();
    log.append(c, 1000, i64::MAX).unwrap();
    log.append(d, 1000, 1.5).unwrap();
    log.append(e, 1000, -0.1).unwrap();
    log.append(f, 1000, "héllo").unwrap();
    log.append(f, 1000, "").unwrap();
    log.append(g, 1000, &[true, false, false, true]).unwrap();
    log.append(h, 1000, &[1, -1]).unwrap();
    log.append(h, 1000, &[]).unwrap();
    log.append(i, 1000, &[1.5, -2.0]).unwrap();
    log.append(j, 1000, &[1.5, -2.0]).unwrap();
    log.append(k, 1000, &["a", "", "é"]).unwrap();
    log.append(k, 1000, &[]).unwrap();
    let log = log.into_inner().unwrap();

    let records = [
        (1, "10 01 04 e8 03 00 01 fe ff"),
        (2, "10 02 01 e8 03 00"),
        (2, "10 02 01 e8 03 01"),
        (3, "10 03 08 e8 03 fe ff ff ff ff ff ff ff"),
        (3, "10 03 08 e8 03 ff ff ff ff ff ff ff 7f"),
        (4, "10 04 04 e8 03 00 00 c0 3f"),
        (5, "10 05 08 e8 03 9a 99 99 99 99 99 b9 bf"),
        (6, "10 06 06 e8 03 68 c3 a9 6c 6c 6f"),
        (6, "10 06 00 e8 03"),
        (7, "10 07 04 e8 03 01 00 00 01"),
        (8, "10 08 10 e8 03 01 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff"),
        (8, "10 08 00 e8 03"),
        (9, "10 09 08 e8 03 00 00 c0 3f 00 00 00 c0"),
        (10, "10 0a 10 e8 03 00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 00 c0"),
        (11, "10 0b 13 e8 03 03 00 00 00 01 00 00 00 61 00 00 00 00 02 00 00 00 c3 a9"),
        (11, "10 0b 04 e8 03 00 00 00 00"),
    ];
    let mut expected = Vec::new();
    records.iter().for_each(|(_, bytes)| expected.extend(hex(bytes)));
    assert!(log.ends_with(&expected));

    // The same out of the model: each payload is parsed as its type and encoded again.
    let types = [
        "raw",
        "boolean",
        "int64",
        "float",
        "double",
        "string",
        "boolean[]",
        "int64[]",
        "float[]",
        "double[]",
        "string[]",
    ];
    let (mut encoder, mut out) = (encoder(""), Vec::new());
    for (id, type_name) in types.iter().enumerate() {
        encoder.channel(ChannelId::try_from(id).unwrap(), &Channel::new(&*names[id], *type_name), &mut out).unwrap();
    }
    let mut again: Vec<u8> = Vec::new();
    for (entry, bytes) in records {
        let bytes = hex(bytes);
        let record = Record::parse(&mut Cursor::new(&bytes, 0)).unwrap();
        assert_eq!(record.entry, entry);
        let value = Value::parse(Type::of(types[entry as usize - 1]), record.payload, Layout::Little).unwrap();
        out.clear();
        encoder.samples(&[Sample { channel: entry - 1, time: Time::from_micros(1000), value }], &mut out).unwrap();
        assert!(out.ends_with(&bytes), "{out:02x?}");
        again.extend(&out);
    }
    // Started at their first values, which is later than the writer above did it, so only the lengths agree.
    assert_eq!(again.len(), log.len() - FIXED_HEADER + 11, "a Start at 1000 µs has one byte more than one at 1 µs");
}

#[test]
fn bytes_of_a_boolean_array_are_kept() {
    let log = Build::new().start(7, "/7", "boolean[]", "", 1).raw(&hex("10 07 03 e8 03 01 00 05")).0;
    let written = crate::support::rewritten(&log);
    assert!(written.ends_with(&hex("10 01 03 e8 03 01 00 05")));
}

#[test]
fn schemas_are_entries_like_any_other() {
    let mut expected = hex(
        "00 00 3a 05 00 01 00 00 00 1d 00 00 00 2f 2e 73 63 68 65 6d 61 2f 73 74 72 75 63 74 3a 54 72 61 6e 73 6c 61 74 69 6f 6e 32 64 \
         0c 00 00 00 73 74 72 75 63 74 73 63 68 65 6d 61 00 00 00 00 00 01 11 05",
    );
    expected.extend(b"double x;double y");
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let schema = log.start("/.schema/struct:Translation2d", Opaque("structschema".into()), "", 5).unwrap();
    log.append(schema, 5, b"double x;double y").unwrap();
    assert_eq!(log.into_inner().unwrap()[FIXED_HEADER..], expected);
}

#[test]
fn the_lifecycle_of_an_entry_is_written_byte_for_byte() {
    let mut log = Writer::new(Vec::new(), "").unwrap();
    let a = log.start("a", double, "", 10).unwrap();
    assert_eq!(a.id(), 1);
    log.flush().unwrap();
    let again = log.start("a", double, "", 11).unwrap();
    assert_eq!(again.id(), 1);
    assert!(log.start("a", string, "", 12).is_err(), "a live name has one type");
    let b = log.start("b", double, "", 13).unwrap();
    assert_eq!(b.id(), 2);
    log.append(a, 14, 1.0).unwrap();
    // WPILib counts Start calls and writes Finish at the last of as many Finish calls; here the first one counts.
    for time in [17, 18, 19] {
        log.finish(a, time).unwrap();
    }
    let a = log.start("a", string, "", 19).unwrap();
    assert_eq!(a.id(), 1, "a name keeps its id");
    let log = log.into_inner().unwrap();
    let expected = [
        "00 00 18 0a 00 01 00 00 00 01 00 00 00 61 06 00 00 00 64 6f 75 62 6c 65 00 00 00 00",
        "00 00 18 0d 00 02 00 00 00 01 00 00 00 62 06 00 00 00 64 6f 75 62 6c 65 00 00 00 00",
        "00 01 08 0e 00 00 00 00 00 00 f0 3f",
        "00 00 05 11 01 01 00 00 00",
        "00 00 18 13 00 01 00 00 00 01 00 00 00 61 06 00 00 00 73 74 72 69 6e 67 00 00 00 00",
    ];
    assert_eq!(log[FIXED_HEADER..], hex(&expected.join(" ")));
}

#[test]
fn records_that_only_readers_meet_are_read() {
    let wide = "01 00 00 00 08 00 00 00 40 42 0f 00 00 00 00 00 03 00 00 00 00 00 00 00";
    for first in ["7f", "ff"] {
        let bytes = hex(&format!("{first} {wide}"));
        let record = Record::parse(&mut Cursor::new(&bytes, 0)).unwrap();
        assert_eq!((record.entry, record.timestamp, record.payload), (1, 1_000_000, &3_i64.to_le_bytes()[..]));
    }
    check("00 00 00 00", 0, 0, &[]);
    check("00 00 06 01 01 01 00 00 00 00", 0, 1, &hex("01 01 00 00 00 00"));
    assert_eq!(Control::parse(&hex("01 01 00 00 00 00")), Control::Unknown { bytes: &hex("01 01 00 00 00 00") });

    let log = Build::new()
        .start(1, "x", "int64", "", 1)
        .raw(&hex(&format!("7f {wide} ff {wide} 00 00 06 01 01 01 00 00 00 00")))
        .int(1, 5, 6);
    let (index, problems) = index(&log.0);
    assert_eq!(problems, [("unknown-control", log.at() - 12 - 10)]);
    let values: Vec<(i64, Vec<u8>)> = replay(&log.0, &index).series().into_values().flatten().collect();
    let three = (1_000_000_000, 3_i64.to_le_bytes().to_vec());
    assert_eq!(values, [three.clone(), three, (5000, 6_i64.to_le_bytes().to_vec())]);
}

fn encoder(extra: &str) -> Box<dyn Encode> {
    Wpilog.encoder(&EncodeOptions { extra_header: Some(extra.into()), ..EncodeOptions::default() }).unwrap()
}

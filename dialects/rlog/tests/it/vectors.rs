//! The test vectors of the specification, byte for byte, read and written.

use logpose_core::{Layout, Time, Type, Value};
use logpose_rlog::{Options, Reader, Revision, Writer};
use logpose_testkit::hex;

use crate::kit::{index, replayed};

/// Section 10: R2, cycles at 1.0, 1.02 and 1.04 s. Keys 7, 9 and 10 are not in the vector ("selected messages").
const R2: &str = "
02
00 3f f0 00 00 00 00 00 00
01 00 00 00 02 2f 41 00 07 62 6f 6f 6c 65 61 6e
02 00 00 00 01 01
01 00 01 00 02 2f 42 00 05 69 6e 74 36 34
02 00 01 00 08 ff ff ff ff ff ff ff fe
01 00 02 00 02 2f 43 00 05 66 6c 6f 61 74
02 00 02 00 04 3f c0 00 00
01 00 03 00 02 2f 44 00 06 64 6f 75 62 6c 65
02 00 03 00 08 bf b9 99 99 99 99 99 9a
01 00 04 00 02 2f 45 00 06 73 74 72 69 6e 67
02 00 04 00 03 68 c3 a9
01 00 05 00 02 2f 46 00 03 72 61 77
02 00 05 00 02 01 02
00 3f f0 51 eb 85 1e b8 52
02 00 01 00 08 00 00 00 00 00 00 00 05
01 00 06 00 02 2f 47 00 08 73 74 72 69 6e 67 5b 5d
02 00 06 00 13 00 00 00 03 00 00 00 01 61 00 00 00 00 00 00 00 02 c3 a9
01 00 08 00 02 2f 49 00 07 69 6e 74 36 34 5b 5d
02 00 08 00 10 00 00 00 00 00 00 00 01 ff ff ff ff ff ff ff ff
01 00 0b 00 11 2f 2e 73 63 68 65 6d 61 2f 73 74 72 75 63 74 3a 54 00 0c 73 74 72 75 63 74 73 63 68 65 6d 61
02 00 0b 00 08 64 6f 75 62 6c 65 20 78
01 00 0c 00 02 2f 4c 00 08 73 74 72 75 63 74 3a 54
02 00 0c 00 08 00 00 00 00 00 00 f8 3f
00 3f f0 a3 d7 0a 3d 70 a4";

const R1: &str = "
01
00 3f f0 00 00 00 00 00 00
01 00 00 00 02 2f 41      02 00 00 01 01
01 00 01 00 02 2f 42      02 00 01 03 ff ff ff fe
01 00 02 00 02 2f 43      02 00 02 05 3f f8 00 00 00 00 00 00
01 00 03 00 02 2f 44      02 00 03 05 bf b9 99 99 99 99 99 9a
01 00 04 00 02 2f 45      02 00 04 07 00 03 68 c3 a9
01 00 05 00 02 2f 46      02 00 05 0a 00 02 01 02
00 3f f0 51 eb 85 1e b8 52
02 00 01 03 00 00 00 05
01 00 06 00 02 2f 47      02 00 06 08 00 03 00 01 61 00 00 00 02 c3 a9
01 00 07 00 02 2f 48      02 00 07 06 00 01 3f f8 00 00 00 00 00 00
01 00 08 00 02 2f 49      02 00 08 04 00 02 00 00 00 01 ff ff ff ff
01 00 09 00 02 2f 4a      02 00 09 02 00 02 01 00";

fn strings() -> Value<'static> {
    Value::parse(Type::StringArray, b"\0\0\0\x03\0\0\0\x01a\0\0\0\0\0\0\0\x02\xc3\xa9", Layout::Big).unwrap()
}

const INTS: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255];

fn first_cycle(log: &mut Writer) {
    log.cycle(Time::from_micros(1_000_000));
    let values = [
        ("/A", "boolean", Value::Boolean(true)),
        ("/B", "int64", Value::Int64(-2)),
        ("/C", "float", Value::Float(1.5)),
        ("/D", "double", Value::Double(-0.1)),
        ("/E", "string", Value::String("hé".as_bytes())),
        ("/F", "raw", Value::Bytes(&[1, 2])),
    ];
    for (name, ty, value) in values {
        let key = log.key(name, ty);
        log.put(key, &value).unwrap();
    }
}

#[test]
fn r2_reads_and_emits_the_vector() {
    let bytes = hex(R2);
    let mut out = vec![2];
    Reader::new(&bytes).unwrap().for_each(|message| message.unwrap().emit(&mut out));
    assert_eq!(out, bytes);
    let (found, problems) = index(&bytes);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((found.samples(), found.records, found.fact("cycles")), (11, 24, Some("3")));
    let lines = replayed(&bytes, &found).lines;
    assert_eq!(lines[1], "1.000 /B int64 Int64 [fe, ff, ff, ff, ff, ff, ff, ff]");
    assert_eq!(lines[6], "1.020 /B int64 Int64 [05, 00, 00, 00, 00, 00, 00, 00]");
    assert_eq!(
        lines[7],
        "1.020 /G string[] StringArray [03, 00, 00, 00, 01, 00, 00, 00, 61, 00, 00, 00, 00, 02, 00, 00, 00, c3, a9]"
    );
    assert_eq!(lines[10], "1.020 /L struct:T Bytes [00, 00, 00, 00, 00, 00, f8, 3f]");
}

#[test]
fn r2_is_written_like_the_vector() {
    let bytes = hex(R2);
    let mut log = Writer::new(Options::default());
    first_cycle(&mut log);
    let first = log.bytes().len();
    assert_eq!(log.bytes(), &bytes[..first]);

    log.cycle(Time::from_micros(1_020_000));
    let b = log.key("/B", "int64");
    log.put(b, &Value::Int64(5)).unwrap();
    let g = log.key("/G", "string[]");
    log.put(g, &strings()).unwrap();
    let second = log.bytes().len();
    assert_eq!(log.bytes(), &bytes[..second]);
    let values = [
        ("/I", "int64[]", Value::parse(Type::Int64Array, INTS, Layout::Big).unwrap()),
        ("/.schema/struct:T", "structschema", Value::String(b"double x")),
        ("/L", "struct:T", Value::Bytes(&[0, 0, 0, 0, 0, 0, 0xf8, 0x3f])),
    ];
    for (name, ty, value) in values {
        let key = log.key(name, ty);
        log.put(key, &value).unwrap();
    }
    // Here the ids go on from 7, in the vector they are 8, 11 and 12.
    let renumbered = |mut bytes: Vec<u8>, ids: [u8; 3]| {
        for (start, id) in [0, 16 + 21, 16 + 21 + 36 + 13].into_iter().zip(ids) {
            bytes[start + 2] = id;
        }
        for (start, id) in [16, 16 + 21 + 36, 16 + 21 + 36 + 13 + 17].into_iter().zip(ids) {
            bytes[start + 2] = id;
        }
        bytes
    };
    let end = bytes.len() - 9;
    assert_eq!(log.bytes()[second..], renumbered(bytes[second..end].to_vec(), [7, 8, 9]));
    let mut log = Writer::new(Options::default());
    log.cycle(Time::from_micros(1_040_000));
    assert_eq!(log.bytes()[1..], hex("00 3f f0 a3 d7 0a 3d 70 a4"));
}

#[test]
fn r1_reads_and_emits_the_vector() {
    let bytes = hex(R1);
    let mut out = vec![1];
    Reader::new(&bytes).unwrap().for_each(|message| message.unwrap().emit(&mut out));
    assert_eq!(out, bytes);
    let (found, problems) = index(&bytes);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(found.samples(), 11);
    let lines = replayed(&bytes, &found).lines;
    assert_eq!(lines[2], "1.000 /C double Double [00, 00, 00, 00, 00, 00, f8, 3f]");
    assert_eq!(
        lines[9],
        "1.020 /I int64[] Int64Array [01, 00, 00, 00, 00, 00, 00, 00, ff, ff, ff, ff, ff, ff, ff, ff]"
    );
}

#[test]
fn r1_is_written_like_the_vector() {
    let mut log = Writer::new(Options { revision: Revision::R1, ..Options::default() });
    let names =
        [("/A", "boolean"), ("/B", "int64"), ("/C", "float"), ("/D", "double"), ("/E", "string"), ("/F", "struct:T")];
    let keys: Vec<_> = names.map(|(name, ty)| log.key(name, ty)).into();
    let first = [
        Value::Boolean(true),
        Value::Int64(-2),
        Value::Float(1.5),
        Value::Double(-0.1),
        Value::String("hé".as_bytes()),
        Value::Bytes(&[1, 2]),
    ];
    log.cycle(Time::from_micros(1_000_000));
    keys.iter().zip(&first).for_each(|(key, value)| log.put(*key, value).unwrap());
    log.cycle(Time::from_micros(1_020_000));
    log.put(keys[1], &Value::Int64(5)).unwrap();
    let float = 1.5_f32.to_be_bytes();
    let second = [
        ("/G", "string[]", strings()),
        ("/H", "float[]", Value::parse(Type::FloatArray, &float, Layout::Big).unwrap()),
        ("/I", "int64[]", Value::parse(Type::Int64Array, INTS, Layout::Big).unwrap()),
        ("/J", "boolean[]", Value::BooleanArray(&[1, 0])),
    ];
    for (name, ty, value) in second {
        let key = log.key(name, ty);
        log.put(key, &value).unwrap();
    }
    assert_eq!(log.bytes(), hex(R1));
}

#[test]
fn null_by_hand() {
    let bytes = hex(
        "01 00 3f f0 00 00 00 00 00 00 01 00 00 00 02 2f 41 02 00 00 05 3f f8 00 00 00 00 00 00 00 40 00 00 00 00 00 00 00 02 00 00 00",
    );
    let (found, _) = index(&bytes);
    assert_eq!(
        replayed(&bytes, &found).lines,
        ["1.000 /A double Double [00, 00, 00, 00, 00, 00, f8, 3f]", "2.000 /A double ends"]
    );
    let mut log = Writer::new(Options { revision: Revision::R1, ..Options::default() });
    let key = log.key("/A", "double");
    log.cycle(Time::from_millis(1000));
    log.put(key, &Value::Double(1.5)).unwrap();
    log.cycle(Time::from_millis(2000));
    assert!(log.remove(key));
    assert_eq!(log.bytes(), bytes);
}

#[test]
fn the_start_of_a_real_r1_file() {
    let mut bytes = hex("01 00 3f ed 85 fa eb c4 08 d9 01 00 00 00 1d 2f 44 72 69 76 65 72 53 74 61 74 69 6f 6e");
    let complete = bytes.len() + 0x1d - 14;
    bytes.resize(complete, b'x');
    let messages: Vec<_> = Reader::new(&bytes).unwrap().map(|message| message.unwrap().to_string()).collect();
    assert_eq!(messages, ["timestamp 0.922605 s", "key 0 \"/DriverStationxxxxxxxxxxxxxxx\""]);
}

//! Written then read is the same, for one of each and for generated ones.

use logpose_core::{Channel, Cursor, Encode, EncodeError, FileDialect, Layout, Lookup, Row, Sample, Time, Type, Value};
use logpose_rlog::{Encoder, Kind, Message, Options, Revision, Rlog, Writer, fuzzing, seconds_of, time_of};
use proptest::prelude::*;

use logpose_testkit::{Show as _, Typed};

use crate::kit::{Lines, column_lines, decoded, drive, every_type, index, replayed};

#[test]
fn one_of_each_message_comes_back() {
    let r1 = Kind::ALL.into_iter().map(|kind| {
        let value: &[u8] = match kind {
            Kind::Null => &[],
            Kind::Boolean | Kind::Byte => &[1],
            Kind::Integer => &[1, 2, 3, 4],
            Kind::Double => &[1, 2, 3, 4, 5, 6, 7, 8],
            Kind::BooleanArray | Kind::String | Kind::ByteArray => b"\0\x03abc",
            Kind::IntegerArray => &[0, 1, 1, 2, 3, 4],
            Kind::DoubleArray => &[0, 1, 1, 2, 3, 4, 5, 6, 7, 8],
            Kind::StringArray => b"\0\x02\0\x01a\0\0",
        };
        (Revision::R1, Message::Field { key: 0x1234, kind: Some(kind), value })
    });
    let others = [
        (Revision::R1, Message::Timestamp { seconds: 1.02 }),
        (Revision::R2, Message::Timestamp { seconds: -0.5 }),
        (Revision::R1, Message::Key { id: 65535, name: b"/A", type_name: None }),
        (Revision::R2, Message::Key { id: 0, name: b"", type_name: Some(b"double") }),
        (Revision::R2, Message::Field { key: 7, kind: None, value: &[0; 300] }),
    ];
    for (revision, message) in r1.chain(others) {
        let mut bytes = Vec::new();
        message.emit(&mut bytes);
        let mut cur = Cursor::new(&bytes, 0);
        assert_eq!(Message::parse(revision, &mut cur).unwrap(), message);
        assert!(cur.is_empty());
        for cut in 0..bytes.len() {
            assert!(Message::parse(revision, &mut Cursor::new(&bytes[..cut], 0)).unwrap_err().is_truncation());
        }
        assert!(!message.to_string().contains('\n'));
    }
}

#[test]
fn pushed_byte_by_byte_equals_read_at_once() {
    for revision in [Revision::R1, Revision::R2] {
        for log in [every_type(revision), drive(revision, 200)] {
            let (found, _) = index(&log);
            let replay = replayed(&log, &found);
            for step in [1, 2, 13, 1000, log.len()] {
                assert_eq!(decoded(&log, step).lines, replay.lines, "{step}");
            }
            fuzzing::roundtrip(&log);
        }
    }
}

#[test]
fn samples_times_and_gathered_columns_agree_with_the_columns() {
    for revision in [Revision::R1, Revision::R2] {
        let log = drive(revision, 300);
        let (found, _) = index(&log);
        let ids: Vec<u32> = (0..found.channels.len() as u32).collect();
        let columns = logpose_testkit::columns(&Rlog, &log);
        let gathered = Rlog.gather(&log, &found, &ids, |_| {}).unwrap();
        assert_eq!(column_lines(&columns), column_lines(&gathered));
        // Times of places in any order.
        let mut places: Vec<u64> = found.channels.iter().flat_map(|c| c.positions.iter()).collect();
        let half = places.len() / 2;
        places.rotate_left(half);
        let mut times = Vec::new();
        Rlog.times(&log, &found, &places, &mut times).unwrap();
        assert_eq!(times, places.iter().map(|at| found.marked_time(*at)).collect::<Vec<_>>());
        let mut samples = 0;
        let row = Row { time: times[0], at: places[0], channel: 0 };
        let take = &mut |found: &[Sample<'_>]| {
            samples += found.len();
            Ok(())
        };
        Rlog.samples(&log, &found, &[row], take).unwrap();
        assert_eq!(samples, 1);
    }
}

#[test]
fn replay_gives_only_what_is_asked_for() {
    let log = drive(Revision::R2, 100);
    let (found, _) = index(&log);
    let wanted = found.channels.iter().position(|c| c.channel.name == "/Count").unwrap();
    let mut channels = vec![false; found.channels.len()];
    channels[wanted] = true;
    let (start, end) = (found.marks[10].time, found.marks[19].time);
    let mut lines = Lines::default();
    Rlog.replay(
        &log,
        &found,
        &Lookup { channels, start: Some(start), end: Some(end), ..Lookup::default() },
        &mut lines,
    )
    .unwrap();
    assert_eq!((lines.samples, lines.channels.len()), (10, 1));
    assert!(lines.lines[0].starts_with(&format!("{start} /Count int64")));
}

fn refused(revision: Revision, long_values: bool, ty: &str, value: &Value<'_>) -> Result<usize, EncodeError> {
    let mut log = Writer::new(Options { revision, long_values });
    let key = log.key("/Long", ty);
    log.cycle(Time::ZERO);
    let before = log.bytes().len();
    let result = log.put(key, value);
    if result.is_err() {
        assert_eq!(log.bytes().len(), before, "nothing of it was written");
    }
    result.map(|()| log.bytes().len())
}

#[test]
fn lengths_that_cannot_be_said_are_refused_by_name() {
    let bytes = vec![7; 70_000];
    for revision in [Revision::R1, Revision::R2] {
        let put = |n: usize, long| refused(revision, long, "raw", &Value::Bytes(&bytes[..n]));
        assert!(put(32_767, false).is_ok());
        let error = put(32_768, false).unwrap_err();
        assert_eq!(error.channel, "/Long");
        assert!(error.message.contains("AdvantageScope"), "{error}");
        assert!(put(65_535, true).is_ok());
        assert!(put(65_536, true).unwrap_err().message.contains("65535"));
    }
    let doubles = Value::parse(Type::DoubleArray, &bytes[..40_000], Layout::Big).unwrap();
    assert!(refused(Revision::R1, false, "double[]", &doubles).is_ok(), "5000 elements");
    assert!(refused(Revision::R2, false, "double[]", &doubles).is_err(), "40000 bytes");
}

#[test]
fn r1_refuses_integers_of_more_than_32_bits() {
    let error = refused(Revision::R1, false, "int64", &Value::Int64(1 << 31)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rlog: channel \"/Long\": 2147483648 does not fit in the 32-bit integers of R1; use R2"
    );
    assert!(refused(Revision::R1, false, "int64", &Value::Int64(i32::MIN.into())).is_ok());
    let bytes = (1_i64 << 40).to_be_bytes();
    assert!(
        refused(Revision::R1, false, "int64[]", &Value::parse(Type::Int64Array, &bytes, Layout::Big).unwrap()).is_err()
    );
    assert!(refused(Revision::R2, false, "int64", &Value::Int64(i64::MIN)).is_ok());
}

#[test]
fn a_value_of_another_type_is_refused() {
    assert!(refused(Revision::R2, false, "double", &Value::Int64(1)).is_err());
    assert!(refused(Revision::R2, false, "struct:T", &Value::Bytes(&[1])).is_ok());
}

#[test]
fn more_keys_than_ids_are_refused() {
    let mut log = Writer::new(Options::default());
    for i in 0..65_536 {
        let key = log.key(&format!("/{i}"), "boolean");
        log.put(key, &Value::Boolean(true)).unwrap();
    }
    let key = log.key("/one too many", "boolean");
    let error = log.put(key, &Value::Boolean(true)).unwrap_err();
    assert_eq!(error.channel, "/one too many");
    let (found, _) = index(log.bytes());
    assert_eq!(found.samples(), 65_536);
}

#[derive(Clone, Debug)]
enum Any {
    Boolean(bool),
    Int(i32),
    Double(f64),
    Text(String),
    Raw(Vec<u8>),
    Doubles(Vec<f64>),
    Booleans(Vec<bool>),
    Texts(Vec<String>),
    Null,
}

fn any_value() -> impl Strategy<Value = Any> {
    prop_oneof![
        any::<bool>().prop_map(Any::Boolean),
        any::<i32>().prop_map(Any::Int),
        any::<f64>().prop_map(Any::Double),
        ".{0,20}".prop_map(Any::Text),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Any::Raw),
        proptest::collection::vec(any::<f64>(), 0..5).prop_map(Any::Doubles),
        proptest::collection::vec(any::<bool>(), 0..5).prop_map(Any::Booleans),
        proptest::collection::vec(".{0,8}", 0..4).prop_map(Any::Texts),
        Just(Any::Null),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_logs_come_back(r1: bool, fields in proptest::collection::vec((0_i64..3, 0_u8..6, any_value()), 0..60)) {
        let revision = if r1 { Revision::R1 } else { Revision::R2 };
        let mut log = Writer::new(Options { revision, ..Options::default() });
        let mut expected = Vec::new();
        let (mut time, mut begun) = (Time::from_micros(1), false);
        let mut live = std::collections::HashSet::new();
        for (step, name, value) in fields {
            if step > 0 || !begun {
                time = time.plus(step * 20_000_000);
                log.cycle(time);
                begun = true;
            }
            let name = format!("/{name}");
            let mut bytes = Vec::new();
            let (ty, value) = match &value {
                Any::Boolean(b) => ("boolean", Value::Boolean(*b)),
                Any::Int(x) => ("int64", Value::Int64((*x).into())),
                Any::Double(x) => ("double", Value::Double(*x)),
                Any::Text(text) => ("string", Value::String(text.as_bytes())),
                Any::Raw(raw) => ("raw", Value::Bytes(raw)),
                Any::Doubles(all) => {
                    all.iter().for_each(|x| bytes.extend_from_slice(&x.to_be_bytes()));
                    ("double[]", Value::parse(Type::DoubleArray, &bytes, Layout::Big).unwrap())
                }
                Any::Booleans(all) => {
                    bytes.extend(all.iter().map(|b| u8::from(*b)));
                    ("boolean[]", Value::BooleanArray(&bytes))
                }
                Any::Texts(all) => {
                    bytes.extend_from_slice(&(all.len() as u32).to_be_bytes());
                    all.iter().for_each(|text| {
                        bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
                        bytes.extend_from_slice(text.as_bytes());
                    });
                    ("string[]", Value::parse(Type::StringArray, &bytes, Layout::Big).unwrap())
                }
                Any::Null => {
                    let key = log.key(&name, "double");
                    if log.remove(key) {
                        // A null ends every series of the name that has had a value.
                        live.retain(|(live, _): &(String, String)| *live != name);
                    }
                    continue;
                }
            };
            let key = log.key(&name, ty);
            log.put(key, &value).unwrap();
            live.insert((name.clone(), ty.to_owned()));
            expected.push(format!("{time} {name} {ty} {}", Typed::show(&value)));
        }
        let log = log.into_bytes();
        let (found, _) = index(&log);
        let samples: Vec<String> = replayed(&log, &found).lines.into_iter().filter(|line| !line.ends_with("ends")).collect();
        prop_assert_eq!(&samples, &expected);
        fuzzing::decode(&log);
        fuzzing::recover(&log);
        fuzzing::roundtrip(&log);
    }

    #[test]
    fn any_bytes_are_no_panic(start in prop_oneof![Just(vec![1_u8, 0]), Just(vec![2_u8, 0]), Just(vec![])], bytes in proptest::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..300)) {
        let bytes = [start, bytes].concat();
        fuzzing::decode(&bytes);
        fuzzing::recover(&bytes);
        fuzzing::roundtrip(&bytes);
        fuzzing::session(&bytes);
    }

    #[test]
    fn times_come_back(us in -1_000_000_000_000_i64..1_000_000_000_000_000, ns in 0_i64..1_000_000_000_000) {
        for time in [Time::from_micros(us), Time::from_nanos(ns)] {
            prop_assert_eq!(time_of(seconds_of(time)), Some(time));
        }
    }
}

#[test]
fn a_refused_sample_is_named_and_leaves_no_trace() {
    let long = vec![7; 40_000];
    let at = |channel, ms, value| Sample { channel, time: Time::from_millis(ms), value };
    let good = [at(0, 20, Value::Int64(1)), at(1, 20, Value::Bytes(b"7")), at(0, 40, Value::Int64(2))];
    // Of another type, too long, of a channel that nobody declared, and at times that no good sample has.
    let bad = [at(0, 10, Value::Boolean(true)), at(1, 30, Value::Bytes(&long)), at(9, 50, Value::Int64(3))];
    for revision in [Revision::R1, Revision::R2] {
        let encoder = || {
            let mut encoder = Encoder::new(Options { revision, long_values: false });
            let mut out = Vec::new();
            encoder.begin(&mut out);
            encoder.channel(0, &Channel::new("/Count", "int64"), &mut out).unwrap();
            encoder.channel(1, &Channel::new("/Bytes", "raw"), &mut out).unwrap();
            (encoder, out)
        };
        let (mut one, mut expected) = encoder();
        good.iter().for_each(|sample| one.samples(&[*sample], &mut expected).unwrap());
        let problems = one.finish(&mut expected);
        for place in 0..=good.len() {
            for bad in bad {
                let mut batch = good.to_vec();
                batch.insert(place, bad);
                let (mut encoder, mut out) = encoder();
                assert_eq!(encoder.samples(&batch, &mut out).unwrap_err().sample, Some(place));
                encoder.samples(&batch[place + 1..], &mut out).unwrap();
                assert_eq!((encoder.finish(&mut out), &out), (problems.clone(), &expected));
            }
        }
    }
}

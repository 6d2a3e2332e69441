//! What several tests need: every way to read, sample logs.

use logpose_core::{Index, Problems, Time, Value};
use logpose_rlog::{Options, Revision, Rlog, Writer};
pub(crate) use logpose_testkit::{codes, column_lines, index_lines};

/// The received samples, one line each: time, name, type, and the exact value.
pub(crate) type Lines = logpose_testkit::Lines<logpose_testkit::Typed>;

pub(crate) fn index(log: &[u8]) -> (Index, Problems) {
    logpose_testkit::index(&Rlog, log)
}

pub(crate) fn salvaged(log: &[u8]) -> (Index, Problems) {
    logpose_testkit::salvaged(&Rlog, log)
}

pub(crate) fn replayed(log: &[u8], index: &Index) -> Lines {
    logpose_testkit::replayed(&Rlog, log, index)
}

pub(crate) fn decoded(log: &[u8], step: usize) -> Lines {
    let (lines, end) = logpose_testkit::streamed(&Rlog, log, step);
    end.expect("a whole log");
    lines
}

/// A value of every type, twice, and what R1 and R2 have of their own.
pub(crate) fn every_type(revision: Revision) -> Vec<u8> {
    let mut log = Writer::new(Options { revision, ..Options::default() });
    let bytes_of = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let doubles = bytes_of(&[1.5, -0.0, f64::INFINITY]);
    let ints: Vec<u8> = [1_i64, -1].iter().flat_map(|x| x.to_le_bytes()).collect();
    let floats: Vec<u8> = [0.5_f32, 3.25].iter().flat_map(|x| x.to_le_bytes()).collect();
    let texts = b"\x03\0\0\0\x01\0\0\0a\0\0\0\0\x02\0\0\0\xc3\xa9";
    let parse = |name, bytes, layout| Value::parse(logpose_core::Type::of(name), bytes, layout).expect("a value");
    use logpose_core::Layout::{Big, Little};
    let values = [
        ("/Boolean", "boolean", Value::Boolean(true)),
        ("/Int", "int64", Value::Int64(-2)),
        ("/Float", "float", Value::Float(1.5)),
        ("/Double", "double", Value::Double(-0.1)),
        ("/String", "string", Value::String("hé".as_bytes())),
        ("/Raw", "raw", Value::Bytes(&[1, 2])),
        ("/Booleans", "boolean[]", Value::BooleanArray(&[1, 0])),
        ("/Ints", "int64[]", parse("int64[]", &ints, Little)),
        ("/Floats", "float[]", parse("float[]", &floats, Little)),
        ("/Doubles", "double[]", parse("double[]", &doubles, Big)),
        ("/Strings", "string[]", parse("string[]", texts, Little)),
        ("/.schema/struct:T", "structschema", Value::String(b"double x")),
        ("/Struct", "struct:T", Value::Bytes(&[0, 0, 0, 0, 0, 0, 0xf8, 0x3f])),
    ];
    let keys: Vec<_> = values.iter().map(|(name, ty, _)| log.key(name, ty)).collect();
    for ms in [1000, 1020] {
        log.cycle(Time::from_millis(ms));
        for (key, (.., value)) in keys.iter().zip(&values) {
            log.put(*key, value).expect("a value that can be said");
        }
    }
    log.cycle(Time::from_millis(1040));
    if revision == Revision::R1 {
        assert!(log.remove(keys[3]));
        log.cycle(Time::from_millis(1060));
        log.put(keys[3], &Value::Double(7.0)).expect("a double");
    }
    log.into_bytes()
}

/// A log of `cycles` cycles with a few dozen keys of several types, some of which begin late.
pub(crate) fn drive(revision: Revision, cycles: i64) -> Vec<u8> {
    drive_with(revision, cycles, 30)
}

/// The same, small enough for a fixture.
pub(crate) fn small(revision: Revision) -> Vec<u8> {
    drive_with(revision, 8, 3)
}

fn drive_with(revision: Revision, cycles: i64, doubles: usize) -> Vec<u8> {
    let mut log = Writer::new(Options { revision, ..Options::default() });
    let doubles: Vec<_> = (0..doubles).map(|i| log.key(&format!("/Drive/Module{i}/Position"), "double")).collect();
    let mode = log.key("/Mode", "string");
    let ints = log.key("/Count", "int64");
    let list = log.key("/List", "double[]");
    let enabled = log.key("/Enabled", "boolean");
    let names = log.key("/Names", "string[]");
    let mut elements = Vec::new();
    for cycle in 0..cycles {
        log.cycle(Time::from_micros(250_000 + cycle * 20_003));
        for (i, key) in doubles.iter().enumerate() {
            if i != 2 || cycle > cycles / 2 {
                log.put(*key, &Value::Double((cycle * 31 + i as i64) as f64 / 7.0)).unwrap();
            }
        }
        log.put(ints, &Value::Int64(cycle)).unwrap();
        if cycle % 5 == 0 {
            elements.clear();
            (0..cycle % 9).for_each(|i| elements.extend_from_slice(&(i as f64).to_be_bytes()));
            log.put(
                list,
                &Value::parse(logpose_core::Type::DoubleArray, &elements, logpose_core::Layout::Big).unwrap(),
            )
            .unwrap();
            log.put(enabled, &Value::Boolean(cycle % 2 == 0)).unwrap();
        }
        if cycle % 50 == 0 {
            log.put(mode, &Value::String(format!("mode {cycle}").as_bytes())).unwrap();
            let texts = b"\0\0\0\x02\0\0\0\x01a\0\0\0\x03bcd";
            log.put(names, &Value::parse(logpose_core::Type::StringArray, texts, logpose_core::Layout::Big).unwrap())
                .unwrap();
        }
        if revision == Revision::R1 && cycle % 97 == 96 {
            log.remove(enabled);
        }
    }
    log.into_bytes()
}

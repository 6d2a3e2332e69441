//! Every file in `fixtures/rlog/valid` equals its dump.

use logpose_core::{Channel, EncodeOptions, FileDialect, Sample, Time, Value};
use logpose_rlog::{Options, Revision, Rlog, Writer};
use logpose_testkit::Fixtures;

use crate::corrupt::CASES;
use crate::kit::{every_type, small};

pub(crate) const FIXTURES: Fixtures = Fixtures { folder: "rlog", make: all };

fn all() -> Vec<(String, Vec<u8>)> {
    let valid = valid().into_iter().map(|(name, log)| (format!("valid/{name}"), log));
    valid.chain(CASES.iter().map(|case| (format!("corrupt/{}", case.file), (case.make)()))).collect()
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("r1-every-type.rlog", every_type(Revision::R1)),
        ("r2-every-type.rlog", every_type(Revision::R2)),
        ("r1-drive.rlog", small(Revision::R1)),
        ("r2-drive.rlog", small(Revision::R2)),
        ("r1-type-change.rlog", type_change()),
        ("r1-repeated-revision.rlog", repeated_revision()),
        ("r2-nanoseconds.rlog", nanoseconds()),
        ("r2-newcomer-empty.rlog", b"\x02\0\0\0\0\0\0\0\0\0".to_vec()),
        ("r2-zero-timestamps.rlog", zero_timestamps()),
    ]
}

fn type_change() -> Vec<u8> {
    let mut log = Writer::new(Options { revision: Revision::R1, ..Options::default() });
    let int = log.key("/A", "int64");
    let double = log.key("/A", "double");
    for (ms, key, value) in [(20, int, Value::Int64(1)), (40, double, Value::Double(1.5)), (60, int, Value::Int64(2))] {
        log.cycle(Time::from_millis(ms));
        log.put(key, &value).unwrap();
    }
    log.into_bytes()
}

/// What a client of AdvantageKit 2.2.0 to 3.1.1 gets that was there before the first cycle, without the lengths.
fn repeated_revision() -> Vec<u8> {
    let mut log = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    log.extend_from_slice(&small(Revision::R1));
    log
}

fn nanoseconds() -> Vec<u8> {
    let mut log = Writer::new(Options::default());
    let key = log.key("RealOutputs/X", "double");
    for i in 0..4 {
        log.cycle(Time::from_nanos(220_195_677_811 + i * 20_000_001));
        log.put(key, &Value::Double(i as f64)).unwrap();
    }
    log.into_bytes()
}

fn zero_timestamps() -> Vec<u8> {
    let mut log = Writer::new(Options::default());
    let key = log.key("A", "int64");
    for i in 0..4 {
        log.cycle(Time::ZERO);
        log.put(key, &Value::Int64(i)).unwrap();
    }
    log.into_bytes()
}

#[test]
fn every_fixture_is_what_this_code_makes() {
    FIXTURES.check();
    FIXTURES.check_readme();
}

#[test]
fn every_valid_file_equals_its_dump() {
    FIXTURES.check_valid(&Rlog);
}

#[test]
fn a_dump_can_begin_in_the_middle() {
    FIXTURES.check_dumps_from_anywhere(&Rlog);
}

#[test]
fn the_encoder_of_the_seam_writes_what_the_writer_does() {
    for (byte, revision) in [(1, Revision::R1), (2, Revision::R2)] {
        let mut encoder = Rlog.encoder(&EncodeOptions { revision: Some(byte), ..EncodeOptions::default() }).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        assert!(encoder.needs_time_order());
        encoder.channel(0, &Channel { metadata: "m".into(), ..Channel::new("/A", "double") }, &mut out).unwrap();
        let samples =
            [20, 20, 40].map(|ms| Sample { channel: 0, time: Time::from_millis(ms), value: Value::Double(1.5) });
        encoder.samples(&samples, &mut out).unwrap();
        let problems = encoder.finish(&mut out);
        assert_eq!(problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["metadata-dropped"]);
        let mut log = Writer::new(Options { revision, ..Options::default() });
        let key = log.key("/A", "double");
        log.cycle(Time::from_millis(20));
        log.put(key, &Value::Double(1.5)).unwrap();
        log.put(key, &Value::Double(1.5)).unwrap();
        log.cycle(Time::from_millis(40));
        log.put(key, &Value::Double(1.5)).unwrap();
        assert_eq!(out, log.bytes());
    }
    assert!(Rlog.encoder(&EncodeOptions { revision: Some(3), ..EncodeOptions::default() }).is_none());
}

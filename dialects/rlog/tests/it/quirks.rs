//! One test for each oddity of real logs.

use logpose_core::{Confidence, FileDialect, Severity, Time, Value};
use logpose_rlog::{Options, Revision, Rlog, Writer};

use crate::kit::{codes, column_lines, decoded, drive, index, replayed, salvaged};

#[test]
fn advantagekit_2_2_to_3_1_repeats_the_revision_byte() {
    for revision in [Revision::R1, Revision::R2] {
        let log = drive(revision, 20);
        let mut twice = vec![revision.byte(), 0, 0, 0, 0, 0, 0, 0, 0, 0];
        twice.extend_from_slice(&log);
        let (found, problems) = index(&twice);
        assert_eq!(codes(&problems), ["repeated-revision"], "{problems:?}");
        let expected = replayed(&log, &index(&log).0).lines;
        assert_eq!(replayed(&twice, &found).lines, expected);
        assert_eq!(decoded(&twice, 1).lines, expected);
        let (found, _) = salvaged(&twice);
        assert_eq!(replayed(&twice, &found).lines, expected);
    }
}

#[test]
fn psikit_writes_cycles_without_a_clock() {
    let mut log = Writer::new(Options::default());
    let key = log.key("A", "int64");
    for i in 0..10 {
        log.cycle(Time::ZERO);
        log.put(key, &Value::Int64(i)).unwrap();
    }
    let (found, problems) = index(log.bytes());
    assert_eq!(found.samples(), 10);
    assert!(found.sorted);
    assert_eq!(codes(&problems), ["advantagescope-times"]);
    assert_eq!(problems.worst(), Some(Severity::Note));
    assert_eq!(salvaged(log.bytes()).0.samples(), 10);
}

#[test]
fn a_pause_or_a_step_back_is_noted_only() {
    let mut log = Writer::new(Options::default());
    let key = log.key("A", "double");
    for s in [1, 2, 100, 50, 51, 52, 53, 54, 55] {
        log.cycle(Time::from_millis(s * 1000));
        log.put(key, &Value::Double(0.0)).unwrap();
    }
    let (found, problems) = index(log.bytes());
    assert_eq!((found.samples(), found.sorted, found.channels[0].sorted), (9, false, false));
    assert_eq!(codes(&problems), ["advantagescope-times"]);
    assert!(problems.list()[0].message.starts_with("2 timestamps"));
    assert_eq!(salvaged(log.bytes()).0.samples(), 9, "recovery keeps it whole");
}

#[test]
fn lengths_that_advantagescope_cannot_read_are_noted() {
    for revision in [Revision::R1, Revision::R2] {
        let mut log = Writer::new(Options { revision, long_values: true });
        let key = log.key("A", "raw");
        log.put(key, &Value::Bytes(&[0; 40_000])).unwrap();
        let (found, problems) = index(log.bytes());
        assert_eq!(found.samples(), 1);
        assert_eq!(codes(&problems), ["advantagescope-lengths"]);
    }
}

#[test]
fn an_r1_key_may_change_its_type() {
    let mut log = Writer::new(Options { revision: Revision::R1, ..Options::default() });
    let keys = [log.key("/A", "int64"), log.key("/A", "double")];
    for i in 0..6_i32 {
        log.cycle(Time::from_millis(20 * i64::from(i)));
        let value = if i % 2 == 0 { Value::Int64(i.into()) } else { Value::Double(f64::from(i)) };
        log.put(keys[(i % 2) as usize], &value).unwrap();
    }
    let (found, problems) = index(log.bytes());
    assert!(problems.is_empty(), "{problems:?}");
    let types: Vec<_> = found.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name, c.samples)).collect();
    assert_eq!(types, [("/A", "int64", 3), ("/A", "double", 3)]);
    assert_eq!(found.fact("keys"), Some("1"));
}

#[test]
fn r1_bytes_and_byte_arrays_are_one_channel() {
    let log = b"\x01\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\x02\0\0\x09\x07\0\x40\0\0\0\0\0\0\0\x02\0\0\x0a\0\x02\x08\x09\0\x40\x08\0\0\0\0\0\0\x02\0\0\x09\x0a";
    let (found, _) = index(log);
    assert_eq!(found.channels.len(), 1);
    let expected = ["1.000 /A raw Bytes [07]", "2.000 /A raw Bytes [08, 09]", "3.000 /A raw Bytes [0a]"];
    assert_eq!(replayed(log, &found).lines, expected);
    let columns = logpose_testkit::columns(&Rlog, log);
    assert_eq!(column_lines(&columns)[1..], ["1.000 Bytes [07]", "2.000 Bytes [08, 09]", "3.000 Bytes [0a]"]);
}

#[test]
fn a_null_of_a_new_field_says_nothing() {
    let log = b"\x01\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\x02\0\0\0";
    let (found, problems) = index(log);
    assert_eq!((found.channels.len(), found.records), (0, 3));
    assert!(problems.is_empty());
    assert!(replayed(log, &found).lines.is_empty());
}

#[test]
fn a_key_defined_again_replaces_the_old_one() {
    let log = b"\x02\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\0\x07boolean\x02\0\0\0\x01\x01\x01\0\0\0\x02/B\0\x03raw\x02\0\0\0\x02ab";
    let (found, problems) = index(log);
    assert_eq!(codes(&problems), ["key-redefined"]);
    assert_eq!(replayed(log, &found).lines, ["1.000 /A boolean Boolean [01]", "1.000 /B raw Bytes [61, 62]"]);
    assert_eq!(decoded(log, 1).lines, replayed(log, &found).lines);
}

#[test]
fn a_field_before_its_key_is_dropped_and_counted() {
    let log = b"\x02\0\x3f\xf0\0\0\0\0\0\0\x02\0\x07\0\x01\x01\x02\0\x07\0\x01\0\x01\0\x07\0\x02/A\0\x07boolean\x02\0\x07\0\x01\x01";
    let (found, problems) = index(log);
    assert_eq!(found.samples(), 1);
    assert_eq!(problems.list()[0].to_string(), "byte 0xa: skipped 2 fields of key 7, which is not defined before them");
    let columns = logpose_testkit::columns(&Rlog, log);
    assert_eq!((columns.columns[0].samples(), codes(&problems)), (1, vec!["unknown-key"]));
    let lines = decoded(log, 3);
    assert_eq!((lines.samples, lines.problems[0].code), (1, "unknown-key"));
}

#[test]
fn a_timestamp_that_is_no_time_keeps_the_last_one() {
    let log = b"\x02\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\0\x07boolean\0\x7f\xf8\0\0\0\0\0\0\x02\0\0\0\x01\x01";
    let (found, problems) = index(log);
    assert_eq!(replayed(log, &found).lines, ["1.000 /A boolean Boolean [01]"]);
    assert!(codes(&problems).contains(&"bad-time"));
}

#[test]
fn int_is_another_name_of_int64() {
    let log = b"\x02\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\0\x03int\x02\0\0\0\x08\0\0\0\0\0\0\0\x05";
    let (found, _) = index(log);
    assert_eq!(replayed(log, &found).lines, ["1.000 /A int Int64 [05, 00, 00, 00, 00, 00, 00, 00]"]);
}

#[test]
fn other_formats_are_not_taken_for_rlog() {
    let others: [&[u8]; 8] = [
        b"",
        b"WPILOG\0\x01",
        b"BZh91AY&SY",
        &[0; 512],
        b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x02",
        &[0xff; 64],
        b"{\"a\": 1}",
    ];
    for head in others {
        assert_eq!(Rlog.sniff(head), Confidence::No, "{head:02x?}");
    }
    assert_eq!(Rlog.sniff(&drive(Revision::R1, 2)[1..]), Confidence::Perhaps);
    assert_eq!(Rlog.sniff(b"\x02\0\0\0\0\0\0\0\0\0"), Confidence::Yes);
}

#[test]
fn a_length_that_swallows_good_messages_gives_them_back() {
    // A wrong length in a text swallows the cycles behind it; no rule of the type says that it is wrong.
    let mut log = Writer::new(Options::default());
    let (text, number) = (log.key("/Text", "string"), log.key("/Number", "double"));
    let mut at = 0;
    for i in 0..100 {
        log.cycle(Time::from_millis(20 * i));
        if i == 50 {
            at = log.bytes().len();
        }
        log.put(text, &Value::String(b"some text")).unwrap();
        log.put(number, &Value::Double(i as f64)).unwrap();
    }
    let mut bytes = log.into_bytes();
    bytes[at + 3] = 2; // 512 bytes longer
    let (found, problems) = salvaged(&bytes);
    assert!(codes(&problems).contains(&"lost-bytes"));
    let numbers = found.channels.iter().find(|c| c.channel.name == "/Number").unwrap();
    assert_eq!(numbers.samples, 99, "{problems:?}");
}

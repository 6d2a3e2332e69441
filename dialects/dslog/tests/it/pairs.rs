//! Both files of a pair as one log.

use logpose_core::{Confidence, FileDialect, Problems, ReadOptions};
use logpose_dslog::{Dslog, Envelope, Half, Version, fuzzing, summary};

use crate::kit::{PDH, START, TEXTS, events, hex, index, lines, log, run};
use logpose_testkit::dump;

fn pair(named: Half, log: &[u8], events: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Envelope { named, companion: b"other file", log, events }.emit(&mut out);
    out
}

fn halves() -> (Vec<u8>, Vec<u8>) {
    (log(Version::V4, &run(&hex(PDH), b"")), events(Version::V4, TEXTS))
}

#[test]
fn a_pair_has_what_its_files_have() {
    let (log, events) = halves();
    let pair = pair(Half::Log, &log, &events);
    fuzzing::decode(&pair);
    assert_eq!(Dslog.sniff(&pair), Confidence::Yes);
    let mut expected = lines(&log);
    expected.extend(lines(&events));
    assert_eq!(lines(&pair), expected);
    let (found, problems) = index(&pair);
    assert!(problems.is_empty());
    assert_eq!((found.records, found.fact("epoch_ns")), (15 + 14, Some(&*START.to_string())));
    assert!(!found.sorted && index(&log).0.sorted && index(&events).0.sorted);
}

#[test]
fn the_file_that_was_named_is_dumped() {
    let (log, events) = halves();
    assert_eq!(dump(&Dslog, &pair(Half::Log, &log, &events)), dump(&Dslog, &log));
    assert_eq!(dump(&Dslog, &pair(Half::Events, &log, &events)), dump(&Dslog, &events));
}

#[test]
fn problems_name_the_file_and_its_byte() {
    let (log, events) = halves();
    let (cut_log, cut_events) = (&log[..log.len() - 1], &events[..events.len() - 1]);
    let at = (log.len() - 47) as u64;
    let event_at = (events.len() - 20 - TEXTS.last().unwrap().1.len()) as u64;
    for (named, log_name, events_name) in [(Half::Log, "", "other file: "), (Half::Events, "other file: ", "")] {
        let (_, problems) = index(&pair(named, cut_log, cut_events));
        let found: Vec<_> = problems.list().iter().map(|p| (p.at.unwrap(), p.message.clone())).collect();
        let text = |name: &str, what: &str| format!("{name}{what}");
        assert_eq!(
            found,
            [
                (at, text(log_name, "power distribution needs 33 bytes, 32 left; skipped the last 46 bytes")),
                (event_at, text(events_name, "text needs 23 bytes, 22 left; skipped the last 42 bytes")),
            ]
        );
    }
}

#[test]
fn an_envelope_comes_back() {
    let (log, events) = halves();
    let bytes = pair(Half::Events, &log, &events);
    let found = Envelope::parse(&bytes).unwrap();
    let expected = Envelope { named: Half::Events, companion: b"other file", log: &log, events: &events };
    assert_eq!(found, expected);
    let mut again = Vec::new();
    found.emit(&mut again);
    assert_eq!(again, bytes);
    let cut = Dslog.index(&bytes[..bytes.len() - 1], &ReadOptions::default(), &mut Problems::default()).unwrap_err();
    assert_eq!(cut.code, "bad-pair");
}

#[test]
fn a_summary_is_the_same_of_files_and_of_their_pair() {
    let (log, events) = halves();
    let found = summary(Some(&log), Some(&events));
    let of_pair = summary(Some(&pair(Half::Log, &log, &events)), None);
    assert_eq!(format!("{found:?}"), format!("{of_pair:?}"));
    assert_eq!((found.version, found.start_unix_ns, found.records, found.events), (4, START, 15, 14));
    assert_eq!(found.duration_ns, 300_000_000);
    assert_eq!(found.pd.map(|pd| pd.name()), Some("REV PDH"));
    assert_eq!([found.autonomous_ns, found.teleop_ns, found.test_ns].map(|ns| ns / 20_000_000), [2, 3, 1]);
    assert_eq!(found.enabled_ns(), 120_000_000);
    assert_eq!((found.brownouts, found.brownout_ns), (1, 20_000_000));
    // Gone twice; at the end it does not come back.
    assert_eq!((found.drops, found.drop_ns), (1, 40_000_000));
    assert_eq!((found.lowest_battery, found.loss_p95), (Some(1700.0 / 256.0), Some(0.12)));
    assert!((found.trip_time.unwrap() - 0.0064).abs() < 1e-9);
    assert_eq!((found.errors, found.warnings), (1, 2));
    let played = found.played.unwrap();
    assert_eq!((played.event.as_deref(), played.kind.as_deref()), (Some("TXPAS"), Some("qualification")));
    assert_eq!((played.number, played.replay), (Some(35), Some(1)));
    assert_eq!(played.field_time.unwrap().to_string(), "2022-03-06T01:33:48");
    let alone = summary(None, Some(&events));
    assert_eq!((alone.records, alone.duration_ns, alone.lowest_battery), (0, 260_000_000, None));
    assert!(summary(None, Some(b"nothing")).error.is_some());
}

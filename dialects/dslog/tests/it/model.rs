//! What records are as channels.

use logpose_core::{Batch, FileDialect, Lookup, Problems, ReadOptions, Row, SinkError, Time};
use logpose_dslog::{Dslog, Record, Version, fuzzing};

use crate::kit::{PDH, PDP, TEXTS, events, hex, index, lines, log, record, run};

#[test]
fn states_have_a_sample_when_they_change() {
    let found = lines(&log(Version::V4, &run(&hex(PDH), b"")));
    let check = |channel: &str, expected: &str| assert_eq!(found[channel].join(", "), expected, "{channel}");
    check("/ds/connected", "0.000 false, 0.040 true, 0.180 false, 0.220 true, 0.280 false");
    check(
        "/ds/control/enabled",
        "0.000 false, 0.080 true, 0.120 false, 0.140 true, 0.180 false, 0.220 true, 0.260 false",
    );
    check("/ds/control/autonomous", "0.000 false, 0.080 true, 0.120 false");
    check("/ds/control/test", "0.000 false, 0.240 true, 0.260 false");
    check("/ds/status/brownout", "0.000 false, 0.160 true, 0.180 false");
    check("/ds/status/watchdog", "0.000 false");
    check("/ds/pd/type", "0.060 REV PDH");
    check("/ds/pd/id", "0.060 1");
    check("/ds/pd/faults", "0.060 124");
}

#[test]
fn numbers_are_in_every_record_that_has_them() {
    let found = lines(&log(Version::V4, &run(&hex(PDH), b"")));
    let count = |channel: &str| found.get(channel).map_or(0, Vec::len);
    for channel in ["/ds/packet_loss", "/ds/packet_loss_raw", "/ds/cpu", "/ds/can/utilization"] {
        assert_eq!(count(channel), 15, "{channel}");
    }
    assert_eq!((count("/ds/battery"), count("/ds/trip_time")), (10, 10));
    assert_eq!((count("/ds/pd/current/0"), count("/ds/pd/current/23"), count("/ds/pd/total_current")), (10, 10, 10));
    assert_eq!((count("/ds/pd/voltage"), count("/ds/wifi_signal"), count("/ds/bandwidth")), (0, 0, 0));
    assert_eq!(found["/ds/battery"][3], "0.100 9.50390625");
    assert_eq!(found["/ds/trip_time"][3], "0.100 0.01");
    assert_eq!(found["/ds/packet_loss"][5], "0.100 0.12");
    assert_eq!(found["/ds/packet_loss_raw"][4], "0.080 -1");
    assert_eq!(found["/ds/cpu"][2], "0.040 0.45");
    assert_eq!(found["/ds/pd/current/8"][0], "0.060 41.625");
}

#[test]
fn a_pdp_has_more_values() {
    let found = lines(&log(Version::V3, &run(&hex(PDP), b"")));
    // In version 3 there is room for a panel in every record, and zeros are none.
    assert_eq!(found["/ds/pd/voltage"].len(), 10);
    assert_eq!(found["/ds/pd/type"], ["0.060 CTRE PDP"]);
    assert!(!found.contains_key("/ds/pd/resistance") && !found.contains_key("/ds/pd/faults"));
    assert!(!found.contains_key("/ds/pd/current/16"));
    let mut pdp = hex(PDP);
    pdp[22] = 20;
    assert_eq!(lines(&log(Version::V3, &[record(0xf6, &pdp)]))["/ds/pd/resistance"], ["0.000 0.02"]);
}

#[test]
fn what_is_rarely_there_is_kept() {
    let block = [7; 3];
    let odd = Record { wifi: 100, bandwidth: 384, ..record(0xf6, &block) };
    let found = lines(&log(Version::V4, &[odd, record(0xf6, b"")]));
    assert_eq!(found["/ds/wifi_signal"], ["0.000 50"]);
    assert_eq!(found["/ds/bandwidth"], ["0.000 1.5"]);
    assert_eq!(found["/ds/unknown/status/08"], ["0.000 [07, 07, 07]"]);
}

#[test]
fn channels_have_types_units_and_families() {
    let (pdh, log) = index_of_both();
    let channel = |name: &str| pdh.channels.iter().find(|c| c.channel.name == name).unwrap().channel.clone();
    assert_eq!((&*channel("/ds/battery").type_name, channel("/ds/battery").unit.as_deref()), ("double", Some("V")));
    let current = channel("/ds/pd/current/23");
    assert_eq!(current.family, Some(Box::new(("pd_current".to_owned(), "23".to_owned()))));
    assert_eq!(current.unit.as_deref(), Some("A"));
    let bytes: u64 = pdh.channels.iter().map(|c| c.bytes).sum();
    assert!(bytes < log.len() as u64);
    assert_eq!(pdh.fact("version"), Some("4"));
    assert_eq!(pdh.fact("pd"), Some("REV PDH"));
}

fn index_of_both() -> (logpose_core::Index, Vec<u8>) {
    let log = log(Version::V4, &run(&hex(PDH), b""));
    (index(&log).0, log)
}

#[test]
fn a_long_log_is_read_in_windows_and_by_any_number_of_threads() {
    let (pdp, pdh) = (hex(PDP), hex(PDH));
    let mut records = Vec::new();
    for i in 0..6000 {
        let pd: &[u8] = if i % 1500 < 700 { &pdp } else { &pdh };
        records.extend(run(pd, if i % 7 == 0 { b"" } else { pd }));
    }
    let log = log(Version::V4, &records);
    assert!(log.len() > 3 << 20);
    let (one, _) = index(&log);
    assert!(one.steps.len() > 3 && Dslog.windows(&one, 1 << 20).len() > 2);
    let join = |a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)| {
        std::thread::scope(|scope| {
            scope.spawn(b);
            a();
        });
    };
    let read = ReadOptions { threads: 4, join: &join, ..ReadOptions::default() };
    let many = Dslog.index(&log, &read, &mut Problems::default()).unwrap();
    let lines = |index: &logpose_core::Index| {
        let line = |c: &logpose_core::ChannelIndex| {
            (c.channel.clone(), c.samples, c.first, c.last, c.positions.iter().collect::<Vec<_>>())
        };
        index.channels.iter().map(line).collect::<Vec<_>>()
    };
    assert!(lines(&one) == lines(&many));
    // All ways of reading agree, also in windows.
    fuzzing::decode(&log[..log.len() / 12]);
    // Positions that are the same are held once: far less than four bytes for each of the samples.
    let held: usize = one.channels.iter().map(|c| c.positions.memory()).sum();
    assert!(held > 0 && one.samples() > 1_000_000);
}

#[test]
fn a_log_that_cannot_be_read_is_an_error_and_not_one_without_samples() {
    let log = log(Version::V4, &run(&hex(PDP), b""));
    let (index, _) = index(&log);
    let at: Vec<u64> = index.channels[0].positions.iter().collect();
    let rows: Vec<Row> = at.iter().map(|at| Row { time: Time::ZERO, at: *at, channel: 0 }).collect();
    let is_of_the_log = |end: Result<(), SinkError>| matches!(end, Err(SinkError::Source(_)));
    // Without its header, and without the records of the index.
    for broken in [&log[..3], &log[..usize::try_from(at[0]).unwrap() + 1]] {
        assert!(is_of_the_log(Dslog.samples(broken, &index, &rows, &mut |_| Ok(()))));
    }
    let broken = &log[..3];
    let mut sink = Batch::default();
    assert!(is_of_the_log(Dslog.replay(broken, &index, &Lookup::default(), &mut sink)));
    assert!(is_of_the_log(Dslog.rows(broken, &index, &Lookup::default(), &mut |_| Ok(()))));
    assert!(Dslog.times(broken, &index, &at, &mut Vec::new()).is_err());
}

#[test]
fn times_are_found_by_places() {
    let (pdp, pdh) = (hex(PDP), hex(PDH));
    let mut records = run(&pdp, b"");
    records.extend(run(&pdh, &pdp));
    for log in [log(Version::V4, &records), events(Version::V4, TEXTS)] {
        let (index, _) = index(&log);
        for channel in &index.channels {
            let at: Vec<u64> = channel.positions.iter().collect();
            let mut times = Vec::new();
            Dslog.times(&log, &index, &at, &mut times).unwrap();
            assert_eq!((times[0], *times.last().unwrap()), (channel.first, channel.last), "{}", channel.channel.name);
            let mut backwards = Vec::new();
            Dslog.times(&log, &index, &at.iter().rev().copied().collect::<Vec<_>>(), &mut backwards).unwrap();
            assert!(backwards.iter().rev().eq(&times));
        }
    }
}

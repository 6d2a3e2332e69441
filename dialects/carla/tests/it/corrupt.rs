//! Every damaged recording: where a plain read ends, what a search behind the damage reports and where, and how many
//! frames it saves.

use logpose_carla::{Frames, fuzzing, repair};
use logpose_core::Problems;

use crate::fixtures::{logs_in, small};

/// The file, where a plain read ends, what is reported and where, and how many frames are saved. There were eight, and
/// the damage is in the fourth, which begins at byte 878.
type Case = (&'static str, Option<(&'static str, u64)>, &'static [(&'static str, u64)], usize);

const CASES: &[Case] = &[
    ("absurd-size.log", Some(("truncated", 1040)), &[("truncated", 878)], 7),
    ("absurd-total.log", None, &[("packet-size", 1035)], 8),
    ("another-file.log", Some(("magic", 2)), &[], 0),
    ("births-lost.log", Some(("truncated", 243)), &[("truncated", 34), ("frame-id", 387), ("actors-unknown", 464)], 7),
    ("cut-behind-frame.log", None, &[("last-duration", 878)], 4),
    ("cut-in-frame.log", None, &[("truncated", 878)], 3),
    ("cut-in-header.log", Some(("truncated", 18)), &[], 0),
    ("cut-in-packet-header.log", Some(("truncated", 1036)), &[("truncated", 878)], 3),
    ("cut-in-packet.log", Some(("truncated", 1040)), &[("truncated", 878)], 3),
    ("duration-flipped.log", None, &[("duration", 878)], 8),
    ("elapsed-flipped.log", None, &[("duration", 585), ("elapsed", 878), ("duration", 878)], 8),
    ("frame-end-flipped.log", None, &[("frame-unended", 878)], 7),
    ("frame-id-flipped.log", None, &[("frame-id", 878)], 8),
    ("frame-missing.log", None, &[("duration", 585), ("frame-id", 878)], 7),
    ("frame-start-flipped.log", None, &[("stray-packet", 878)], 7),
    ("frame-start-too-long.log", Some(("packet-size", 878)), &[("packet-size", 878)], 7),
    ("frame-twice.log", None, &[("duration", 878), ("frame-id", 1112)], 9),
    ("garbage-over-frames.log", Some(("truncated", 939)), &[("truncated", 878)], 6),
    ("garbage.log", Some(("truncated", 939)), &[("truncated", 878)], 7),
    ("inserted.log", Some(("truncated", 939)), &[("truncated", 878)], 7),
    ("size-swallows.log", Some(("unpatched", 1351)), &[("packet-size", 878)], 7),
    ("stray-packet.log", None, &[("stray-packet", 878)], 8),
    ("two-files.log", Some(("truncated", 1999)), &[("second-header", 1994)], 8),
    ("unpatched.log", Some(("unpatched", 1035)), &[("unpatched", 878)], 3),
    ("version-3.log", Some(("version", 0)), &[("version", 0)], 8),
    ("wrong-magic.log", Some(("magic", 2)), &[("magic", 2)], 8),
];

#[test]
fn every_damage_is_reported_at_its_byte() {
    let mut named = 0;
    for (name, log) in logs_in("corrupt") {
        all(&log);
        if name.starts_with("crash-") {
            continue;
        }
        let stop = match Frames::scan(&log) {
            Ok(frames) => frames.stop().copied(),
            Err(error) => Some(error),
        };
        let stop = stop.map(|error| (error.code(), error.at));
        let mut problems = Problems::default();
        let saved = repair(&log, &mut problems).map_or(0, |repair| repair.salvage().frames().len());
        let found: Vec<_> = problems.list().iter().map(|p| (p.code, p.at.unwrap_or(u64::MAX))).collect();
        let found = (&*name, stop, &found[..], saved);
        let case = CASES.iter().find(|case| case.0 == name);
        assert_eq!(case, Some(&found), "{:#?}", problems.list());
        named += 1;
    }
    assert_eq!(named, CASES.len());
}

#[test]
fn every_prefix_reads_without_panic() {
    for (name, log) in small() {
        let frames = Frames::scan(&log).expect(&name);
        for end in 0..log.len() {
            let prefix = &log[..end];
            fuzzing::decode(prefix);
            fuzzing::recover(prefix);
            let whole = frames.frames().iter().filter(|frame| frame.end <= end as u64).count();
            let saved = repair(prefix, &mut Problems::default()).map_or(0, |repair| repair.salvage().frames().len());
            assert_eq!(saved, whole, "frames of the first {end} bytes of {name}");
        }
    }
}

#[test]
fn every_single_byte_can_be_anything() {
    let (_, small) = logs_in("valid").into_iter().find(|(name, _)| name == "smallest.log").expect("it is there");
    for at in 0..small.len() {
        for byte in 0..=255 {
            let mut log = small.clone();
            log[at] = byte;
            fuzzing::decode(&log);
            fuzzing::recover(&log);
        }
    }
}

#[test]
fn a_wrong_byte_costs_one_frame() {
    for (name, log) in small() {
        let Ok(frames) = Frames::scan(&log) else { panic!("{name}") };
        let (count, start) = (frames.frames().len(), frames.header().size());
        for at in start..log.len() {
            let mut log = log.clone();
            for flip in [0x01, 0xff] {
                log[at] ^= flip;
                if name == "traffic.log" {
                    fuzzing::edit(&log);
                }
                let mut problems = Problems::default();
                let saved = repair(&log, &mut problems).map_or(0, |repair| repair.salvage().frames().len());
                assert!(saved + 2 >= count, "byte {at} of {name}: {saved} of {count} frames; {:#?}", problems.list());
                log[at] ^= flip;
            }
        }
    }
}

/// Everything that is done with bytes from outside.
fn all(log: &[u8]) {
    fuzzing::decode(log);
    fuzzing::roundtrip(log);
    fuzzing::recover(log);
    fuzzing::edit(log);
}

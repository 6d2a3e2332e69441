//! Whatever is cut or changed: an error or fewer samples, never a panic.

use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_rlog::{Revision, Rlog, fuzzing};

use crate::golden::FIXTURES;
use crate::kit::{every_type, index};

fn check(bytes: &[u8]) {
    fuzzing::decode(bytes);
    fuzzing::recover(bytes);
    fuzzing::session(bytes);
}

#[test]
fn every_prefix_reads_without_panic() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in FIXTURES.logs(folder) {
            for cut in 0..=log.len() {
                check(&log[..cut]);
            }
            assert!(log.len() < 4000, "{name} is no small fixture");
        }
    }
}

#[test]
fn every_prefix_has_no_more_samples_than_the_whole() {
    for revision in [Revision::R1, Revision::R2] {
        let log = every_type(revision);
        let whole = index(&log).0.samples();
        let mut last = 0;
        for cut in 1..=log.len() {
            let (found, problems) = index(&log[..cut]);
            assert!(found.samples() >= last && found.samples() <= whole, "{cut}");
            assert_eq!(found.spans[0].end + problems.list().iter().map(|p| p.length).sum::<u64>(), cut as u64);
            last = found.samples();
        }
        assert_eq!(last, whole);
    }
}

#[test]
fn every_single_byte_can_be_wrong() {
    for revision in [Revision::R1, Revision::R2] {
        let log = every_type(revision);
        for at in 0..log.len() {
            for change in [0x01, 0xff] {
                let mut bytes = log.clone();
                bytes[at] ^= change;
                check(&bytes);
            }
        }
    }
}

#[test]
fn the_fuzz_targets_take_every_fixture() {
    for folder in ["valid", "corrupt"] {
        for (_, log) in FIXTURES.logs(folder) {
            check(&log);
            fuzzing::roundtrip(&log);
        }
    }
}

#[test]
fn the_limit_of_channels_holds() {
    let mut log = vec![2, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for id in 0..1000_u16 {
        log.extend_from_slice(&[1]);
        log.extend_from_slice(&id.to_be_bytes());
        log.extend_from_slice(b"\0\x01x\0\x03raw\x02");
        log.extend_from_slice(&id.to_be_bytes());
        log.extend_from_slice(b"\0\0");
    }
    let mut read = ReadOptions::default();
    read.limits.channels = 10;
    let mut problems = Problems::default();
    let found = Rlog.index(&log, &read, &mut problems).unwrap();
    assert_eq!(found.samples(), 10);
    assert!(problems.kinds().iter().any(|(code, ..)| *code == "too-many-channels"));
}

//! Whatever is cut or changed: an error or fewer records, never a panic, and all ways of reading agree.

use logpose_dslog::{Envelope, Half, Version, fuzzing};

use crate::golden::FIXTURES;
use crate::kit::{PDH, PDP, TEXTS, events, hex, index, log, run};

#[test]
fn every_prefix_reads_without_panic() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in FIXTURES.logs(folder) {
            assert!(log.len() < 4000, "{name} is no small fixture");
            // Every length while headers and first records are cut, then a few of each record.
            for cut in (0..=log.len()).filter(|cut| *cut < 120 || cut % 17 == 0 || *cut + 20 > log.len()) {
                fuzzing::decode(&log[..cut]);
            }
        }
    }
}

#[test]
fn every_prefix_has_one_problem_where_it_was_cut() {
    let whole =
        [log(Version::V3, &run(&hex(PDP), b"")), log(Version::V4, &run(&hex(PDH), b"")), events(Version::V4, TEXTS)];
    for log in whole {
        let mut last = 0;
        for cut in 20..=log.len() {
            let (found, problems) = index(&log[..cut]);
            assert!(found.records >= last, "{cut}");
            let lost: u64 = problems.list().iter().map(|p| p.length).sum();
            assert!(problems.list().len() <= 1 && found.spans[0].end + lost == cut as u64, "{cut}: {problems:?}");
            last = found.records;
        }
    }
}

#[test]
fn every_single_byte_can_be_wrong() {
    let (pdp, pdh) = (hex(PDP), hex(PDH));
    let mut mixed = run(&pdp, b"");
    mixed.truncate(6);
    mixed.extend(run(&pdh, b"").into_iter().take(5));
    for log in [log(Version::V4, &mixed), log(Version::V3, &run(&pdp, b"")[..4]), events(Version::V4, &TEXTS[..3])] {
        for at in 0..log.len() {
            let mut bytes = log.clone();
            bytes[at] ^= if at % 2 == 0 { 0x01 } else { 0xff };
            fuzzing::decode(&bytes);
        }
    }
}

#[test]
fn an_envelope_can_be_cut_and_changed() {
    let (log, events) = (log(Version::V4, &run(&hex(PDH), b"")[..5]), events(Version::V4, &TEXTS[1..3]));
    let mut pair = Vec::new();
    Envelope { named: Half::Log, companion: b"x.dsevents", log: &log, events: &events }.emit(&mut pair);
    fuzzing::decode(&pair);
    for cut in 0..pair.len() {
        fuzzing::decode(&pair[..cut]);
    }
    for at in 0..60 {
        let mut bytes = pair.clone();
        bytes[at] ^= 0x01;
        fuzzing::decode(&bytes);
    }
}

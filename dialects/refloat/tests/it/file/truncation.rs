//! Whatever is cut or changed: an error, a problem or fewer samples, never a panic, and all ways of reading agree.

use logpose_core::Severity;
use logpose_refloat::fuzzing;
use logpose_refloat::rfrec::Recording;

use super::golden::FIXTURES;
use super::kit::{EXAMPLE, hex, ride};

#[test]
fn every_prefix_reads_without_panic() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in FIXTURES.logs(folder) {
            assert!(log.len() < 8000, "{name} is no small fixture");
            for cut in (0..=log.len()).filter(|cut| *cut < 40 || cut % 41 == 0 || *cut + 20 > log.len()) {
                fuzzing::decode(&log[..cut]);
                fuzzing::recover(&log[..cut]);
            }
        }
    }
}

#[test]
fn every_prefix_is_partial_and_shows_what_is_missing() {
    let parts = ride(3, 24);
    let log = parts.file();
    let whole = Recording::read(&log).unwrap();
    let mut last = 0;
    for cut in 16..log.len() {
        let found = Recording::read(&log[..cut]).unwrap();
        assert!(!found.complete && found.held() >= last, "{cut}");
        last = found.held();
        let kinds: Vec<_> = found.problems.list().iter().map(|problem| problem.code).collect();
        assert!(kinds.contains(&"partial"), "{cut}: {kinds:?}");
        assert!(found.samples().eq(whole.samples().take(last as usize)), "{cut}");
        let (held, at) = Recording::resumable(&log[..cut]).unwrap();
        assert!(at <= cut as u64 && held.held() == last, "{cut}");
        assert!(held.problems.list().iter().all(|problem| problem.code == "partial"), "{cut}");
    }
    assert_eq!(last, 24);
}

#[test]
fn every_single_wrong_byte_is_reported() {
    for log in [hex(EXAMPLE), ride(2, 3).file()] {
        let whole = Recording::read(&log).unwrap();
        for at in 0..log.len() {
            for change in [0x01, 0xff] {
                let mut bytes = log.clone();
                bytes[at] ^= change;
                if change == 0x01 {
                    fuzzing::decode(&bytes);
                }
                fuzzing::recover(&bytes);
                let Ok(found) = Recording::read(&bytes) else { continue };
                assert!(found.problems.worst() >= Some(Severity::Warning), "byte {at} of {} was not missed", log.len());
                let known: Vec<_> = whole.samples().collect();
                assert!(
                    found.samples().all(|sample| known.contains(&sample)),
                    "byte {at}: samples that were not there"
                );
            }
        }
    }
}

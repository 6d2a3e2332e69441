//! Every damaged log: what is reported, and where. A plain read first, then one that searches behind the damage.

use std::collections::BTreeMap;

use logpose_core::{Dialect, Problems, Read};
use logpose_wpilog::{Wpilog, fuzzing};

use crate::support::{logs_in, places};

/// The file, what a plain read reports and where, what a salvage reports and where.
type Case = (&'static str, &'static [(&'static str, u64)], &'static [(&'static str, u64)]);

const CASES: &[Case] = &[];

#[test]
fn every_damaged_log_has_its_problem_at_its_byte() {
    let mut cases: BTreeMap<&str, _> = CASES.iter().map(|(name, plain, salvage)| (*name, (*plain, *salvage))).collect();
    for (name, log) in logs_in("corrupt") {
        fuzzing::decode(&log);
        fuzzing::recover(&log);
        fuzzing::roundtrip(&log);
        if name.starts_with("crash-") {
            continue; // from the fuzzer: it is enough that nothing panics
        }
        let found = [false, true].map(|salvage| {
            let mut problems = Problems::default();
            match Wpilog.index(&log, &Read { salvage, ..Read::default() }, &mut problems) {
                Ok(_) => places(&problems),
                Err(error) => vec![(error.code, error.at)],
            }
        });
        let (plain, salvage) = cases.remove(&*name).unwrap_or_else(|| panic!("no case for {name}: {found:?}"));
        assert_eq!(found, [plain, salvage], "{name}");
    }
    assert!(cases.is_empty(), "no file for {cases:?}");
}

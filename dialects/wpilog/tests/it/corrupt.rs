//! Every damaged log: what is reported, and where. A plain read first, then one that searches behind the damage.

use std::collections::BTreeMap;

use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_wpilog::{Wpilog, fuzzing};

use crate::support::{logs_in, places};

/// The file, what a plain read reports and where, what a salvage reports and where.
type Case = (&'static str, &'static [(&'static str, u64)], &'static [(&'static str, u64)]);

/// Damage begins at byte 1262 in the logs that are made from one drive.
const CASES: &[Case] = &[
    ("after-finish.wpilog", &[("after-finish", 49)], &[("after-finish", 49)]),
    ("bad-magic.wpilog", &[("bad-magic", 0)], &[("no-header", 0), ("lost-bytes", 0)]),
    ("bad-utf8.wpilog", &[("bad-utf8", 12), ("bad-utf8", 56)], &[("bad-utf8", 12), ("bad-utf8", 56)]),
    ("cut-in-header.wpilog", &[("truncated", 8)], &[("no-header", 0)]),
    ("cut-in-magic.wpilog", &[("truncated", 0)], &[("no-header", 0), ("lost-bytes", 0)]),
    ("cut-in-payload.wpilog", &[("truncated", 1262)], &[("lost-bytes", 1262)]),
    ("cut-in-record-header.wpilog", &[("truncated", 1262)], &[("lost-bytes", 1262)]),
    ("extra-header-too-long.wpilog", &[("truncated", 12)], &[("no-header", 0)]),
    ("ff-tail.wpilog", &[("truncated", 1262)], &[("lost-bytes", 1262)]),
    ("garbage.wpilog", &[("truncated", 1276)], &[("lost-bytes", 1276)]),
    ("header-missing.wpilog", &[("bad-magic", 0)], &[("no-header", 0)]),
    ("metadata-2022.wpilog", &[("metadata-2022", 55)], &[("metadata-2022", 55)]),
    ("never-started.wpilog", &[("unknown-entry", 52)], &[("lost-bytes", 52)]),
    ("size-flipped.wpilog", &[("truncated", 1262)], &[("lost-bytes", 1262)]),
    ("time-out-of-range.wpilog", &[("time-out-of-range", 39)], &[("time-out-of-range", 39)]),
    ("version-0.wpilog", &[("bad-version", 6)], &[("no-header", 0)]),
    ("version-2.wpilog", &[("version", 6)], &[("version", 6)]),
    (
        "zero-hole.wpilog",
        &[("zero-fill", 1276), ("unknown-control", 1780), ("truncated", 1820)],
        &[("lost-bytes", 1276)],
    ),
    ("zero-tail.wpilog", &[("zero-fill", 1262)], &[("zero-fill", 1262)]),
    ("bad-controls.wpilog", CONTROLS, CONTROLS),
    ("two-logs.wpilog", TWO_LOGS, TWO_LOGS),
    ("wrong-sizes.wpilog", SIZES, SIZES),
];
const CONTROLS: &[(&str, u64)] = &[
    ("unknown-control", 53),
    ("unknown-control", 63),
    ("unknown-control", 84),
    ("unknown-control", 101),
    ("unknown-control", 110),
    ("unknown-control", 114),
];
const TWO_LOGS: &[(&str, u64)] = &[("second-header", 2502), ("started-twice", 2526), ("started-twice", 2603)];
const SIZES: &[(&str, u64)] =
    &[("bad-value", 46), ("bad-value", 66), ("bad-value", 116), ("bad-value", 142), ("bad-value", 191)];

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
            match Wpilog.index(&log, &ReadOptions { salvage, ..ReadOptions::default() }, &mut problems) {
                Ok(_) => places(&problems),
                Err(error) => vec![(error.code, error.at)],
            }
        });
        let (plain, salvage) = cases.remove(&*name).unwrap_or_else(|| panic!("no case for {name}: {found:?}"));
        assert_eq!(found, [plain, salvage], "{name}");
    }
    assert!(cases.is_empty(), "no file for {cases:?}");
}

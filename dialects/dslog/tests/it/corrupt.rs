//! Every file in `fixtures/dslog/corrupt`: the named problem at the named byte.

use logpose_core::{FileDialect, Problems, ReadOptions, Severity};
use logpose_dslog::{Dslog, Version};
use logpose_testkit::with;

use crate::golden::FIXTURES;
use crate::kit::{PDH, PDP, TEXTS, events, hex, log, record, run};

/// File, what it is made of, and what reading it finds: the problem's code, place and length and how many records there
/// are, or an error's code and message.
pub(crate) struct Case {
    pub(crate) file: &'static str,
    pub(crate) make: fn() -> Vec<u8>,
    found: Result<(&'static str, u64, u64, u64), (&'static str, &'static str)>,
}

fn v3() -> Vec<u8> {
    log(Version::V3, &run(&hex(PDP), b""))
}

fn v4() -> Vec<u8> {
    log(Version::V4, &run(&hex(PDH), b""))
}

pub(crate) const CASES: &[Case] = &[
    Case {
        file: "short.dslog",
        make: || v4()[..19].to_vec(),
        found: Err(("truncated", "fraction of a second needs 8 bytes, 7 left")),
    },
    Case {
        file: "version-2.dslog",
        make: || with(v4(), |log| log[3] = 2),
        found: Err(("bad-version", "unsupported version 2, expected 3 or 4: written by the Driver Station of 2015")),
    },
    Case {
        file: "version-5.dslog",
        make: || with(v4(), |log| log[3] = 5),
        found: Err((
            "bad-version",
            "unsupported version 5, expected 3 or 4: not written by a Driver Station of 2012 to 2026",
        )),
    },
    Case {
        file: "v3-cut.dslog",
        make: || with(v3(), |log| log.truncate(log.len() - 3)),
        found: Ok(("truncated", 20 + 14 * 35, 32, 14)),
    },
    Case {
        file: "v4-cut.dslog",
        make: || with(v4(), |log| log.truncate(log.len() - 40)),
        found: Ok(("truncated", 20 + 5 * 14 + 9 * 47, 7, 14)),
    },
    Case {
        file: "v4-length-beyond.dslog",
        make: || with(v4(), |log| log[20 + 3 * 14 + 10] = 0x7f),
        found: Ok(("truncated", 62, 498, 3)),
    },
    Case {
        file: "v3-padding.dslog",
        make: || with(v3(), |log| log.extend([0; 35])),
        found: Ok(("padding", 20 + 15 * 35, 35, 15)),
    },
    Case {
        file: "v4-padding.dslog",
        make: || with(v4(), |log| log.extend([0; 33])),
        found: Ok(("padding", 20 + 5 * 14 + 10 * 47, 33, 15)),
    },
    Case {
        file: "v4-zeros-inside.dslog",
        make: || with(log(Version::V4, &[record(0xf6, b"")]), |log| log.extend([&[0; 28][..], &[9; 5]].concat())),
        found: Ok(("truncated", 20 + 3 * 14, 5, 3)),
    },
    Case {
        file: "unknown-pd.dslog",
        make: || {
            let block = [7; 64];
            log(Version::V4, &[record(0xf6, &block), record(0xf6, &hex(PDP)), record(0xf6, &block)])
        },
        found: Ok(("unknown-pd", 20, 64, 3)),
    },
    Case {
        file: "cut.dsevents",
        make: || with(events(Version::V4, TEXTS), |log| log.truncate(log.len() - 3)),
        found: Ok(("truncated", 1433, 40, 13)),
    },
    Case {
        file: "negative-length.dsevents",
        make: || with(events(Version::V4, TEXTS), |log| log[20 + 16] = 0xff),
        found: Ok(("bad-length", 20, 1456, 0)),
    },
    Case {
        file: "length-beyond.dsevents",
        make: || with(events(Version::V4, TEXTS), |log| log[20 + 17] = 0xff),
        found: Ok(("truncated", 20, 1456, 0)),
    },
];

#[test]
fn every_corrupt_file_shows_its_problem() {
    let mut wrong = Vec::new();
    for case in CASES {
        let log = &FIXTURES.log("corrupt", case.file);
        let mut problems = Problems::default();
        match (Dslog.index(log, &ReadOptions::default(), &mut problems), &case.found) {
            (Err(error), Err((code, message))) if error.code == *code && error.message == *message => {}
            (Ok(index), Ok((code, at, length, records))) if problems.list().len() == 1 => {
                let problem = &problems.list()[0];
                let found = (problem.code, problem.at.unwrap(), problem.length, index.records);
                if found != (*code, *at, *length, *records) {
                    wrong.push(format!("{}: {found:?}, not {:?}", case.file, case.found));
                }
                let damage = !matches!(*code, "padding" | "unknown-pd");
                assert_eq!(problem.severity == Severity::Damage, damage, "{}: {problem:?}", case.file);
            }
            (found, _) => {
                wrong.push(format!("{}: {:?} {problems:?}, not {:?}", case.file, found.err(), case.found));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn padding_is_no_brownout() {
    for (name, log) in FIXTURES.logs("corrupt").into_iter().filter(|(name, _)| name.contains("padding")) {
        let found = logpose_dslog::summary(Some(&log), None);
        assert_eq!((found.brownouts, found.records), (1, 15), "{name}");
    }
}

//! Every file in `fixtures/rlog/corrupt`: the named problem at the named byte.

use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_rlog::{Revision, Rlog};
use logpose_testkit::with;

use crate::golden::FIXTURES;
use crate::kit::{drive, every_type, small};

/// File, what it is made of, the plain reading's code and place, and how many samples it keeps; and how many recovery
/// finds, with the code it reports.
pub(crate) struct Case {
    pub(crate) file: &'static str,
    pub(crate) make: fn() -> Vec<u8>,
    plain: Result<(&'static str, u64, u64), &'static str>,
    salvaged: Option<(&'static str, u64)>,
}

fn garbage(log: Vec<u8>, at: usize, len: usize) -> Vec<u8> {
    with(log, |log| {
        let mut state = 12345_u32;
        for byte in &mut log[at..at + len] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = state.to_be_bytes()[0];
        }
    })
}

pub(crate) const CASES: &[Case] = &[
    Case { file: "empty.rlog", make: Vec::new, plain: Err("empty"), salvaged: None },
    Case {
        file: "openpilot.rlog",
        make: || b"BZh91AY&SY not an AdvantageKit log at all".to_vec(),
        plain: Err("bad-revision"),
        salvaged: None,
    },
    Case {
        file: "revision-3.rlog",
        make: || with(small(Revision::R2), |log| log[0] = 3),
        plain: Err("bad-revision"),
        salvaged: Some(("lost-bytes", 33)),
    },
    Case {
        file: "r1-no-revision.rlog",
        make: || small(Revision::R1)[1..].to_vec(),
        plain: Err("missing-revision"),
        salvaged: Some(("missing-revision", 33)),
    },
    Case {
        file: "r2-no-revision.rlog",
        make: || small(Revision::R2)[1..].to_vec(),
        plain: Err("missing-revision"),
        salvaged: Some(("missing-revision", 33)),
    },
    Case {
        file: "r1-cut.rlog",
        make: || with(small(Revision::R1), |log| log.truncate(log.len() - 3)),
        plain: Ok(("truncated", 584, 32)),
        salvaged: Some(("truncated", 32)),
    },
    Case {
        file: "r2-cut.rlog",
        make: || with(small(Revision::R2), |log| log.truncate(log.len() - 3)),
        plain: Ok(("truncated", 712, 32)),
        salvaged: Some(("truncated", 32)),
    },
    Case {
        file: "r1-garbage.rlog",
        make: || garbage(small(Revision::R1), 300, 40),
        plain: Ok(("bad-message", 305, 15)),
        salvaged: Some(("lost-bytes", 29)),
    },
    Case {
        file: "r2-garbage.rlog",
        make: || garbage(small(Revision::R2), 300, 40),
        plain: Ok(("truncated", 298, 9)),
        salvaged: Some(("lost-bytes", 29)),
    },
    Case {
        file: "r1-unknown-value-type.rlog",
        make: || with(every_type(Revision::R1), |log| log[26] = 11),
        plain: Ok(("bad-message", 23, 0)),
        salvaged: None,
    },
    Case {
        file: "r2-unknown-message.rlog",
        make: || with(every_type(Revision::R2), |log| log[10] = 7),
        plain: Ok(("bad-message", 10, 0)),
        salvaged: None,
    },
    Case {
        file: "r2-wrong-size.rlog",
        make: || {
            with(every_type(Revision::R2), |log| {
                log.truncate(32);
                log.extend_from_slice(b"\x02\0\0\0\x03abc\x02\0\0\0\x01\x01");
            })
        },
        plain: Ok(("bad-value", 32, 1)),
        salvaged: Some(("bad-value", 1)),
    },
    Case {
        file: "r2-unknown-key.rlog",
        make: || with(small(Revision::R2), |log| log.extend_from_slice(b"\0\x40\x24\0\0\0\0\0\0\x02\0\x63\0\x01\x01")),
        plain: Ok(("unknown-key", 734, 33)),
        salvaged: Some(("unknown-key", 33)),
    },
];

#[test]
fn every_corrupt_file_shows_its_problem() {
    let mut wrong = Vec::new();
    for case in CASES {
        let log = &FIXTURES.log("corrupt", case.file);
        let mut problems = Problems::default();
        let found = match Rlog.index(log, &ReadOptions::default(), &mut problems) {
            Err(error) => Err(error.code),
            Ok(index) => {
                let problem = problems.list().iter().max_by_key(|p| p.severity);
                Ok((problem.map_or("none", |p| p.code), problem.and_then(|p| p.at).unwrap_or(0), index.samples()))
            }
        };
        if found != case.plain {
            wrong.push(format!("{}: {found:?}, not {:?}", case.file, case.plain));
        }
        let mut problems = Problems::default();
        let read = ReadOptions { salvage: true, ..ReadOptions::default() };
        let found = Rlog.index(log, &read, &mut problems).ok().map(|index| {
            (problems.list().iter().max_by_key(|p| p.severity).map_or("none", |p| p.code), index.samples())
        });
        if let Some(expected) = case.salvaged
            && found != Some(expected)
        {
            wrong.push(format!("{}: recovered {found:?}, not {expected:?}: {problems:?}", case.file));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_missing_revision_byte_is_explained() {
    let error =
        Rlog.index(&drive(Revision::R1, 3)[1..], &ReadOptions::default(), &mut Problems::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rlog: byte 0x0: missing revision byte; it looks like R1: use --rlog-revision 1, or `logpose recover`"
    );
    let error =
        Rlog.index(&drive(Revision::R2, 3)[1..], &ReadOptions::default(), &mut Problems::default()).unwrap_err();
    assert!(error.message.contains("looks like R2: use --rlog-revision 2"), "{error}");
    let error = Rlog.index(b"\x09\0", &ReadOptions::default(), &mut Problems::default()).unwrap_err();
    assert_eq!(error.message, "unknown revision 9, expected 1 or 2");
}

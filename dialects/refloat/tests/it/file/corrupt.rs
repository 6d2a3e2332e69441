//! Every file in `fixtures/refloat/corrupt`: the named problems at the named bytes.

use std::ops::Range;

use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_refloat::rfrec::{Block, End, Kind, Recording, Writer};
use logpose_refloat::{Refloat, fuzzing};

use super::golden::FIXTURES;
use super::kit::{Parts, ride, sample};

/// File, what it is made of, and what reading it finds: how many samples there are and the problems with their bytes, or
/// an error's code and message.
pub(crate) struct Case {
    pub(crate) file: &'static str,
    pub(crate) make: fn() -> Vec<u8>,
    found: Result<(u32, &'static [ExpectedProblem]), (&'static str, &'static str)>,
}

/// A problem's code and byte.
type ExpectedProblem = (&'static str, Option<u64>);

/// A recording of four samples in two blocks, with all there is. Its blocks begin at these bytes.
fn small() -> Vec<u8> {
    let parts = parts();
    let (mut out, mut writer) = parts.begin();
    for from in [0, 2] {
        writer.samples(from as u32, &parts.samples[from..from + 2].concat(), &mut out).unwrap();
    }
    writer.timeref(&parts.timeref.unwrap(), &mut out);
    writer.end(&mut out).unwrap();
    out
}

const META: usize = 16;
const INFO: usize = META + 12 + 23;
const HEADER: usize = INFO + 12 + 60;
const FIRST: usize = HEADER + 12 + 18;
const SECOND: usize = FIRST + 12 + 4 + 18;
const TIMEREF: usize = SECOND + 12 + 4 + 18;
const END: usize = TIMEREF + 12 + 16;

fn parts() -> Parts {
    let meta = serde_json::json!({ "note": "four of them" });
    Parts {
        meta: meta.as_object().cloned(),
        ids: vec!["erpm".into(), "pitch".into()],
        samples: (0..4_u8).map(|i| sample(1000 + u32::from(i) * 12, 0x0d, &[f32::from(i), 0.5])).collect(),
        status: None,
        ..ride(2, 1)
    }
}

fn with(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut log = small();
    change(&mut log);
    log
}

fn cut(at: usize) -> Vec<u8> {
    small()[..at].to_vec()
}

fn flip(at: usize) -> Vec<u8> {
    with(|log| log[at] ^= 0x10)
}

/// The file with other blocks behind its header.
fn behind_header(more: impl FnOnce(&mut Vec<u8>, &mut Writer)) -> Vec<u8> {
    let (mut out, mut writer) = parts().begin();
    more(&mut out, &mut writer);
    out
}

fn put(out: &mut Vec<u8>, kind: Kind, payload: &[u8]) {
    Block { kind, payload }.emit(out);
}

const fn at(byte: usize) -> Option<u64> {
    Some(byte as u64)
}

pub(crate) const CASES: &[Case] = &[
    Case { file: "empty.rfrec", make: || cut(0), found: Err(("truncated", "head needs 16 bytes, 0 left")) },
    Case { file: "cut-in-head.rfrec", make: || cut(9), found: Err(("truncated", "head needs 16 bytes, 9 left")) },
    Case { file: "only-head.rfrec", make: || cut(META), found: Ok((0, &[("partial", None)])) },
    Case {
        file: "cut-in-meta.rfrec",
        make: || cut(META + 10),
        found: Ok((0, &[("truncated", at(META)), ("partial", None)])),
    },
    Case {
        file: "cut-in-header.rfrec",
        make: || cut(HEADER + 20),
        found: Ok((0, &[("truncated", at(HEADER)), ("partial", None)])),
    },
    Case { file: "cut-behind-header.rfrec", make: || cut(FIRST), found: Ok((0, &[("partial", None)])) },
    Case {
        file: "cut-in-length.rfrec",
        make: || cut(SECOND + 6),
        found: Ok((2, &[("truncated", at(SECOND)), ("partial", None)])),
    },
    Case {
        file: "cut-in-samples.rfrec",
        make: || cut(SECOND + 20),
        found: Ok((2, &[("truncated", at(SECOND)), ("partial", None)])),
    },
    Case { file: "no-end.rfrec", make: || cut(END), found: Ok((4, &[("partial", None)])) },
    Case {
        file: "cut-in-end.rfrec",
        make: || cut(END + 40),
        found: Ok((4, &[("truncated", at(END)), ("partial", None)])),
    },
    Case { file: "flip-in-head.rfrec", make: || flip(11), found: Ok((4, &[("bad-head", at(0))])) },
    Case {
        file: "flip-in-magic.rfrec",
        make: || with(|log| log[7] = b'\r'),
        found: Err(("bad-magic", "not a recording: starts with [52, 46, 4c, 54, 52, 45, 43, 0d]")),
    },
    Case { file: "flip-in-meta.rfrec", make: || flip(META + 12), found: Ok((4, &[("bad-crc", at(META))])) },
    Case {
        file: "flip-in-header.rfrec",
        make: || flip(HEADER + 12),
        found: Ok((
            0,
            &[
                ("bad-crc", at(HEADER)),
                ("samples-before-header", at(FIRST)),
                ("samples-before-header", at(SECOND)),
                ("partial", None),
            ],
        )),
    },
    Case {
        file: "flip-in-samples.rfrec",
        make: || flip(FIRST + 15),
        found: Ok((2, &[("bad-crc", at(FIRST)), ("partial", None)])),
    },
    Case {
        file: "flip-in-length.rfrec",
        make: || flip(FIRST + 7),
        found: Ok((2, &[("bad-crc", at(FIRST)), ("partial", None)])),
    },
    Case {
        file: "length-beyond.rfrec",
        make: || with(|log| log[FIRST + 4..FIRST + 8].copy_from_slice(&[0xff; 4])),
        found: Ok((2, &[("truncated", at(FIRST)), ("partial", None)])),
    },
    Case {
        file: "flip-in-end.rfrec",
        make: || flip(END + 20),
        found: Ok((4, &[("bad-crc", at(END)), ("partial", None)])),
    },
    Case {
        file: "major-2.rfrec",
        make: || {
            with(|log| {
                log[8] = 2;
                log[12..16].copy_from_slice(&[0x56, 0x15, 0x20, 0x89]);
            })
        },
        found: Err(("bad-version", "unsupported version 2.0, expected 1")),
    },
    Case {
        file: "disagreement.rfrec",
        make: || {
            behind_header(|out, writer| {
                let samples = parts().samples;
                writer.samples(0, &samples[..3].concat(), out).unwrap();
                writer.samples(1, &[&samples[1][..], &samples[3]].concat(), out).unwrap();
            })
        },
        found: Err(("disagreement", "sample 2 differs from the one at byte 0xb7")),
    },
    Case {
        file: "size-beyond.rfrec",
        make: || {
            behind_header(|out, _| {
                let header = out.len() - 30;
                out.truncate(header);
                let mut payload = parts().header();
                payload[2..6].copy_from_slice(&[0xff; 4]);
                put(out, Kind::Header, &payload);
                put(out, Kind::Samples, &[&[0xff, 0xff, 0xff, 0xfe][..], &parts().samples[0]].concat());
            })
        },
        found: Ok((1, &[("partial", None)])),
    },
    Case {
        file: "index-beyond.rfrec",
        make: || {
            behind_header(|out, writer| {
                put(out, Kind::Samples, &[&[0xff; 4][..], &parts().samples[0]].concat());
                put(out, Kind::Samples, &[&[0, 0, 0, 3][..], &parts().samples[3], &parts().samples[3]].concat());
                writer.samples(0, &parts().samples[..3].concat(), out).unwrap();
            })
        },
        found: Ok((4, &[("beyond-size", at(FIRST)), ("beyond-size", at(FIRST + 25)), ("partial", None)])),
    },
    Case {
        file: "not-whole-samples.rfrec",
        make: || {
            behind_header(|out, _| {
                put(out, Kind::Samples, &[0, 0, 0]);
                put(out, Kind::Samples, &[0; 20]);
            })
        },
        found: Ok((0, &[("bad-samples", at(FIRST)), ("bad-samples", at(FIRST + 15)), ("partial", None)])),
    },
    Case {
        file: "no-header.rfrec",
        make: || with(|log| drop(log.drain(HEADER..FIRST))),
        found: Ok((
            0,
            &[("samples-before-header", at(HEADER)), ("samples-before-header", at(HEADER + 34)), ("partial", None)],
        )),
    },
    Case {
        file: "bad-header.rfrec",
        make: || {
            behind_header(|out, _| {
                out.truncate(HEADER);
                put(out, Kind::Header, b"\x65\x2a\0\0\0\x01\x02\x04erpm");
            })
        },
        found: Ok((0, &[("bad-header", at(HEADER)), ("partial", None)])),
    },
    Case {
        file: "second-header.rfrec",
        make: || {
            with(|log| {
                put(log, Kind::Header, &parts().header());
                put(log, Kind::Header, &ride(2, 1).header());
            })
        },
        found: Ok((4, &[("second-header", at(END + 48)), ("second-header", at(END + 48 + 30))])),
    },
    Case {
        file: "bad-sha.rfrec",
        make: || {
            with(|log| {
                log.truncate(END);
                let mut end = Vec::new();
                End { samples: 4, sha256: [7; 32] }.emit(&mut end);
                put(log, Kind::End, &end);
            })
        },
        found: Ok((4, &[("bad-sha", at(END))])),
    },
    Case {
        file: "end-counts-wrong.rfrec",
        make: || {
            with(|log| {
                log.truncate(END);
                let mut end = Vec::new();
                End { samples: 5, sha256: [7; 32] }.emit(&mut end);
                put(log, Kind::End, &end);
            })
        },
        found: Ok((4, &[("bad-end", at(END))])),
    },
    Case {
        file: "bad-parts.rfrec",
        make: || {
            with(|log| {
                put(log, Kind::Meta, b"[]");
                put(log, Kind::Info, b"\x65\x00\x02");
                put(log, Kind::Status, b"\x65\x29");
                put(log, Kind::TimeRef, b"short");
            })
        },
        found: Ok((
            4,
            &[
                ("bad-meta", at(END + 48)),
                ("bad-info", at(END + 48 + 14)),
                ("bad-status", at(END + 48 + 29)),
                ("bad-timeref", at(END + 48 + 43)),
            ],
        )),
    },
    Case {
        file: "tick-back.rfrec",
        make: || {
            let mut parts = parts();
            parts.samples.swap(1, 2);
            parts.file()
        },
        found: Ok((4, &[("tick-steps-back", at(FIRST + 12 + 18))])),
    },
    Case {
        file: "gaps.rfrec",
        make: || {
            behind_header(|out, writer| {
                let samples = parts().samples;
                writer.samples(3, &samples[3], out).unwrap();
                writer.samples(1, &samples[1], out).unwrap();
            })
        },
        found: Ok((2, &[("partial", None)])),
    },
];

#[test]
fn every_corrupt_file_shows_its_problems() {
    let mut wrong = Vec::new();
    for case in CASES {
        let log = &FIXTURES.log("corrupt", case.file);
        let mut problems = Problems::default();
        match (Refloat.index(log, &ReadOptions::default(), &mut problems), &case.found) {
            (Err(error), Err((code, message))) if error.code == *code && error.message == *message => {}
            (Ok(_), Ok((samples, expected))) => {
                let found: Vec<_> = problems.list().iter().map(|problem| (problem.code, problem.at)).collect();
                let held = Recording::read(log).unwrap().held();
                if found != *expected || held != *samples {
                    wrong.push(format!("{}: {held} {found:?}, not {:?}", case.file, case.found));
                }
            }
            (found, _) => wrong.push(format!("{}: {:?} {problems:?}, not {:?}", case.file, found.err(), case.found)),
        }
        fuzzing::decode(log);
        fuzzing::recover(log);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_partial_file_says_how_to_go_on() {
    let found = |log: &[u8]| Recording::read(log).unwrap().problems.list().last().unwrap().message.clone();
    let resume = "run `logpose refloat fetch ADDRESS -o FILE` to continue while the board has the recording";
    assert_eq!(found(&cut(SECOND)), format!("2 of 4 samples are missing, from 2 on; {resume}"));
    assert_eq!(found(&cut(END)), format!("missing END, although all 4 samples are present; {resume}"));
    assert_eq!(found(&cut(META)), format!("missing HEADER, so there are no samples; {resume}"));
}

#[test]
fn what_is_whole_can_be_saved_with_its_numbers() {
    for (name, log) in FIXTURES.logs("corrupt") {
        let Ok(found) = Recording::read(&log) else {
            assert!(Refloat.mend(&log).is_none(), "{name}");
            continue;
        };
        let (mut mended, mut mend) = (Vec::new(), Refloat.mend(&log).unwrap());
        while mend(&mut mended) {}
        let again = Recording::read(&mended).unwrap();
        assert!(found.samples().eq(again.samples()), "{name}");
        assert_eq!(again.complete, again.header.is_some() && again.missing().is_empty(), "{name}");
    }
}

#[test]
fn what_a_damaged_block_cost_is_all_that_is_missing() {
    let log = flip(FIRST + 15);
    let found = Recording::read(&log).unwrap();
    assert_eq!(found.missing(), vec![Range { start: 0, end: 2 }]);
    assert!(!found.complete && found.timerefs.len() == 1);
    let (held, whole) = Recording::resumable(&log).unwrap();
    assert_eq!((whole, held.held(), held.missing()), (FIRST as u64, 0, vec![Range { start: 0, end: 4 }]));
}

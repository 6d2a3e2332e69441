//! Every file in `fixtures/dslog/valid` equals its dump.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_core::{Confidence, Dialect, ReadOptions, Severity};
use logpose_dslog::{Dslog, Version};

use crate::kit::{PDH, PDP, TEXTS, bless, events, fixtures, header, hex, index, log, run, workspace};

/// Our own files; `LOGPOSE_BLESS=1` writes them anew.
fn ours() -> Vec<(&'static str, Vec<u8>)> {
    let (pdp, pdh) = (hex(PDP), hex(PDH));
    let mut moved = pdh.clone();
    moved[0] = 10;
    let mut mixed = run(&pdp, b"");
    mixed.extend(run(&pdh, &pdp));
    mixed.extend(run(&moved, b""));
    vec![
        ("v3-pdp.dslog", log(Version::V3, &run(&pdp, b""))),
        ("v4-pdp.dslog", log(Version::V4, &run(&pdp, b""))),
        ("v4-pdh.dslog", log(Version::V4, &run(&pdh, b""))),
        ("v4-mixed.dslog", log(Version::V4, &mixed)),
        ("v4-empty.dslog", header(Version::V4)),
        ("match.dslog", log(Version::V4, &run(&pdh, b""))),
        ("match.dsevents", events(Version::V4, TEXTS)),
        ("v3.dsevents", events(Version::V3, &TEXTS[..4])),
    ]
}

pub(crate) fn dump(log: &[u8]) -> String {
    let mut text = String::new();
    let end = Dslog.records(log, &ReadOptions::default(), 0, &mut |line| {
        writeln!(text, "{:#06x} {:4} {}", line.at, line.length, line.text).unwrap();
        ControlFlow::Continue(())
    });
    if let Err(error) = end {
        writeln!(text, "{error}").unwrap();
    }
    text
}

fn dump_name(name: &str) -> String {
    format!("{name}.txt")
}

#[test]
fn every_valid_file_equals_its_dump() {
    let folder = workspace().join("fixtures/dslog/valid");
    if bless() {
        for (name, log) in ours() {
            std::fs::write(folder.join(name), &log).unwrap();
            std::fs::write(folder.join(dump_name(name)), dump(&log)).unwrap();
        }
    }
    for (name, log) in fixtures("valid") {
        let expected = std::fs::read_to_string(folder.join(dump_name(&name))).unwrap();
        assert_eq!(dump(&log), expected, "{name}");
        assert_eq!(Dslog.sniff(&log), Confidence::Yes, "{name}");
        let (_, problems) = index(&log);
        assert_ne!(problems.worst(), Some(Severity::Damage), "{name}: {problems:?}");
    }
}

#[test]
fn our_files_are_what_this_test_makes() {
    let found = fixtures("valid");
    for (name, log) in ours() {
        let file = found.iter().find(|(file, _)| file == name);
        assert!(file.is_some_and(|(_, bytes)| *bytes == log), "{name}: run with LOGPOSE_BLESS=1");
    }
}

#[test]
fn a_dump_can_begin_in_the_middle() {
    let log = events(Version::V4, TEXTS);
    let all = dump(&log);
    let from = all.lines().nth(5).unwrap();
    let at = u64::from_str_radix(from.split_whitespace().next().unwrap().trim_start_matches("0x"), 16).unwrap();
    let mut first = None;
    Dslog
        .records(&log, &ReadOptions::default(), at, &mut |line| {
            first = Some(line.text.to_string());
            ControlFlow::Break(())
        })
        .unwrap();
    assert!(from.ends_with(&first.unwrap()), "{from}");
}

//! Every file in `fixtures/dslog/valid` equals its dump.

use logpose_dslog::{Dslog, Version};
use logpose_testkit::Fixtures;

use crate::corrupt::CASES;
use crate::kit::{PDH, PDP, TEXTS, events, header, hex, log, run};

pub(crate) const FIXTURES: Fixtures = Fixtures { folder: "dslog", make: all };

fn all() -> Vec<(String, Vec<u8>)> {
    let valid = valid().into_iter().map(|(name, log)| (format!("valid/{name}"), log));
    valid.chain(CASES.iter().map(|case| (format!("corrupt/{}", case.file), (case.make)()))).collect()
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
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

#[test]
fn every_fixture_is_what_this_code_makes() {
    FIXTURES.check();
    FIXTURES.check_readme();
}

#[test]
fn every_valid_file_equals_its_dump() {
    FIXTURES.check_valid(&Dslog);
}

#[test]
fn a_dump_can_begin_in_the_middle() {
    FIXTURES.check_dumps_from_anywhere(&Dslog);
}

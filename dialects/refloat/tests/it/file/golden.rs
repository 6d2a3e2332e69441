//! Every file in `fixtures/refloat/valid` equals its dump.

use logpose_core::Severity;
use logpose_refloat::Refloat;
use logpose_refloat::rfrec::{Block, Kind, Recording};
use logpose_sim::board::{BoardVersion, Scenario};
use logpose_testkit::{Fixtures, bless};

use super::corrupt::CASES;
use super::kit::{EXAMPLE, Parts, again, hex, index, ridden, ride, sample};

pub(crate) const FIXTURES: Fixtures = Fixtures { folder: "refloat", make: all };

/// The files of simulated rides stay as they are until they are written anew: rides may become more like real ones.
fn all() -> Vec<(String, Vec<u8>)> {
    let simulated = if bless() { simulated() } else { Vec::new() };
    let valid = valid().into_iter().chain(simulated).map(|(name, log)| (format!("valid/{name}"), log));
    valid.chain(CASES.iter().map(|case| (format!("corrupt/{}", case.file), (case.make)()))).collect()
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
    let one = |ids: &[&str], samples: Vec<Vec<u8>>| Parts {
        ids: ids.iter().map(|id| (*id).to_owned()).collect(),
        samples,
        ..Parts::default()
    };
    let ticks = |ticks: &[u32]| ticks.iter().map(|tick| sample(*tick, 0x0d, &[f32::from(*tick as u8)])).collect();
    let codes = [0x0000, 0x8000, 0x0001, 0x03ff, 0x7bff, 0x7c00, 0x7e00, 0x7fff, 0xfc00, 0xffff_u16];
    let codes = (0..).zip(codes).map(|(tick, code)| {
        let mut bytes = sample(tick * 12, 0x3d, &[]);
        bytes.extend_from_slice(&code.to_be_bytes());
        bytes
    });
    let wrap = [4_294_967_293, 4_294_967_294, 4_294_967_295, 0, 133, 144];
    vec![
        ("example.rfrec", hex(EXAMPLE)),
        ("v1.2.rfrec", ride(2, 21).file()),
        ("v1.3.rfrec", ride(3, 24).file()),
        ("nothing.rfrec", ride(3, 0).file()),
        ("ticks-wrap.rfrec", one(&["erpm"], ticks(&wrap)).file()),
        ("equal-ticks.rfrec", one(&["erpm"], ticks(&[7, 7, 8, 8, 8])).file()),
        ("codes.rfrec", one(&["setpoint"], codes.collect()).file()),
        ("no-values.rfrec", one(&[], vec![sample(1, 0, &[]), sample(2, 0xff, &[])]).file()),
        ("same-id-twice.rfrec", one(&["x", "running", "x"], vec![sample(1, 1, &[1.0, 2.0, 3.0])]).file()),
        ("any-order.rfrec", any_order()),
        ("other-package.rfrec", other_package()),
    ]
}

/// The blocks of a ride in another order, some of them twice, and one that nobody knows.
fn any_order() -> Vec<u8> {
    let parts = ride(2, 9);
    let (mut out, mut writer) = parts.begin();
    Block { kind: Kind::Unknown(0x42), payload: b"of a later version" }.emit(&mut out);
    for (from, to) in [(6, 9), (0, 2), (1, 4), (3, 6), (0, 9)] {
        writer.samples(from as u32, &parts.samples[from..to].concat(), &mut out).unwrap();
    }
    writer.end(&mut out).unwrap();
    writer.timeref(&parts.timeref.unwrap(), &mut out);
    out
}

fn other_package() -> Vec<u8> {
    let mut parts = ride(3, 1);
    let info = parts.info.as_mut().unwrap();
    info[4..11].copy_from_slice(b"Fork\0\0\0");
    info[24] = 9;
    parts.file()
}

/// The last samples of simulated rides.
fn simulated() -> Vec<(&'static str, Vec<u8>)> {
    let last = |scenario, version| {
        let mut parts = ridden(scenario, version);
        parts.samples.drain(..parts.samples.len() - 40);
        parts.file()
    };
    vec![
        ("ride-1.1.rfrec", last(Scenario::Ride, BoardVersion::V1_1)),
        ("nosedive-1.2.rfrec", last(Scenario::Nosedive, BoardVersion::V1_2)),
        ("nosedive-1.3.rfrec", last(Scenario::Nosedive, BoardVersion::V1_3)),
    ]
}

#[test]
fn every_fixture_is_what_this_code_makes() {
    FIXTURES.check();
    FIXTURES.check_readme();
}

#[test]
fn every_valid_file_equals_its_dump() {
    FIXTURES.check_valid(&Refloat);
    for (name, log) in FIXTURES.logs("valid") {
        let (_, problems) = index(&log);
        assert!(problems.worst() <= Some(Severity::Note), "{name}: {problems:?}");
        assert!(Recording::read(&log).unwrap().complete, "{name}");
    }
}

#[test]
fn every_valid_file_in_its_canonical_form_comes_back_to_the_byte() {
    for (name, log) in FIXTURES.logs("valid") {
        let (made, problems) = again(&log).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(problems.is_empty(), "{name}: {problems:?}");
        let (one, two) = (Recording::read(&log).unwrap(), Recording::read(&made).unwrap());
        assert!(one.samples().eq(two.samples()) && two.complete, "{name}");
        let canonical = !["any-order.rfrec"].contains(&&*name);
        assert_eq!(made == log, canonical, "{name}");
    }
}

#[test]
fn every_simulated_ride_survives_its_channels_to_the_byte() {
    for scenario in Scenario::ALL {
        for version in [BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3] {
            let log = ridden(scenario, version).file();
            let (made, problems) = again(&log).unwrap();
            assert!(made == log && problems.is_empty(), "{} {version:?}: {problems:?}", scenario.name());
            let recording = Recording::read(&log).unwrap();
            let problems = recording.problems.list();
            assert!(recording.complete && problems.is_empty(), "{} {version:?}: {problems:?}", scenario.name());
        }
    }
}

#[test]
fn a_dump_can_begin_in_the_middle() {
    FIXTURES.check_dumps_from_anywhere(&Refloat);
}

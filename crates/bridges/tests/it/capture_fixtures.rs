//! The captures in `fixtures/pcap`, as code. `make bless` writes them.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_bridges::fuzzing;
use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_testkit::{Fixtures, fixture, golden};

use crate::bridge;
use crate::capture_kit::{
    Classic, Conversation, OTHER_ROBOT, Pcapng, ROBOT, STATION, Traffic, console, cooked2, ethernet, ip, pcap, raw,
    see, udp,
};
use crate::capture_tcp::{rlog, rlog_connection, send};

const FIXTURES: Fixtures = Fixtures { folder: "pcap", make: all };

fn all() -> Vec<(String, Vec<u8>)> {
    let valid = valid().into_iter().map(|(name, file)| (format!("valid/{name}"), file));
    valid.chain(corrupt().into_iter().map(|(name, file, ..)| (format!("corrupt/{name}"), file))).collect()
}

/// The first packets of a link, with a console line on a connection beside it.
fn link() -> Traffic {
    let mut traffic = Traffic(Traffic::link(STATION, ROBOT).0[18..30].to_vec());
    let side = Conversation::side((100, 4_294_967_290));
    side.open(185, &mut traffic);
    side.client(186, 0, &[0, 4, 0x0e, b'L', b'R', b'L', 0, 0], &mut traffic);
    side.server(187, 0, &[console(1, "first"), console(2, "second")].concat(), &mut traffic);
    Traffic::default().and(traffic)
}

fn pcapng(traffic: &Traffic, big: bool) -> Vec<u8> {
    let mut file = Pcapng::new(big);
    file.interface(1, 0, &[(2, b"eth0")]).all(&traffic.frames(ethernet));
    file.bytes
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
    let connection = rlog_connection(ROBOT, STATION, 60_000);
    let mut with_rlog = link();
    connection.open(190, &mut with_rlog);
    let pieces: Vec<_> = rlog(["/A", "/B"], 200).into_iter().map(|(ms, bytes)| (ms + 100, bytes)).collect();
    send(&connection, &pieces, &mut with_rlog);
    let two = Traffic(Traffic::link(STATION, ROBOT).and(Traffic::link(STATION, OTHER_ROBOT)).0[..24].to_vec());
    let nanos = Classic { big: true, nanos: true, link: 101, ..Classic::default() };
    vec![
        ("link.pcap", link().capture()),
        ("link.pcapng", pcapng(&link(), false)),
        ("big-endian.pcapng", pcapng(&link(), true)),
        ("nanoseconds-raw-ip.pcap", pcap(&nanos, &link().frames(raw))),
        ("rlog.pcap", Traffic::default().and(with_rlog).capture()),
        ("two-robots-cooked.pcap", pcap(&Classic { link: 276, ..Classic::default() }, &two.frames(cooked2))),
    ]
}

/// Files with what must be found in them: a code, and the byte if it has one.
fn corrupt() -> Vec<(&'static str, Vec<u8>, &'static str, Option<u64>)> {
    let whole = link().capture();
    let ng = pcapng(&link(), false);
    let mut nonsense = ng.clone();
    nonsense[72 + 104 + 4..][..4].copy_from_slice(&[0xff, 0xff, 0, 0]);
    let mut malformed = link();
    malformed.control(400, &[0, 1]);
    let mut fragment = link();
    let mut first = ip(STATION, ROBOT, 17, &udp(50_000, 1110, &[0; 8]));
    first[6] = 0x20;
    fragment.0.push((malformed.0[0].0, first));
    let mut holes = Traffic::default();
    let side = Conversation::side((100, 200));
    side.open(0, &mut holes);
    side.server(1, 0, &console(1, "before"), &mut holes);
    side.server(2, 40, &[console(3, "behind"), console(4, "and more")].concat(), &mut holes);
    let mut middle = Traffic::default();
    side.server(1, 500, &[&[7, 7, 7][..], &console(3, "x")].concat(), &mut middle);
    side.server(2, 513, &[console(4, "found"), console(5, "again")].concat(), &mut middle);
    side.client(3, 0, &[], &mut middle);
    let cut = Classic { snaplen: 49, ..Classic::default() };
    let radio = Classic { link: 127, ..Classic::default() };
    let alone = Traffic(link().0.into_iter().filter(|(_, packet)| packet[9] == 17 && packet[15] == 5).collect());
    vec![
        ("cut.pcap", whole[..whole.len() - 3].to_vec(), "truncated", Some(whole.len() as u64 - 76)),
        ("cut.pcapng", ng[..ng.len() - 3].to_vec(), "truncated", Some(ng.len() as u64 - 104)),
        ("length.pcapng", nonsense, "truncated", Some(72 + 104)),
        ("malformed.pcap", malformed.capture(), "", None),
        ("fragment.pcap", fragment.capture(), "fragment", None),
        ("hole.pcap", holes.capture(), "missing-segment", None),
        ("middle.pcap", middle.capture(), "middle-of-stream", None),
        ("snaplen.pcap", pcap(&cut, &link().frames(ethernet)), "cut-packet", None),
        ("radio.pcap", pcap(&radio, &link().frames(raw)), "link-type", None),
        ("one-sided.pcap", alone.capture(), "one-sided", None),
    ]
}

/// All facts, channels and samples.
fn dump(file: &[u8]) -> String {
    let pcap = bridge("pcap");
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    pcap.unpack(file, &ReadOptions::default(), &mut store, &mut problems).unwrap();
    let index = pcap.index(&store, &ReadOptions::default(), &mut problems).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let mut out = String::new();
    for fact in &index.facts {
        writeln!(out, "{}: {}", fact.key, fact.value).unwrap();
    }
    let mut line = |line: logpose_core::RecordLine<'_>| {
        writeln!(out, "{}", line.text).unwrap();
        ControlFlow::Continue(())
    };
    pcap.records(&store, &ReadOptions::default(), 0, &mut line).unwrap();
    out
}

#[test]
fn the_fixtures_are_what_the_code_makes() {
    FIXTURES.check();
    FIXTURES.check_readme();
}

#[test]
fn every_valid_capture_equals_its_dump() {
    for (name, file) in FIXTURES.logs("valid") {
        golden(&fixture("pcap/valid").join(format!("{name}.txt")), dump(&file));
    }
}

#[test]
fn every_corrupt_capture_has_its_problem() {
    for (name, file, code, at) in corrupt() {
        let seen = see(&file);
        let problems = seen.problems.list();
        let found = problems.iter().find(|problem| code.is_empty() || problem.code == code);
        let found = found.unwrap_or_else(|| panic!("{name}: {problems:?}"));
        if at.is_some() {
            assert_eq!(found.at, at, "{name}: {problems:?}");
        }
    }
}

#[test]
fn what_is_fuzzed_holds_for_every_fixture() {
    let files: Vec<_> = ["valid", "corrupt"].into_iter().flat_map(|kind| FIXTURES.logs(kind)).collect();
    files.iter().for_each(|(_, file)| fuzzing::decode_pcap(file));
    assert!(files.len() >= 16, "{}", files.len());
}

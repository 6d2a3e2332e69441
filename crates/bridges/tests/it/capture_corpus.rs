//! The real captures of the shared corpus, which is not part of this repository.

use std::collections::HashMap;

use logpose_bridges::fuzzing;
use logpose_testkit::corpus_file;

use crate::capture_kit::{Seen, see};

fn capture(name: &str) -> (Vec<u8>, Seen) {
    let bytes = corpus_file(&format!("ds/{name}"));
    let seen = see(&bytes);
    (bytes, seen)
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Times in microseconds and Ethernet frames: enhanced packets behind a section and an interface.
fn of_pcapng(file: &[u8]) -> Vec<(i64, &[u8])> {
    let (mut at, mut frames) = (0, Vec::new());
    while at < file.len() {
        if word(file, at) == 6 {
            let us = (word(file, at + 12) as i64) << 32 | word(file, at + 16) as i64;
            frames.push((us, &file[at + 28..at + 28 + word(file, at + 20)]));
        }
        at += word(file, at + 4);
    }
    frames
}

fn of_pcap(file: &[u8]) -> Vec<(i64, &[u8])> {
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let us = word(file, at) as i64 * 1_000_000 + word(file, at + 4) as i64;
        let length = word(file, at + 8);
        frames.push((us, &file[at + 16..at + 16 + length]));
        at += 16 + length;
    }
    frames
}

/// The times of replies from the first packet on, and how long each took, by the number that it echoes.
fn trips(frames: &[(i64, &[u8])]) -> Vec<(i64, f64)> {
    let mut sent = HashMap::new();
    let mut trips = Vec::new();
    for (us, frame) in frames {
        let udp = frame[23] == 17;
        let port = u16::from_be_bytes([frame[36], frame[37]]);
        let number = || u16::from_be_bytes([frame[42], frame[43]]);
        match (udp, port) {
            (true, 1110) => drop(sent.insert(number(), *us)),
            (true, 1150) => trips.push((us - frames[0].0, (us - sent[&number()]) as f64 / 1e6)),
            _ => {}
        }
    }
    trips
}

fn compare_trips(frames: &[(i64, &[u8])], seen: &Seen) {
    let expected = trips(frames);
    let times: Vec<i64> = seen.samples("/ds/trip_time").iter().map(|(us, _)| *us).collect();
    assert_eq!(times, expected.iter().map(|(us, _)| *us).collect::<Vec<_>>());
    for (found, (_, expected)) in seen.doubles("/ds/trip_time").iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_driver_station_and_a_roborio_of_2024() {
    let (file, seen) = capture("rio2_2024_connect_ds_only.pcapng");
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.fact("packets"), "855");
    assert_eq!(seen.fact("links"), "10.88.91.5 with 10.88.91.2");
    let count = |name: &str| seen.samples(name).len();
    // Two lists of versions, whose ends are messages too.
    let ends = 2;
    let messages = ["/ds/console", "/ds/errors", "/ds/events", "/ds/versions", "/ds/unknown/to_station/0d"];
    assert_eq!(messages.map(count).iter().sum::<usize>() + ends, 1672);
    assert_eq!(count("/ds/console"), count("/ds/console/sequence"));
    assert_eq!((count("/ds/match"), count("/ds/battery"), count("/ds/disk_free")), (1, 250, 5));
    assert!(seen.flags("/ds/control/enabled").iter().all(|(_, enabled)| !enabled));
    assert!(seen.texts("/ds/versions")[0].contains("FRC_roboRIO2_2024_v2.2"));
    let frames = of_pcapng(&file);
    assert_eq!(frames.len(), 855);
    compare_trips(&frames, &seen);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_simulated_robot_of_2026() {
    let (file, seen) = capture("wpilib_sim_2026_station.pcap");
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.fact("unused_packets"), "simulator beacons (UDP 1135) 87");
    for side in ["control", "status"] {
        let values = |what: &str| -> Vec<bool> {
            seen.flags(&format!("/ds/{side}/{what}")).iter().map(|(_, value)| *value).collect()
        };
        assert_eq!(values("enabled"), [false, true, false, true], "{side}");
        assert_eq!(values("autonomous"), [false, true, false]);
        assert_eq!(values("test"), [false, true, false]);
        assert_eq!(values("estop"), [false, true, false]);
    }
    for what in ["axes", "buttons", "povs", "descriptor", "outputs", "rumble"] {
        assert!(!seen.samples(&format!("/ds/joystick/0/{what}")).is_empty(), "{what}");
    }
    assert!(seen.samples("/ds/control/countdown").len() > 200);
    compare_trips(&of_pcap(&file), &seen);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn damaged_copies_of_real_captures_do_no_harm() {
    let (file, _) = capture("wpilib_sim_2026_station.pcap");
    for cut in (0..file.len()).step_by(7919) {
        fuzzing::decode_pcap(&file[..cut]);
        let mut flipped = file.clone();
        flipped[cut] ^= 0xff;
        fuzzing::decode_pcap(&flipped);
    }
}

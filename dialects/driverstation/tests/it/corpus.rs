//! Captures of real peers from the shared corpus, which is not part of this repository.

use std::collections::{BTreeMap, HashMap};

use logpose_core::Time;
use logpose_driverstation::fuzzing;
use logpose_driverstation::wire::{
    CONTROL_PORT, Control, ControlTag, Messages, STATUS_PORT, Status, StatusTag, TCP_PORT, Tags, ToRobot, ToStation,
    plausible,
};
use logpose_testkit::corpus_file;

use crate::kit::Play;

/// One piece of traffic: a datagram, or what one TCP segment adds to its stream.
struct Piece {
    time: Time,
    udp: bool,
    from: u16,
    to: u16,
    bytes: Vec<u8>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The frames of a little-endian pcap or pcapng file with microseconds. No more than these two files need.
fn frames(file: &[u8]) -> Vec<(Time, &[u8])> {
    let mut frames = Vec::new();
    if file.starts_with(&[0xd4, 0xc3, 0xb2, 0xa1]) {
        let mut at = 24;
        while at < file.len() {
            let (s, us, length) = (u32_at(file, at), u32_at(file, at + 4), u32_at(file, at + 8) as usize);
            let time = Time::from_micros(i64::from(s) * 1_000_000 + i64::from(us));
            frames.push((time, &file[at + 16..at + 16 + length]));
            at += 16 + length;
        }
    } else {
        let mut at = 0;
        while at < file.len() {
            if u32_at(file, at) == 6 {
                let us = i64::from(u32_at(file, at + 12)) << 32 | i64::from(u32_at(file, at + 16));
                let length = u32_at(file, at + 20) as usize;
                frames.push((Time::from_micros(us), &file[at + 28..at + 28 + length]));
            }
            at += u32_at(file, at + 4) as usize;
        }
    }
    frames
}

/// Datagrams and segments of a capture without holes, retransmissions or fragments.
fn pieces(file: &[u8]) -> (usize, Vec<Piece>) {
    let frames = frames(file);
    let count = frames.len();
    let mut next: HashMap<(u16, u16), u32> = HashMap::new();
    let mut pieces = Vec::new();
    for (time, frame) in frames {
        let ip = &frame[14..];
        assert_eq!(ip[0] >> 4, 4);
        let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
        // Short frames are padded: the length is that of the headers.
        let (udp, body) = (ip[9] == 17, &ip[usize::from(ip[0] & 15) * 4..total]);
        let port = |at: usize| u16::from_be_bytes([body[at], body[at + 1]]);
        let (from, to) = (port(0), port(2));
        let bytes = if udp {
            body[8..usize::from(port(4))].to_vec()
        } else {
            let sequence = u32::from_be_bytes(body[4..8].try_into().unwrap());
            if body[13] & 2 != 0 {
                next.insert((from, to), sequence.wrapping_add(1));
                continue;
            }
            let bytes = body[usize::from(body[12] >> 4) * 4..].to_vec();
            if !bytes.is_empty() {
                let expected = next.insert((from, to), sequence.wrapping_add(bytes.len() as u32));
                assert_eq!(expected, Some(sequence), "this walker knows no other order");
            }
            bytes
        };
        pieces.push(Piece { time, udp, from, to, bytes });
    }
    (count, pieces)
}

/// How many there were of each.
#[derive(Debug, Default, PartialEq)]
struct Count {
    control: usize,
    status: usize,
    to_robot: usize,
    to_station: usize,
    other: usize,
}

/// Every packet and message decodes, encodes to the same bytes, and goes through a mapper.
fn walk(file: &[u8]) -> (usize, Count, Play) {
    let (frames, pieces) = pieces(file);
    let (mut count, mut play) = (Count::default(), Play::default());
    let (mut to_robot, mut to_station) = (Messages::default(), Messages::default());
    for piece in &pieces {
        let (now, bytes) = (piece.time, &piece.bytes[..]);
        match (piece.udp, piece.from, piece.to) {
            (true, _, CONTROL_PORT) => {
                count.control += 1;
                let packet = Control::parse(bytes).unwrap();
                let mut tags = Vec::new();
                packet.tags.for_each(|tag| ControlTag::parse(tag.unwrap()).unwrap().emit(&mut tags));
                let mut out = Vec::new();
                Control { tags: Tags::new(&tags, Control::HEADER), ..packet }.emit(&mut out);
                assert_eq!(out, bytes);
                fuzzing::roundtrip(bytes);
                play.mapper.control(now, 0, bytes, &mut play.sink).unwrap();
            }
            (true, _, STATUS_PORT) => {
                count.status += 1;
                let packet = Status::parse(bytes).unwrap();
                let mut tags = Vec::new();
                packet.tags.for_each(|tag| StatusTag::parse(tag.unwrap()).unwrap().emit(&mut tags));
                let mut out = Vec::new();
                Status { tags: Tags::new(&tags, Status::HEADER), ..packet }.emit(&mut out);
                assert_eq!(out, bytes);
                fuzzing::roundtrip(bytes);
                play.mapper.status(now, 0, bytes, &mut play.sink).unwrap();
            }
            (false, _, TCP_PORT) => {
                to_robot.push(bytes);
                while let Some((at, body)) = to_robot.next() {
                    count.to_robot += 1;
                    let message = ToRobot::parse(body).unwrap();
                    assert!(message.rest().is_empty());
                    let mut out = Vec::new();
                    message.emit(&mut out);
                    assert_eq!(out[2..], *body);
                    play.mapper.to_robot(now, at, body, &mut play.sink).unwrap();
                }
            }
            (false, TCP_PORT, _) => {
                to_station.push(bytes);
                while let Some((at, body)) = to_station.next() {
                    count.to_station += 1;
                    let message = ToStation::parse(body).unwrap();
                    assert!(message.rest().is_empty());
                    let mut out = Vec::new();
                    message.emit(&mut out);
                    assert_eq!(out[2..], *body);
                    play.mapper.to_station(now, at, body, &mut play.sink).unwrap();
                }
            }
            _ => count.other += 1,
        }
    }
    assert_eq!((to_robot.rest_len(), to_station.rest_len()), (0, 0), "no byte is left over");
    play.mapper.finish(&mut play.sink).unwrap();
    assert!(play.sink.problems.is_empty(), "{:?}", play.sink.problems);
    (frames, count, play)
}

/// How many samples each channel has.
fn counts(play: &Play) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for line in &play.sink.lines {
        if let Some(name) = line.split(' ').nth(1) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_roborio_2_and_its_station_connect() {
    let file = corpus_file("ds/rio2_2024_connect_ds_only.pcapng");
    let (frames, count, play) = walk(&file);
    assert_eq!(frames, 855);
    assert_eq!(count, Count { control: 255, status: 251, to_robot: 4, to_station: 1672, other: 0 });
    let counts = counts(&play);
    let some =
        ["/ds/console", "/ds/console/time", "/ds/errors", "/ds/events", "/ds/versions", "/ds/unknown/to_station/0d"];
    assert_eq!(some.map(|name| counts[name]), [723, 723, 941, 1, 4, 1]);
    let lost = play.sink.values("/ds/lost");
    assert_eq!((lost.len(), lost.iter().filter(|lost| **lost == "true").count()), (255, 4));
    assert_eq!(counts["/ds/trip_time"], 251);
    // The battery of the first packet is nonsense: the date was wanted.
    assert_eq!((counts["/ds/battery"], counts["/ds/control/date"]), (250, 3));
    assert_eq!(play.sink.values("/ds/status/code"), ["false", "true"]);
    assert_eq!(play.sink.values("/ds/disk_free")[0], "3231232000");
    assert_eq!(play.sink.values("/ds/control/timezone"), ["PST8PDT"]);
    assert_eq!(play.sink.values("/ds/control/enabled"), ["false"]);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_simulator_of_wpilib_and_a_station() {
    let file = corpus_file("ds/wpilib_sim_2026_station.pcap");
    let (frames, count, play) = walk(&file);
    assert_eq!(frames, 734);
    assert_eq!(count, Count { control: 318, status: 318, to_robot: 11, to_station: 0, other: 87 });
    let values = |name: &str| play.sink.values(name).join(" ");
    // The simulator sends the station's byte back.
    for side in ["control", "status"] {
        assert_eq!(values(&format!("/ds/{side}/enabled")), "false true false true");
        assert_eq!(values(&format!("/ds/{side}/autonomous")), "false true false");
        assert_eq!(values(&format!("/ds/{side}/test")), "false true false");
        assert_eq!(values(&format!("/ds/{side}/estop")), "false true false");
    }
    // Left 0.25 and right 1.0 were asked for: the simulator has them the other way round.
    assert_eq!(values("/ds/joystick/1/rumble"), "[0.0, 0.0] [1.0, 0.24998855573357748]");
    assert_eq!(play.sink.values("/ds/lost"), ["false"; 318]);
    let counts = counts(&play);
    assert_eq!(
        (counts["/ds/trip_time"], counts["/ds/joystick/0/axes"], counts["/ds/control/countdown"]),
        (318, 312, 218)
    );
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn messages_are_found_in_the_middle_of_a_stream() {
    let file = corpus_file("ds/rio2_2024_connect_ds_only.pcapng");
    let (_, pieces) = pieces(&file);
    let segments = pieces.iter().filter(|piece| !piece.udp && piece.from == TCP_PORT && !piece.bytes.is_empty());
    // Where messages begin, and where segments do.
    let (mut messages, mut offset) = (Messages::default(), 0);
    let (mut begins, mut starts) = (Vec::new(), Vec::new());
    for segment in segments {
        starts.push((offset, &segment.bytes[..]));
        offset += segment.bytes.len() as u64;
        messages.push(&segment.bytes);
        while let Some((at, _)) = messages.next() {
            begins.push(at);
        }
    }
    let (mut right, mut wrong) = (0, 0);
    for (at, bytes) in &starts {
        if plausible(bytes, false) {
            *if begins.contains(at) { &mut right } else { &mut wrong } += 1;
        }
    }
    // 76 segments begin with a message, and 16 of them have no second one that is whole.
    assert_eq!((starts.len(), right, wrong), (249, 60, 0));
}

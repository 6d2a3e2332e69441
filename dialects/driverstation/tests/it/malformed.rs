//! The rules of section 10, one by one.

use logpose_core::Severity;
use logpose_driverstation::wire::{
    Control, ControlTag, Messages, Status, StatusTag, TagProblem, ToRobot, ToStation, plausible,
};

use crate::kit::{Play, bytes, ms};

/// What a status packet with these tags gives besides what every packet gives, and its problems.
fn status(tags: &str) -> (Vec<String>, Vec<String>) {
    reported(tags, "00 01 01 00 31 0c 00 00", |play, datagram| {
        play.mapper.status(ms(0), 100, datagram, &mut play.sink).unwrap()
    })
}

fn control(tags: &str) -> (Vec<String>, Vec<String>) {
    reported(tags, "00 01 01 00 10 00", |play, datagram| {
        play.mapper.control(ms(0), 100, datagram, &mut play.sink).unwrap()
    })
}

fn reported(tags: &str, header: &str, put: fn(&mut Play, &[u8])) -> (Vec<String>, Vec<String>) {
    let mut play = Play::default();
    put(&mut play, &bytes(&format!("{header} {tags}")));
    let usual = |line: &String| {
        ["/ds/status/", "/ds/battery", "/ds/connected", "/ds/control/bits", "/ds/control/request", "/ds/control/e"]
            .iter()
            .chain(&["/ds/control/autonomous", "/ds/control/test", "/ds/control/fms", "/ds/control/station"])
            .any(|name| line.contains(name))
    };
    let lines = play.sink.take().into_iter().filter(|line| !usual(line)).collect();
    let problem = |p: &logpose_core::Problem| format!("{}+{} {} {p}", p.at.unwrap(), p.length, p.severity.name());
    (lines, play.sink.problems.iter().map(problem).collect())
}

#[test]
fn a_packet_shorter_than_its_header_is_one_problem_and_no_record() {
    for length in 0..8 {
        let mut play = Play::default();
        play.mapper.status(ms(0), 7, &[0; 8][..length], &mut play.sink).unwrap();
        assert!(play.sink.lines.is_empty() && play.sink.channels.is_empty());
        let [problem] = &play.sink.problems[..] else { panic!("{:?}", play.sink.problems) };
        assert_eq!((problem.at, problem.length, problem.code), (Some(7), length as u64, "short-packet"));
        assert_eq!(problem.severity, Severity::Damage);
        assert_eq!(problem.message, format!("a status packet needs 8 bytes, {length} left; lost the packet"));
    }
    for length in 0..6 {
        let mut play = Play::default();
        play.mapper.control(ms(0), 7, &[0; 6][..length], &mut play.sink).unwrap();
        assert_eq!((play.sink.lines.len(), play.sink.problems.len()), (0, 1));
        // It was no packet that could be lost.
        play.reply(1, 0);
        assert!(play.sink.below("/ds/trip_time").is_empty() && play.sink.below("/ds/lost").is_empty());
    }
}

#[test]
fn a_tag_of_size_0_is_stepped_over() {
    let (lines, problems) = status("00 09 06 00 00 00 00 00 00 00 05");
    assert_eq!(lines, ["0.000 /ds/ram_free 5"]);
    assert_eq!(problems, ["108+1 warning byte 0x6c: status packet: a tag of size 0; skipped one byte: 00"]);
}

#[test]
fn a_tag_that_claims_too_much_ends_the_packet_and_those_before_it_stand() {
    let (lines, problems) = status("09 06 00 00 00 00 00 00 00 05 09 04 00 00");
    assert_eq!(lines, ["0.000 /ds/ram_free 5"]);
    assert_eq!(
        problems,
        [
            "118+4 damage byte 0x76: status packet: a tag needs 9 bytes, 3 left; lost the rest of the packet: 09 04 00 00"
        ]
    );
    let (lines, problems) = control("05");
    assert_eq!(lines, [""; 0]);
    assert_eq!(
        problems,
        ["106+1 damage byte 0x6a: control packet: a tag needs 5 bytes, 0 left; lost the rest of the packet: 05"]
    );
}

#[test]
fn a_known_tag_that_is_too_short_is_kept_and_what_is_behind_it_is_read() {
    let (lines, problems) = status("03 06 01 02 09 04 00 00 00 00 00 00 00 07");
    assert_eq!(lines, ["0.000 /ds/unknown/status/06 0102", "0.000 /ds/disk_free 7"]);
    assert_eq!(
        problems,
        ["108+4 damage byte 0x6c: status packet: tag 06: free RAM needs 8 bytes, 2 left; \
          kept its bytes: 03 06 01 02"]
    );
    let short = [
        ("08 01 00 00 00 05 00 00 00", "right rumble needs 2 bytes, 1 left"),
        ("01 05", "core count needs 1 bytes, 0 left"),
        ("0e 0e 00 00 00 00 00 00 00 00 00 00 00 00 00", "transmit errors needs 1 bytes, 0 left"),
        ("03 08 00 00", "power distribution needs 25 bytes, 2 left"),
    ];
    for (tag, expected) in short {
        let (_, problems) = status(tag);
        assert!(problems.len() == 1 && problems[0].contains(expected), "{tag}: {problems:?}");
    }
    let short = [
        ("04 07 00 00 00", "countdown needs 4 bytes, 3 left"),
        ("0a 0f 00 00 00 00 00 00 00 00 00", "date needs 10 bytes, 9 left"),
        ("03 0c 02 00", "axes needs 2 bytes, 1 left"),
        ("04 0c 00 09 00", "buttons needs 2 bytes, 1 left"),
        ("05 0c 00 00 01 ff", "POVs needs 2 bytes, 1 left"),
    ];
    for (tag, expected) in short {
        // Something is behind it, so that nothing is forgiven.
        let (lines, problems) = control(&format!("{tag} 02 77 05"));
        assert!(problems.len() == 1 && problems[0].contains(expected), "{tag}: {problems:?}");
        assert!(lines.contains(&"0.000 /ds/unknown/control/77 05".to_owned()), "{lines:?}");
    }
}

#[test]
fn a_stick_that_cannot_be_read_has_its_place() {
    let (lines, problems) = control("03 0c 02 00 05 0c 01 7f 00 00");
    assert_eq!(
        lines[1..],
        ["0.000 /ds/joystick/1/axes [1.0]", "0.000 /ds/joystick/1/buttons []", "0.000 /ds/joystick/1/povs []",]
    );
    assert_eq!(problems.len(), 1);
    let (lines, problems) = status("02 01 05 09 01 00 00 00 07 00 00 00 00");
    assert!(lines.contains(&"0.000 /ds/joystick/1/outputs 7".to_owned()), "{lines:?}");
    assert_eq!(problems.len(), 1);
}

#[test]
fn the_count_of_cores_is_a_claim() {
    let (lines, problems) = status("12 05 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    assert_eq!(lines.len(), 1);
    assert!(problems[0].contains("tag 05: cores needs 32 bytes, 16 left"), "{problems:?}");
}

#[test]
fn a_known_tag_that_is_too_long_is_read_and_the_extra_bytes_are_kept() {
    let (lines, problems) = status("0b 06 00 00 00 00 00 00 00 05 aa bb 03 01 01 02");
    assert_eq!(lines, ["0.000 /ds/ram_free 5", "0.000 /ds/unknown/status/06 aabb", "0.000 /ds/unknown/status/01 0102"]);
    // Two bytes are no output.
    assert_eq!(problems.len(), 1);
    let (lines, problems) = control("06 07 40 00 00 00 99");
    assert_eq!(lines, ["0.000 /ds/control/countdown 2.0", "0.000 /ds/unknown/control/07 99"]);
    assert!(problems.is_empty());
    // Between the two panels it is the smaller one.
    let block = "00 ".repeat(27);
    let datagram = bytes(&format!("00 01 01 00 00 00 00 00 1c 08 {block}"));
    let tag = StatusTag::parse(Status::parse(&datagram).unwrap().tags.next().unwrap().unwrap()).unwrap();
    let StatusTag::PowerDistribution { pd, rest } = tag else { panic!("{tag}") };
    assert_eq!((pd.kind().channels(), rest), (16, &[0, 0][..]));
}

#[test]
fn what_is_unknown_is_no_problem() {
    let (lines, problems) = control("04 99 01 02 03 01 88");
    assert_eq!(lines, ["0.000 /ds/unknown/control/99 010203", "0.000 /ds/unknown/control/88 "]);
    assert!(problems.is_empty());
    let packet = bytes("00 01 63 ff ff ff");
    let packet = Control::parse(&packet).unwrap();
    assert_eq!((packet.version, packet.station.to_string()), (99, "station 255".to_owned()));
    let mut play = Play::default();
    play.mapper.status(ms(0), 0, &bytes("00 01 63 ff ff 0c 00 00"), &mut play.sink).unwrap();
    assert!(play.sink.problems.is_empty());
    assert_eq!(play.sink.values("/ds/status/bits"), ["255"]);
}

#[test]
fn a_message_shorter_than_its_layout_is_kept() {
    let mut play = Play::default();
    let body = bytes("0b 00 00 00 00 00 01 00 01 00 00 00 04 01 00 05 61 62");
    play.mapper.to_station(ms(3), 1000, &body, &mut play.sink).unwrap();
    assert_eq!(
        play.sink.take(),
        ["0.003 /ds/unknown/to_station/0b 00000000000100010000000401000561".to_owned() + "62"]
    );
    let problem = &play.sink.problems[0];
    // The size is two bytes, the id one, and the details begin 15 bytes behind it.
    assert_eq!((problem.at, problem.length, problem.code), (Some(1000 + 2 + 16), 2, "short-message"));
    assert_eq!(problem.message, "message 0b: details needs 5 bytes, 2 left; kept its bytes");
    for body in ["01 00 fe", "04 00 01 00", "05 00 01 00 02 00", "0a 00 00 00 00 01", "0c 00 00 00 00 00"] {
        assert!(ToStation::parse(&bytes(body)).is_err(), "{body}");
    }
    for body in ["02 00 01", "02 00 01 01 02 41", "07 01", "07 00", "07 00 02 00"] {
        assert!(ToRobot::parse(&bytes(body)).is_err(), "{body}");
    }
}

#[test]
fn a_message_that_is_not_all_there_waits() {
    let mut messages = Messages::new(40);
    messages.push(&[0]);
    assert_eq!(messages.next(), None);
    assert_eq!(messages.rest_len(), 1);
    messages.push(&bytes("04 0e 41"));
    assert_eq!(messages.next(), None);
    assert_eq!((messages.rest_len(), messages.offset()), (4, 40));
    let missing = messages.unfinished().unwrap();
    assert_eq!((missing.at, missing.to_string()), (40, "message needs 4 bytes, 2 left".to_owned()));
    messages.push(&bytes("41 41 00 00 00"));
    assert_eq!(messages.next(), Some((40, &b"\x0eAAA"[..])));
    assert_eq!(messages.next(), Some((46, &[][..])));
    assert_eq!(messages.next(), None);
    assert_eq!((messages.rest_len(), messages.offset()), (1, 48));
    assert_eq!(messages.unfinished().unwrap().to_string(), "message size needs 2 bytes, 1 left");
    messages.push(&[0]);
    assert_eq!(messages.next(), Some((48, &[][..])));
    assert_eq!(messages.unfinished(), None);
}

#[test]
fn two_known_messages_in_a_row_are_plausible() {
    let yes = ["00 04 0e 41 41 41 00 00", "00 06 07 00 00 00 00 00 00 01 0e 00 08", "00 00 00 00"];
    for text in yes {
        assert!(plausible(&bytes(text), true), "{text}");
    }
    let no =
        ["00 04 0e 41 41 41", "00 00", "00 01 55 00 01 0e", "00 00 00 00 08", "00 06 07 40 00 00 00 00 00 01 0e", ""];
    for text in no {
        assert!(!plausible(&bytes(text), true), "{text}");
    }
    assert!(plausible(&bytes("00 07 0c c4 21 50 75 00 12 00 06 0d 00 00 04 04 04"), false));
    assert!(!plausible(&bytes("00 07 0c c4 21 50 75 00 12 00 00"), false), "robots send no keepalives");
}

#[test]
fn problems_have_places_and_lengths() {
    let datagram = bytes("00 01 01 00 00 00 00 02 07 00 ff");
    let mut tags = Control::parse(&datagram).unwrap().tags;
    assert_eq!(tags.next(), Some(Err(TagProblem::Empty { at: 6 })));
    let short = tags.next().unwrap().and_then(ControlTag::parse).unwrap_err();
    assert_eq!((short.at(), short.length(), short.code()), (7, 3, "short-tag"));
    let long = tags.next().unwrap().unwrap_err();
    assert_eq!(long, TagProblem::TooLong { at: 10, size: 255, left: 0 });
    assert_eq!((long.length(), tags.next()), (1, None));
}

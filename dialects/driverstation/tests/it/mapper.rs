//! A link as samples: what is emitted when, in whatever order packets arrive.

use crate::kit::{Lines, Play, bytes, ms, samples};

#[test]
fn unchanged_values_are_emitted_once() {
    let mut play = Play::default();
    let enabled = bytes("00 01 01 06 10 04");
    play.mapper.control(ms(0), 0, &enabled, &mut play.sink).unwrap();
    assert_eq!(
        play.sink.take(),
        [
            "0.000 /ds/control/enabled true",
            "0.000 /ds/control/autonomous true",
            "0.000 /ds/control/test false",
            "0.000 /ds/control/estop false",
            "0.000 /ds/control/fms_attached false",
            "0.000 /ds/control/bits 6",
            "0.000 /ds/control/request 16",
            "0.000 /ds/control/station blue 2",
        ]
    );
    assert_eq!(play.sink.batches, 1, "the samples of one packet come in one call");
    play.mapper.control(ms(20), 0, &enabled, &mut play.sink).unwrap();
    assert_eq!((play.sink.take(), play.sink.batches), (vec![], 1));
    play.mapper.control(ms(40), 0, &bytes("00 03 01 82 10 04"), &mut play.sink).unwrap();
    let changed = ["0.040 /ds/control/enabled false", "0.040 /ds/control/estop true", "0.040 /ds/control/bits 130"];
    assert_eq!(play.sink.take(), changed);
}

#[test]
fn what_a_robot_says() {
    let mut play = Play::default();
    play.mapper.status(ms(0), 0, &bytes("00 01 01 15 38 0c 00 00"), &mut play.sink).unwrap();
    assert_eq!(
        play.sink.take(),
        [
            "0.000 /ds/connected true",
            "0.000 /ds/status/enabled true",
            "0.000 /ds/status/autonomous false",
            "0.000 /ds/status/test true",
            "0.000 /ds/status/estop false",
            "0.000 /ds/status/brownout true",
            "0.000 /ds/status/code_start false",
            "0.000 /ds/status/code true",
            "0.000 /ds/status/roborio true",
            "0.000 /ds/status/robot_disabled false",
            "0.000 /ds/status/robot_teleop false",
            "0.000 /ds/status/robot_autonomous false",
            "0.000 /ds/status/robot_test true",
            "0.000 /ds/status/bits 21",
            "0.000 /ds/status/trace 56",
            "0.000 /ds/battery 12.0",
        ]
    );
    play.mapper.status(ms(20), 0, &bytes("00 02 01 15 38 0c 00 00"), &mut play.sink).unwrap();
    assert_eq!(play.sink.take(), ["0.020 /ds/battery 12.0"]);
}

#[test]
fn replies_give_trip_times_and_verdicts() {
    let mut play = Play::default();
    for n in 0..3 {
        play.send(20 * i64::from(n), n);
        play.reply(20 * i64::from(n) + 2, n);
    }
    assert_eq!(play.sink.below("/ds/trip_time")[0], "0.002 /ds/trip_time 0.002");
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.002"; 3]);
    let expected = ["0.000 /ds/lost false", "0.020 /ds/lost false", "0.040 /ds/lost false"];
    assert_eq!(play.sink.below("/ds/lost"), expected);
    assert_eq!(play.sink.values("/ds/packet_loss"), ["0.0"; 3]);
}

#[test]
fn a_packet_is_lost_after_a_quarter_of_a_second_and_later_ones_wait_for_its_verdict() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(2, 1);
    play.send(20, 2);
    play.send(40, 3);
    play.reply(42, 3);
    play.reach(269);
    assert_eq!(play.sink.below("/ds/lost"), ["0.000 /ds/lost false"]);
    play.reach(270);
    let expected = ["0.000 /ds/lost false", "0.020 /ds/lost true", "0.040 /ds/lost false"];
    assert_eq!(play.sink.below("/ds/lost"), expected);
    assert_eq!(play.sink.values("/ds/packet_loss"), ["0.0", "0.5", "0.3333333333333333"]);
}

#[test]
fn replies_out_of_order_are_judged_in_the_order_of_sending() {
    let mut play = Play::default();
    (0..5).for_each(|n| play.send(20 * i64::from(n), n));
    play.reply(81, 0);
    for n in [4, 2, 3, 1] {
        play.reply(85, n);
    }
    let times: Vec<_> = play.sink.below("/ds/lost").iter().map(|line| line[..5].to_owned()).collect();
    assert_eq!(times, ["0.000", "0.020", "0.040", "0.060", "0.080"]);
    assert_eq!(play.sink.values("/ds/lost"), ["false"; 5]);
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.081", "0.005", "0.045", "0.025", "0.065"]);
}

#[test]
fn a_late_reply_has_a_trip_time_and_changes_no_verdict() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(1, 1);
    play.send(20, 2);
    // Nobody asked in between: the verdict is the same as if somebody had.
    play.reply(520, 2);
    assert_eq!(play.sink.below("/ds/lost"), ["0.000 /ds/lost false", "0.020 /ds/lost true"]);
    assert_eq!(play.sink.below("/ds/trip_time"), ["0.001 /ds/trip_time 0.001", "0.520 /ds/trip_time 0.5"]);
}

#[test]
fn a_reply_that_comes_twice_counts_once() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(1, 1);
    play.reply(30, 1);
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.001"]);
    assert_eq!(play.sink.values("/ds/lost"), ["false"]);
    assert_eq!(play.sink.values("/ds/battery").len(), 2, "its values are emitted all the same");
}

#[test]
fn a_packet_that_was_seen_twice_is_answered_twice() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(1, 1);
    play.send(20, 2);
    play.send(20, 2);
    play.reply(21, 2);
    assert_eq!(play.sink.values("/ds/lost"), ["false"; 3]);
}

#[test]
fn packets_before_the_first_reply_are_not_lost() {
    let mut play = Play::default();
    (0..100).for_each(|n| play.send(20 * i64::from(n), n));
    assert!(play.sink.below("/ds/lost").is_empty());
    play.reply(1981, 99);
    assert_eq!(play.sink.below("/ds/lost"), ["1.980 /ds/lost false"]);
}

#[test]
fn a_reply_to_a_packet_that_was_not_seen_begins_the_count_too() {
    let mut play = Play::default();
    play.send(0, 11);
    play.reply(1, 10);
    play.send(20, 12);
    play.reach(1000);
    assert_eq!(play.sink.below("/ds/lost"), ["0.020 /ds/lost true"]);
    assert!(play.sink.below("/ds/trip_time").is_empty());
}

#[test]
fn sequences_wrap() {
    let mut play = Play::default();
    for (n, sequence) in [65533, 65534, 65535, 0, 1].into_iter().enumerate() {
        play.send(20 * n as i64, sequence);
    }
    for sequence in [65533, 65535, 0, 65534, 1] {
        play.reply(90, sequence);
    }
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.09", "0.05", "0.03", "0.07", "0.01"]);
    assert_eq!(play.sink.values("/ds/lost"), ["false"; 5]);
}

#[test]
fn a_station_that_begins_anew_counts_anew() {
    let mut play = Play::default();
    for n in 1..=3 {
        play.send(20 * i64::from(n), n);
        play.reply(20 * i64::from(n) + 1, n);
    }
    for n in 1..=3 {
        play.send(1000 + 20 * i64::from(n), n);
        play.reply(1000 + 20 * i64::from(n) + 2, n);
    }
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.001", "0.001", "0.001", "0.002", "0.002", "0.002"]);
    assert_eq!(play.sink.values("/ds/lost"), ["false"; 6]);
}

#[test]
fn a_reply_never_comes_before_its_packet() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(1, 1);
    play.send(100, 2);
    // The clock of a capture stepped back.
    play.reply(50, 2);
    assert_eq!(play.sink.values("/ds/trip_time"), ["0.001"]);
}

#[test]
fn the_loss_is_that_of_the_last_25_packets() {
    let mut play = Play::default();
    for n in 0..60_u16 {
        play.send(20 * i64::from(n), n);
        // Five packets in the middle get no reply.
        if !(20..25).contains(&n) {
            play.reply(20 * i64::from(n) + 1, n);
        }
    }
    play.reach(5000);
    let loss = play.sink.values("/ds/packet_loss");
    assert_eq!((loss.len(), loss[19], loss[20]), (60, "0.0", "0.047619047619047616"));
    assert_eq!((loss[24], loss[30], loss[44], loss[45], loss[49]), ("0.2", "0.2", "0.2", "0.16", "0.0"));
}

#[test]
fn a_robot_that_is_silent_for_a_second_is_gone_since_then() {
    let mut play = Play::default();
    play.send(0, 1);
    play.reply(5, 1);
    play.reach(1005);
    assert_eq!(play.sink.below("/ds/connected"), ["0.005 /ds/connected true"]);
    play.send(1020, 2);
    assert_eq!(play.sink.below("/ds/connected").last(), Some(&"1.005 /ds/connected false"));
    play.reach(9000);
    play.reply(9001, 3);
    let expected = ["0.005 /ds/connected true", "1.005 /ds/connected false", "9.001 /ds/connected true"];
    assert_eq!(play.sink.below("/ds/connected"), expected);
}

#[test]
fn a_robot_that_never_answers_is_known_to_be_gone_after_a_second() {
    let mut play = Play::default();
    play.reach(0);
    assert!(play.sink.lines.is_empty());
    (0..100).for_each(|n| play.send(20 * i64::from(n), n));
    assert_eq!(play.sink.below("/ds/connected"), ["1.000 /ds/connected false"]);
}

#[test]
fn at_the_end_only_known_values_are_emitted() {
    let mut play = Play::default();
    for n in 0..4 {
        play.send(20 * i64::from(n), n);
    }
    play.reply(61, 0);
    play.reply(62, 2);
    play.mapper.finish(&mut play.sink).unwrap();
    // Packets 1 and 3 still had time.
    assert_eq!(play.sink.below("/ds/lost"), ["0.000 /ds/lost false", "0.040 /ds/lost false"]);
    play.mapper.finish(&mut play.sink).unwrap();
    assert_eq!(play.sink.below("/ds/lost").len(), 2);
}

#[test]
fn memory_does_not_grow_where_time_stands_still() {
    let mut play = Play::default();
    play.send(0, 0);
    play.reply(0, 0);
    (1..2000).for_each(|n| play.send(0, n));
    // More than ten seconds of packets are not remembered: the oldest are judged early.
    assert_eq!(play.sink.values("/ds/lost").len(), 2000 - 512);
}

#[test]
fn sticks_come_and_go() {
    let mut play = Play::default();
    let mut send = |at, tags: &str| {
        let datagram = bytes(&format!("00 01 01 00 10 00 {tags}"));
        play.mapper.control(ms(at), 0, &datagram, &mut play.sink).unwrap();
    };
    send(0, "");
    send(20, "01 0c 09 0c 01 7f 02 03 01 00 5a 00");
    send(40, "01 0c 09 0c 01 7f 02 03 01 00 5a 00");
    send(60, "01 0c 09 0c 01 80 02 01 01 00 5a 00");
    send(80, "01 0c");
    send(100, "01 0c 04 0c 00 00 00");
    assert_eq!(
        play.sink.below("/ds/joystick"),
        [
            "0.020 /ds/joystick/1/axes [1.0]",
            "0.020 /ds/joystick/1/buttons [1, 1]",
            "0.020 /ds/joystick/1/povs [90]",
            "0.060 /ds/joystick/1/axes [-1.0]",
            "0.060 /ds/joystick/1/buttons [1, 0]",
            "0.080 /ds/joystick/1/axes []",
            "0.080 /ds/joystick/1/buttons []",
            "0.080 /ds/joystick/1/povs []",
        ]
    );
    // One extra byte behind each stick is kept.
    assert_eq!(play.sink.values("/ds/unknown/control/0c"), ["00"; 3]);
}

#[test]
fn a_stick_that_lies_behind_damage_is_not_gone() {
    let mut play = Play::default();
    let datagram = bytes("00 01 01 00 10 00 05 0c 01 7f 00 00");
    play.mapper.control(ms(0), 0, &datagram, &mut play.sink).unwrap();
    play.mapper.control(ms(20), 0, &bytes("00 02 01 00 10 00 50"), &mut play.sink).unwrap();
    assert_eq!(play.sink.values("/ds/joystick/0/axes"), ["[1.0]"]);
    play.mapper.control(ms(40), 0, &bytes("00 03 01 00 10 00"), &mut play.sink).unwrap();
    assert_eq!(play.sink.values("/ds/joystick/0/axes"), ["[1.0]", "[]"]);
}

#[test]
fn outputs_of_sticks_end_when_they_are_left_out() {
    let mut play = Play::default();
    let mut say = |at, tags: &str| {
        let datagram = bytes(&format!("00 01 01 04 32 0c 00 00 {tags}"));
        play.mapper.status(ms(at), 0, &datagram, &mut play.sink).unwrap();
    };
    say(0, "");
    say(20, "01 01 09 01 80 00 00 05 00 00 ff ff");
    say(40, "01 01 09 01 80 00 00 05 00 00 ff ff");
    say(60, "");
    assert_eq!(
        play.sink.below("/ds/joystick"),
        [
            "0.020 /ds/joystick/1/outputs 2147483653",
            "0.020 /ds/joystick/1/rumble [0.0, 1.0]",
            "0.060 /ds/joystick/1/outputs 0",
            "0.060 /ds/joystick/1/rumble [0.0, 0.0]",
        ]
    );
}

#[test]
fn tags_of_both_directions_and_messages_have_their_channels() {
    let (all, mut play) = (samples(), Play::default());
    let mut now = 0;
    let mut tick = || {
        now += 20;
        ms(now)
    };
    let sink = &mut play.sink;
    all.control.iter().for_each(|datagram| play.mapper.control(tick(), 0, datagram, sink).unwrap());
    all.status.iter().for_each(|datagram| play.mapper.status(tick(), 0, datagram, sink).unwrap());
    all.to_robot.iter().for_each(|body| play.mapper.to_robot(tick(), 0, body, sink).unwrap());
    all.to_station.iter().for_each(|body| play.mapper.to_station(tick(), 0, body, sink).unwrap());
    assert!(sink.problems.is_empty(), "{:?}", sink.problems);
    let expected = [
        ("/ds/control/date", "2024-08-17T20:01:16.343990Z"),
        ("/ds/control/timezone", "PST8PDT"),
        ("/ds/control/countdown", "13.999878"),
        ("/ds/unknown/control/77", "0102"),
        ("/ds/cpu/1/low", "0.018754..."),
        ("/ds/cpu", "0.1020..."),
        ("/ds/can/utilization", "0.0"),
        ("/ds/can/bus_off", "0"),
        ("/ds/can/tx_full", "1"),
        ("/ds/can/receive_errors", "0"),
        ("/ds/can/transmit_errors", "128"),
        ("/ds/disk_free", "3231232000"),
        ("/ds/ram_free", "253648896"),
        ("/ds/joystick/2/outputs", "2147483653"),
        ("/ds/pd/energy", "000102030405060708"),
        ("/ds/pd/voltage", "12.2..."),
        (
            "/ds/joystick/0/descriptor",
            r#"{"name":"Controller (Xbox One For Windows)","xbox":true,"type":1,"axes":[0,1,2,3,4,5],"buttons":16,"povs":1}"#,
        ),
        ("/ds/joystick/2/descriptor", r#"{"name":"","xbox":false,"type":-1,"axes":[],"buttons":0,"povs":0}"#),
        ("/ds/match", r#"{"event":"","type":"none","number":0,"replay":0}"#),
        ("/ds/game_data", "AAA"),
        ("/ds/unknown/to_robot/55", "0102"),
        ("/ds/events", "Warning <Code> 44007 <secondsSinceReboot> 653.173\n"),
        ("/ds/usage", "V1K0N0C2"),
        ("/ds/unknown/to_station/01", "00fe00"),
        ("/ds/faults/comms", "1"),
        ("/ds/faults/brownout_12v", "2"),
        ("/ds/faults/rail_6v", "1"),
        ("/ds/faults/rail_5v", "2"),
        ("/ds/faults/rail_3v3", "3"),
        ("/ds/versions", r#"{"type":0,"id":0,"name":"roboRIO Image","version":"FRC_roboRIO2_2024_v2.2"}"#),
        (
            "/ds/errors",
            r#"{"severity":"error","code":4,"details":"abc","location":"d","stack":"ef","flags":1,"count":1,"time":-644.830..."#,
        ),
        ("/ds/console", "*** Robot program starting ***"),
        ("/ds/console/time", "-646.0755..."),
        ("/ds/console/sequence", "1"),
        ("/ds/unknown/to_station/0d", "0000040404"),
    ];
    for (name, value) in expected {
        let found = sink.values(name);
        let same = |found: &str| value.strip_suffix("...").map_or(found == value, |start| found.starts_with(start));
        assert!(found.first().is_some_and(|found| same(found)), "{name}: {found:?}");
    }
    assert_eq!(sink.values("/ds/versions").len(), 1, "the end of the list is none");
    assert_eq!(sink.values("/ds/pd/type"), ["CTRE PDP", "REV PDH"]);
    assert_eq!(sink.values("/ds/pd/id"), ["0", "1"]);
    assert_eq!(sink.values("/ds/pd/faults"), ["0"]);
    assert_eq!(sink.values("/ds/pd/resistance"), [""; 0], "255 is unknown");
    assert_eq!(sink.values("/ds/pd/total_current"), ["960.0", "1209.4375"]);
    assert_eq!(sink.values("/ds/pd/current/1"), ["8.0", "6.25"]);
    assert_eq!(sink.values("/ds/pd/current/23"), ["15.9375"]);
    let channel = |name: &str| sink.named(name);
    let current = channel("/ds/pd/current/23");
    assert_eq!(current.family, Some(Box::new(("pd_current".to_owned(), "23".to_owned()))));
    assert_eq!(current.unit.as_deref(), Some("A"));
    assert_eq!(channel("/ds/errors").type_name, "json");
    assert_eq!(channel("/ds/pd/temperature").unit.as_deref(), Some("degC"));
}

#[test]
fn json_is_json_whatever_the_text() {
    let (mut play, mut sink) = (Play::default(), Lines::default());
    // Quotes, a line end, bytes that are not UTF-8, and a time that is NaN.
    let body = bytes("0b 7f c0 00 00 00 00 00 01 ff ff ff ff 02 00 05 22 0a c3 ff 5c 00 00 00 00");
    play.mapper.to_station(ms(0), 0, &body, &mut sink).unwrap();
    let json: serde_json::Value = serde_json::from_str(sink.values("/ds/errors")[0]).unwrap();
    let expected = serde_json::json!({
        "severity": "warning", "code": -1, "details": "\"\n\u{fffd}\u{fffd}\\", "location": "", "stack": "",
        "flags": 2, "count": 1, "time": null, "sequence": 0,
    });
    assert_eq!(json, expected);
    // The ds crate leaves number and replay out.
    play.mapper.to_robot(ms(0), 0, &bytes("07 02 \"TX\" 02"), &mut sink).unwrap();
    assert_eq!(sink.values("/ds/match"), [r#"{"event":"TX","type":"qualification","number":null,"replay":null}"#]);
}

//! What real senders get wrong, each with its name.

use logpose_core::Severity;
use logpose_driverstation::wire::{Control, ControlTag, Date, MatchInfo, MatchType, ToRobot, ToStation, UsageReport};

use crate::kit::{Play, bytes, ms};

#[test]
fn libds_counts_the_size_byte_of_its_last_joystick_tag() {
    // 6 axes, 10 buttons, 1 POV: 14 bytes behind the size, and LibDS says 15.
    let datagram = bytes("00 05 01 04 80 00 0f 0c 06 16 a2 00 7f 80 ff 0a 00 32 01 00 b4");
    let packet = Control::parse(&datagram).unwrap();
    assert!(packet.tags.clone().next().unwrap().is_err(), "a strict reader refuses it");
    let mut tags = packet.tags.lenient();
    let tag = ControlTag::parse(tags.next().unwrap().unwrap()).unwrap();
    assert_eq!(tag.to_string(), "joystick axes 22 -94 0 127 -128 -1, buttons 2 5 6 of 10, POVs 180");
    assert!(tags.forgave() && tags.next().is_none());
    let mut out = Vec::new();
    packet.emit(&mut out);
    assert_eq!(out, datagram, "its bytes stay as they are");

    let mut play = Play::default();
    for _ in 0..3 {
        play.mapper.control(ms(0), 50, &datagram, &mut play.sink).unwrap();
    }
    assert_eq!(play.sink.values("/ds/joystick/0/povs"), ["[180]"]);
    let [note] = &play.sink.problems[..] else { panic!("{:?}", play.sink.problems) };
    assert_eq!((note.severity, note.code), (Severity::Note, "libds-size"));
}

#[test]
fn nothing_else_is_forgiven() {
    let refused = [
        // One byte less than its counts say.
        "0f 0c 06 16 a2 00 7f 80 ff 0a 00 32 01 00",
        // One byte more.
        "11 0c 06 16 a2 00 7f 80 ff 0a 00 32 01 00 b4 00",
        // Another tag.
        "06 07 40 00 00 00",
        // LibDS 2020: as many bytes as buttons.
        "17 0c 06 00 00 00 00 00 00 0a 00 00 00 00 00 00 00 00 00 01 01 ff ff",
        "02 0c",
    ];
    for tag in refused {
        let datagram = bytes(&format!("00 05 01 04 80 00 {tag}"));
        let mut tags = Control::parse(&datagram).unwrap().tags.lenient();
        assert!(tags.next().unwrap().is_err() && !tags.forgave(), "{tag}");
    }
}

#[test]
fn libds_dates_are_not_dates_but_are_reported() {
    // The day of the year in place of the day of the month.
    let date = Date { micros: 343, second: 16, minute: 1, hour: 20, day: 229, month: 7, year: 124 };
    assert_eq!(date.to_string(), "2024-08-229T20:01:16.000343Z");
    assert_eq!(date.time(), None);
}

#[test]
fn the_ds_crate_ends_match_info_behind_the_type() {
    let info = MatchInfo { event: b"TX", kind: MatchType::QUALIFICATION, ..MatchInfo::default() };
    let message = ToRobot::Match(info);
    assert_eq!(ToRobot::parse(&bytes("07 02 54 58 02")), Ok(message));
    assert_eq!(message.to_string(), "match \"TX\", qualification");
    let mut out = Vec::new();
    message.emit(&mut out);
    assert_eq!(out, bytes("00 05 07 02 54 58 02"));
}

#[test]
fn a_slot_without_a_stick_has_two_forms_and_both_come_back() {
    let datagram = bytes("00 05 01 04 10 00 01 0c 04 0c 00 00 00");
    let packet = Control::parse(&datagram).unwrap();
    let tags: Vec<_> = packet.tags.map(|tag| ControlTag::parse(tag.unwrap()).unwrap()).collect();
    assert_eq!(tags[0], ControlTag::Joystick(None));
    assert!(matches!(tags[1], ControlTag::Joystick(Some(stick)) if stick.is_absent()));
    let mut play = Play::default();
    play.mapper.control(ms(0), 0, &datagram, &mut play.sink).unwrap();
    assert!(play.sink.below("/ds/joystick").is_empty(), "where there never was a stick there is no channel");
}

#[test]
fn usage_reports_begin_where_their_mark_is() {
    for (body, head) in [("01 00 fe 00", 3), ("01 00 fe", 2), ("01 09", 1)] {
        let body = bytes(&format!("{body} \"V1K0\""));
        let report = UsageReport { head: &body[1..1 + head], entries: b"V1K0" };
        assert_eq!(ToStation::parse(&body), Ok(ToStation::Usage(report)));
    }
    let odd = bytes("01 01 02 03 04 05");
    let report = UsageReport { head: &[1, 2, 3], entries: &[4, 5] };
    assert_eq!(ToStation::parse(&odd), Ok(ToStation::Usage(report)));
}

#[test]
fn the_battery_is_nonsense_while_the_date_is_wanted() {
    let mut play = Play::default();
    play.mapper.status(ms(0), 0, &bytes("00 01 01 00 11 25 60 01"), &mut play.sink).unwrap();
    assert!(play.sink.below("/ds/battery").is_empty());
    play.mapper.status(ms(20), 0, &bytes("00 02 01 00 11 09 15 00"), &mut play.sink).unwrap();
    assert_eq!(play.sink.below("/ds/battery"), ["0.020 /ds/battery 9.08203125"]);
}

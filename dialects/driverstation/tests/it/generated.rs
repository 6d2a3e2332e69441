//! Generated packets and bytes: what is emitted is parsed as the same, and what is parsed is emitted as it came.

use logpose_core::Time;
use logpose_driverstation::fuzzing;
use logpose_driverstation::pd::{Pdh, Pdp, PowerDistribution};
use logpose_driverstation::wire::{
    Console, Control, ControlTag, Cores, Date, Descriptor, ErrorFlags, ErrorMessage, Joystick, MatchInfo, MatchType,
    Messages, ToRobot, ToStation, Version, axis_to_raw, axis_value, rumble_to_raw, rumble_value, volts_to_raw,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::kit::samples;

fn text(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..most)
}

proptest! {
    #[test]
    fn anything_comes_back(data in vec(any::<u8>(), 0..400)) {
        fuzzing::roundtrip(&data);
        fuzzing::mapper(&data);
    }

    /// Random bytes are seldom packets: here they are, after each other and somewhat damaged.
    #[test]
    fn links_of_packets_keep_the_rules_of_sinks(
        steps in vec((any::<u8>(), any::<u8>(), any::<prop::sample::Index>(), any::<Option<(prop::sample::Index, u8)>>()), 0..60),
    ) {
        let all = samples();
        let kinds = [&all.control, &all.control, &all.status, &all.status, &all.to_robot, &all.to_station];
        let mut data = Vec::new();
        for (what, wait, which, damage) in steps {
            let list = kinds[usize::from(what & 7) % kinds.len()];
            let mut packet = which.get(list).clone();
            if let (Some((at, byte)), false) = (damage, packet.is_empty()) {
                *at.get_mut(&mut packet) = byte;
            }
            data.extend_from_slice(&[what, wait, packet.len() as u8]);
            data.extend_from_slice(&packet);
        }
        fuzzing::mapper(&data);
    }

    #[test]
    fn sticks(
        axes in vec(any::<i8>(), 0..13),
        buttons in vec(any::<bool>(), 0..70),
        povs in vec(any::<i16>(), 0..5),
    ) {
        let mut datagram = vec![0; Control::HEADER];
        Joystick::emit_tag(&axes, &buttons, &povs, &mut datagram);
        let mut tags = Control::parse(&datagram).unwrap().tags;
        let tag = ControlTag::parse(tags.next().unwrap().unwrap()).unwrap();
        let ControlTag::Joystick(Some(stick)) = tag else { panic!("{tag}") };
        prop_assert!(stick.axes().eq(axes) && stick.buttons().eq(buttons) && stick.povs().eq(povs));
        prop_assert!(stick.rest.is_empty() && tags.next().is_none());
    }

    #[test]
    fn panels(block in prop_oneof![vec(any::<u8>(), 25), vec(any::<u8>(), 33)]) {
        let pd = PowerDistribution::parse(&block).unwrap();
        let mut out = Vec::new();
        pd.emit(&mut out);
        prop_assert_eq!(out, block);
    }

    #[test]
    fn messages(
        (a, b, c) in (text(255), text(255), text(300)),
        (n, time, code) in (any::<u16>(), any::<f32>(), any::<i32>()),
        [i, j, k] in any::<[u8; 3]>(),
    ) {
        let descriptor = Descriptor {
            index: i, xbox: j, kind: k.cast_signed(), name: &a, axes: &b, buttons: j, povs: k, rest: &c,
        };
        let info = MatchInfo { event: &a, kind: MatchType(i), number: Some(n), replay: Some(j), rest: &c };
        let mut stream = Messages::default();
        let to_robot = [
            ToRobot::Descriptor(descriptor), ToRobot::Match(info), ToRobot::KeepAlive, ToRobot::GameData(&a),
            ToRobot::Unknown { id: 0x80 | i, data: &c },
        ];
        let mut out = Vec::new();
        to_robot.iter().for_each(|message| message.emit(&mut out));
        stream.push(&out);
        for message in to_robot {
            prop_assert_eq!(stream.next().map(|(_, body)| ToRobot::parse(body)), Some(Ok(message)));
        }

        let version = Version { kind: i, unknown: n, id: j, name: &a, version: &b, rest: &c };
        let error = ErrorMessage {
            time, sequence: n, count: n, code, flags: ErrorFlags(k), details: &c, location: &b, stack: &a, rest: &b,
        };
        let to_station = [
            ToStation::Version(version), ToStation::Error(error), ToStation::Text(&c),
            ToStation::Console(Console { time, sequence: n, text: &c }),
            ToStation::DisableFaults { comms: n, brownout_12v: i.into(), rest: &a },
            ToStation::RailFaults { v6: n, v5: i.into(), v3_3: j.into(), rest: &a },
            ToStation::Unknown { id: 0x80 | i, data: &c },
        ];
        out.clear();
        to_station.iter().for_each(|message| message.emit(&mut out));
        stream.push(&out);
        for message in to_station {
            prop_assert_eq!(stream.next().map(|(_, body)| ToStation::parse(body)), Some(Ok(message)));
        }
        prop_assert_eq!(stream.rest_len(), 0);
    }

    #[test]
    fn dates(us in -2_208_988_800_000_000_i64..5_869_583_999_000_000) {
        let time = Time::from_micros(us);
        let date = Date::of(time).unwrap();
        prop_assert_eq!(date.time(), Some(time));
    }
}

#[test]
fn dates_end_with_their_byte() {
    assert_eq!(Date::of(Time::from_micros(-2_208_988_800_000_001)), None);
    let last = Date { micros: 999_999, second: 59, minute: 59, hour: 23, day: 31, month: 11, year: 255 };
    assert_eq!(last.to_string(), "2155-12-31T23:59:59.999999Z");
    let time = last.time().unwrap();
    assert_eq!(Date::of(time), Some(last));
    assert_eq!(Date::of(time.plus(1000)), None);
    let leap = Date { day: 29, month: 1, year: 100, ..Date::default() };
    assert_eq!(leap.time(), Some(Time::from_micros(951_782_400_000_000)));
    assert_eq!(Date { year: 0, ..leap }.time(), None, "1900 was no leap year");
}

#[test]
fn raw_values_come_back_and_stop_at_their_ends() {
    for raw in i8::MIN..=i8::MAX {
        assert_eq!(axis_to_raw(axis_value(raw)), raw);
    }
    for raw in u16::MIN..=u16::MAX {
        assert_eq!(volts_to_raw(f64::from(raw) / 256.0), raw);
        assert_eq!(rumble_to_raw(rumble_value(raw)), raw);
    }
    assert_eq!((axis_to_raw(-7.0), axis_to_raw(f32::NAN), axis_to_raw(9.0)), (-128, 0, 127));
    assert_eq!((volts_to_raw(-1.0), volts_to_raw(f64::NAN), volts_to_raw(1e9)), (0, 0, 65535));
}

#[test]
fn what_no_size_can_say_is_cut_and_still_read() {
    let mut datagram = vec![0; Control::HEADER];
    Joystick::emit_tag(&[1; 300], &[true; 300], &[7; 300], &mut datagram);
    let mut tags = Control::parse(&datagram).unwrap().tags;
    let tag = ControlTag::parse(tags.next().unwrap().unwrap()).unwrap();
    let ControlTag::Joystick(Some(stick)) = tag else { panic!("{tag}") };
    assert_eq!((stick.axes().len(), stick.buttons().len(), stick.povs().len()), (128, 255, 45));
    assert!(stick.buttons().all(|down| down) && stick.rest.is_empty() && tags.next().is_none());
    let mut out = Vec::new();
    Cores::emit_tag(&[[0.0; 4]; 99], &mut out);
    assert_eq!(out.len(), 2 + 1 + 15 * 16);
    out.clear();
    let long = vec![b'x'; 70_000];
    ToRobot::GameData(&long).emit(&mut out);
    assert_eq!(out.len(), 2 + 65_535);
    let mut messages = Messages::default();
    messages.push(&out);
    assert_eq!(messages.next().map(|(_, body)| body.len()), Some(65_535));
}

#[test]
fn numbers_wider_than_a_panel_has_room_for_are_cut() {
    let mut out = Vec::new();
    PowerDistribution::Pdp(Pdp { currents: [0xffff; 16], spare: [0xff; 2], ..Pdp::default() }).emit(&mut out);
    PowerDistribution::Pdh(Pdh { currents: [0xffff; 24], faults: u32::MAX, ..Pdh::default() }).emit(&mut out);
    let (pdp, pdh) = out.split_at(25);
    assert_eq!(PowerDistribution::parse(pdp).unwrap().total_current(), 16.0 * 127.875);
    assert_eq!(PowerDistribution::parse(pdh).unwrap().faults(), Some(0xff_ffff));
}

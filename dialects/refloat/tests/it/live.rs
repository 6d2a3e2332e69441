//! Live messages as samples.

use logpose_core::Time;
use logpose_refloat::LiveMapper;
use logpose_refloat::wire::{Info, InfoV1, Reply};

use crate::kit::{Lines, bytes, compact_values, emitted, info_v2, live, live_ids, live_mask};

struct Play {
    mapper: LiveMapper,
    sink: Lines,
}

impl Play {
    fn new() -> Self {
        Self { mapper: LiveMapper::new(), sink: Lines::default() }
    }

    fn say(&mut self, at_ms: i64, message: &[u8]) {
        let mut payload = vec![0x24];
        payload.extend_from_slice(message);
        self.mapper.payload(Time::from_millis(at_ms), &payload, &mut self.sink).unwrap();
    }

    fn reply(&mut self, at_ms: i64, reply: &Reply<'_>) {
        self.say(at_ms, &emitted(|out| reply.emit(out)));
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sink.lines)
    }
}

/// A message with another tick.
fn at_tick(mut message: Vec<u8>, place: usize, tick: u32) -> Vec<u8> {
    message[place..place + 4].copy_from_slice(&tick.to_be_bytes());
    message
}

#[test]
fn values_come_with_every_reply_and_states_when_they_change() {
    let mut play = Play::new();
    play.say(0, &live_ids("1.2.3"));
    let message = live("1.2.3", true, false);
    play.say(1_000, &message);
    let first = play.take();
    let states = [
        "12.345600 /refloat/state running",
        "12.345600 /refloat/mode normal",
        "12.345600 /refloat/running true",
        "12.345600 /refloat/wheelslip false",
        "12.345600 /refloat/footpad both",
        "12.345600 /refloat/adjustment none",
        "12.345600 /refloat/charging false",
        "12.345600 /refloat/darkride false",
        "12.345600 /refloat/stop_condition none",
        "12.345600 /refloat/beep_reason none",
        "12.345600 /refloat/fatal_error false",
        "12.345600 /refloat/recording true",
        "12.345600 /refloat/autostart true",
        "12.345600 /refloat/autostop true",
    ];
    assert_eq!(first[..states.len()], states);
    assert_eq!(first[states.len()], "12.345600 /refloat/motor.speed 1");
    assert_eq!(first.len(), states.len() + 26 + 1);
    assert_eq!(first.last().unwrap(), "12.345600 /refloat/fault_code 0");

    play.say(1_100, &at_tick(message, 4, 124_456));
    let second = play.take();
    assert_eq!(second.len(), 26, "{second:?}");
    assert!(second.iter().all(|line| line.starts_with("12.445600 ")));

    play.say(1_200, &at_tick(live("1.2.3", false, true), 4, 125_456));
    let third = play.take();
    let lines = [
        "state ready",
        "running false",
        "footpad none",
        "charging true",
        "charging.current 3.5",
        "charging.voltage 75",
    ];
    for text in lines {
        assert!(third.contains(&format!("12.545600 /refloat/{text}")), "{text}: {third:?}");
    }
    assert_eq!(third.len(), 4 + 16 + 2);
    assert_eq!(play.sink.named("/refloat/charging.voltage").unit.as_deref(), Some("V"));
    assert_eq!(play.mapper.clock_offset(), Some(-11_345_600_000));
    assert!(play.sink.problems.is_empty());
}

#[test]
fn without_ids_only_states_are_emitted_and_with_wrong_ones_a_problem() {
    let mut play = Play::new();
    play.say(0, &live("1.2.3", true, false));
    assert!(!play.sink.lines.iter().any(|line| line.contains("erpm")));
    assert_eq!(play.sink.values("/refloat/autostart"), Vec::<&str>::new(), "which version it is nobody knows");
    play.say(10, &live_ids("1.3.0"));
    play.say(20, &live("1.2.3", true, false));
    assert_eq!(play.sink.problems.len(), 1);
    let text = "skipped the values of a live reply: byte 12: live values has 52 bytes, expected 58";
    assert_eq!(play.sink.problems[0].message, text);
}

#[test]
fn since_preview2_only_the_status_has_autostart_and_autostop() {
    let mut play = Play::new();
    play.reply(0, &Reply::Info(info_v2()));
    play.say(0, &live_ids("1.3.0"));
    play.say(900, &bytes("65 29 01 03 05 00 B7"));
    assert_eq!(play.take(), Vec::<String>::new(), "its place is not known before the first tick");
    play.say(1_000, &live("1.3.0", false, false));
    assert_eq!(
        play.take()[..3],
        ["12.245600 /refloat/recording true", "12.245600 /refloat/autostart true", "12.245600 /refloat/autostop false"]
    );
    play.say(2_000, &bytes("65 29 01 04 05 00 B7"));
    let expected = [
        "13.345600 /refloat/recording false",
        "13.345600 /refloat/autostart false",
        "13.345600 /refloat/autostop true",
    ];
    assert_eq!(play.take(), expected);
}

#[test]
fn a_reply_by_mask_has_every_field() {
    let mut play = Play::new();
    play.say(0, &live_mask("1.3.0-beta2", true));
    let values = |name: &str| play.sink.values(name).join(" ");
    assert_eq!(values("/refloat/state"), "running");
    assert_eq!(values("/refloat/recording"), "true");
    assert_eq!(values("/refloat/speed"), "3");
    assert_eq!(values("/refloat/battery_level"), "11");
    assert_eq!(values("/refloat/control.freq"), "27");
    assert_eq!(values("/refloat/odometer"), "28");
    assert_eq!(values("/refloat/gnss.latitude"), "37");
    assert_eq!(values("/refloat/gnss.tick"), "42");
    assert_eq!(play.sink.lines.len(), 42 - 2 + 12);
    assert_eq!(play.sink.named("/refloat/odometer").unit.as_deref(), Some("m"));
    assert_eq!(play.sink.named("/refloat/gnss.latitude").type_name, "double");
}

#[test]
fn a_board_without_ticks_is_timed_by_receipt() {
    let mut play = Play::new();
    play.reply(0, &Reply::Info(Info::V1(InfoV1 { version: 10, build: 1, led_type: 0 })));
    let reply = logpose_refloat::wire::Compact::Values(compact_values(4));
    play.reply(2_500, &Reply::Compact(reply));
    let lines = play.take();
    let values = [
        "fault_code 0",
        "state running",
        "adjustment none",
        "footpad both",
        "stop_condition none",
        "speed 12.6",
        "erpm 4321",
        "duty_cycle 0.35",
        "batt_voltage 75.5",
        "pitch -0.7",
        "adc_left 3",
        "atr.setpoint -1",
        "balance_current -12.5",
        "booster.current 2",
        "foc_d_current 3",
        "distance 1234.5",
        "mosfet_temp 41.5",
        "odometer 1234567",
        "amp_hours.used 1.2",
        "watt_hours.charged 22",
        "battery_level 0.755",
        "charging.current 3.5",
        "charging.voltage 75",
    ];
    for text in values {
        assert!(lines.contains(&format!("2.500 /refloat/{text}")), "{text}: {lines:#?}");
    }
    assert_eq!(play.mapper.clock_offset(), Some(0));
    play.reply(2_600, &Reply::Compact(logpose_refloat::wire::Compact::Fault(5)));
    assert_eq!(play.take(), ["2.600 /refloat/fault_code 5"]);
    let mut off = compact_values(1);
    (off.state, off.switches) = (0x28, 0x91);
    play.reply(2_700, &Reply::Compact(logpose_refloat::wire::Compact::Values(off)));
    let lines = play.take();
    for text in [
        "fault_code 0",
        "state ready",
        "running false",
        "footpad left",
        "stop_condition switch half",
        "beep_reason idle",
    ] {
        assert!(lines.contains(&format!("2.700 /refloat/{text}")), "{text}: {lines:#?}");
    }
}

#[test]
fn alerts_are_emitted_once_and_at_their_own_time() {
    let mut play = Play::new();
    play.say(0, &live_ids("1.2.3"));
    play.say(1_000, &live("1.2.3", false, false));
    play.take();
    let alerts = bytes(
        "65 23 00 00 00 00 00 00 00 00 00 02 00 01 86 A0 01 01 05 0D 4F 56 45 52 5F 54 45 4D 50 5F 46 45 54 \
         00 01 88 94 01 00 00",
    );
    play.say(1_100, &alerts);
    let begin = r#"10.000 /refloat/alerts {"id":1,"active":true,"code":5,"name":"OVER_TEMP_FET"}"#;
    let end = r#"10.050 /refloat/alerts {"id":1,"active":false,"code":0,"name":null}"#;
    assert_eq!(play.take(), [begin, end]);
    play.say(1_200, &alerts);
    assert_eq!(play.take(), Vec::<String>::new());
    assert_eq!(play.sink.named("/refloat/alerts").type_name, "json");
}

#[test]
fn printed_texts_are_samples() {
    let mut play = Play::new();
    let print = |play: &mut Play, at_ms: i64, text: &str| {
        let payload = bytes(&format!("87 \"{text}\""));
        play.mapper.payload(Time::from_millis(at_ms), &payload, &mut play.sink).unwrap();
    };
    print(&mut play, 900, "first");
    play.say(1_000, &live("1.2.3", false, false));
    print(&mut play, 1_100, "0.5 [refloat] second");
    assert_eq!(play.sink.lines[0], "12.245600 /refloat/prints first");
    assert_eq!(play.sink.lines.last().unwrap(), "12.445600 /refloat/prints 0.5 [refloat] second");
}

#[test]
fn a_board_that_was_switched_off_and_on_sends_everything_again() {
    let mut play = Play::new();
    play.say(1_000, &live("1.2.3", false, false));
    let first = play.take();
    play.say(1_100, &at_tick(live("1.2.3", false, false), 4, 124_456));
    assert_eq!(play.take(), Vec::<String>::new());
    play.say(9_000, &at_tick(live("1.2.3", false, false), 4, 5_000));
    let again = play.take();
    assert_eq!(again.len(), first.len());
    assert!(again.iter().all(|line| line.starts_with("0.500 ")), "{again:?}");
    assert_eq!(play.mapper.clock_offset(), Some(8_500_000_000));
    assert_eq!(play.sink.problems[0].code, "restarted");
}

#[test]
fn what_is_not_of_the_board_is_left_alone() {
    let mut play = Play::new();
    for payload in ["", "24", "24 66 00 01", "04 01 02 03", "00 06 05", "24 65 14 01"] {
        play.mapper.payload(Time::ZERO, &bytes(payload), &mut play.sink).unwrap();
    }
    assert!(play.sink.lines.is_empty() && play.sink.problems.is_empty());
    play.say(0, &bytes("1F"));
    play.say(0, &bytes("65 1F 00"));
    assert_eq!(play.sink.problems.len(), 1);
    let text = "skipped a message of the board: byte 3: extra flags needs 1 bytes, 0 left";
    assert_eq!(play.sink.problems[0].message, text);
}

//! Every vector of the specification, byte for byte.

use logpose_refloat::vesc::{self, Deframer, FirmwareVersion, HardwareType};
use logpose_refloat::wire::{
    Adjustment, AlertRecord, Alerts, Compact, Control, Data, Flags, Footpad, Header, Info, InfoV1, Live, LiveIds,
    LiveMask, PackageError, Print, Reply, Request, StateFlags, Status, Version,
};

use crate::kit::{
    DATA_1_2, DATA_1_3, RIDING, app_frame, bytes, compact_values, emitted, header, info_v2, live, live_ids, live_mask,
    messages, version,
};

/// The only payload in a frame.
fn unframed(frame: &[u8]) -> Vec<u8> {
    let mut deframer = Deframer::new(70_000);
    deframer.push(frame);
    let payload = deframer.next_payload().expect("a frame").to_vec();
    assert_eq!(deframer.next_payload(), None);
    assert_eq!((deframer.is_pending(), deframer.skipped()), (false, 0));
    payload
}

#[test]
fn the_frames_of_section_2() {
    let check = |payload: &str, frame: &str| {
        let (payload, frame) = (bytes(payload), bytes(frame));
        assert_eq!(vesc::framed(&payload), frame);
        assert_eq!(unframed(&frame), payload);
    };
    check("00", "02 01 00 00 00 03");
    check("3E", "02 01 3E D7 9D 03");
    check("24 65 00", "02 03 24 65 00 AE D9 03");
    check("24 65 00 02", "02 04 24 65 00 02 AD 66 03");
    check("24 65 00 02 00", "02 05 24 65 00 02 00 02 47 03");
    check("24 65 1F", "02 03 24 65 1F 4D 07 03");
    check("24 65 20", "02 03 24 65 20 8A BB 03");
    check("24 65 21 01 00 00 11 40 00 00 00 00", "02 0C 24 65 21 01 00 00 11 40 00 00 00 00 F7 F2 03");
    check("24 65 29 01 00", "02 05 24 65 29 01 00 4F 43 03");
    check("24 65 29 01 01 01", "02 06 24 65 29 01 01 01 D9 3B 03");
    check("24 65 29 01 01 00", "02 06 24 65 29 01 01 00 C9 1A 03");
    check("24 65 29 01 02 00", "02 06 24 65 29 01 02 00 9C 49 03");
    check("24 65 29 01 03 00", "02 06 24 65 29 01 03 00 AF 78 03");
    check("24 65 29 01 04 04", "02 06 24 65 29 01 04 04 76 6B 03");
    check("24 65 29 02 01", "02 05 24 65 29 02 01 0A 31 03");
    check("24 65 29 02 02 00 00 00 00", "02 09 24 65 29 02 02 00 00 00 00 74 EC 03");
    check("24 65 29 02 02 00 00 00 10", "02 09 24 65 29 02 02 00 00 00 10 66 DD 03");
    check("24 65 29 02 02 00 00 00 14", "02 09 24 65 29 02 02 00 00 00 14 26 59 03");
    check("24 65 29 02 02 01 02 03 04", "02 09 24 65 29 02 02 01 02 03 04 79 EF 03");
    check("22 15 24 65 29 02 01", "02 07 22 15 24 65 29 02 01 5D A1 03");
    check("22 15 24 65 29 02 02 00 00 00 00", "02 0B 22 15 24 65 29 02 02 00 00 00 00 28 C3 03");
}

#[test]
fn the_lengths_at_which_the_form_changes() {
    let check = |n: usize, begin: &str, end: &str| {
        let payload: Vec<u8> = (0..n).map(|i| i as u8).collect();
        let frame = vesc::framed(&payload);
        assert!(frame.starts_with(&bytes(begin)) && frame.ends_with(&bytes(end)), "{n}");
        assert_eq!(frame.len(), n + bytes(begin).len() + 3, "{n}");
        assert_eq!(unframed(&frame), payload);
    };
    check(254, "02 FE", "CD 03 03");
    check(255, "02 FF", "05 30 03");
    check(256, "03 01 00", "7E 55 03");
    check(257, "03 01 01", "CA 59 03");
    check(503, "03 01 F7", "CE 81 03");
    check(507, "03 01 FB", "7E 0B 03");
    check(512, "03 02 00", "40 DA 03");
    check(65_535, "03 FF FF", "19 7F 03");
    check(65_536, "04 01 00 00", "E2 E8 03");
    assert!(vesc::framed(&[]).is_empty());
}

#[test]
fn requests() {
    let check = |request: Request, can: Option<u8>, payload: &str, text: &str| {
        let payload = bytes(payload);
        assert_eq!(request.payload(can), payload);
        let inner = vesc::forwarded(&payload).map_or(&payload[..], |(id, inner)| {
            assert_eq!(Some(id), can);
            inner
        });
        assert_eq!(Request::parse(vesc::app_data(inner).unwrap()), Ok(request));
        assert_eq!(request.to_string(), text);
    };
    check(Request::Info { version: None, flags: None }, None, "24 65 00", "info");
    check(Request::Info { version: Some(2), flags: None }, None, "24 65 00 02", "info version 2");
    check(Request::Info { version: Some(2), flags: Some(0) }, None, "24 65 00 02 00", "info version 2, flags 0x00");
    check(Request::Live, None, "24 65 1F", "live values");
    check(Request::LiveIds, None, "24 65 20", "live ids");
    let mask = Request::LiveMask { control: 1, mask1: 0x1140, mask2: Some(0) };
    let text = "live values by mask 00001140 00000000, control 1";
    check(mask, None, "24 65 21 01 00 00 11 40 00 00 00 00", text);
    check(Request::Compact { mode: 3 }, None, "24 65 0A 03", "compact live values, mode 3");
    check(Request::Alerts { since: None }, None, "24 65 23", "alerts");
    check(Request::Alerts { since: Some(258) }, None, "24 65 23 00 00 01 02", "alerts since tick 258");
    check(Request::ClearFatal, None, "24 65 24 01", "clear the fatal error");
    check(Request::Control(Control::Status), None, "24 65 29 01 00", "recorder status");
    check(Request::Control(Control::Record(true)), None, "24 65 29 01 01 01", "start recording");
    check(Request::Control(Control::Record(false)), None, "24 65 29 01 01 00", "stop recording");
    check(Request::Control(Control::Autostart(false)), None, "24 65 29 01 02 00", "autostart off");
    check(Request::Control(Control::Autostop(false)), None, "24 65 29 01 03 00", "autostop off");
    check(Request::Control(Control::Decimation(4)), None, "24 65 29 01 04 04", "decimation 4");
    let other = Request::Control(Control::Other { sub: 9, value: 2 });
    check(other, None, "24 65 29 01 09 02", "recorder control 9, value 2");
    check(Request::Header, None, "24 65 29 02 01", "send the header");
    check(Request::Data { offset: 16_909_060 }, None, "24 65 29 02 02 01 02 03 04", "send data at 16909060");
    check(Request::Header, Some(21), "22 15 24 65 29 02 01", "send the header");
    check(Request::Data { offset: 0 }, Some(21), "22 15 24 65 29 02 02 00 00 00 00", "send data at 0");
}

#[test]
fn whatever_is_not_zero_starts_and_bytes_behind_are_ignored() {
    let parse = |text: &str| Request::parse(&bytes(text)).unwrap();
    assert_eq!(parse("65 29 01 01 80"), Request::Control(Control::Record(true)));
    assert_eq!(parse("65 29 01 02 02 FF FF"), Request::Control(Control::Autostart(true)));
    assert_eq!(parse("65 29 02 01 FF"), Request::Header);
    assert_eq!(parse("65 29 02 02 00 00 00 01 FF"), Request::Data { offset: 1 });
    assert_eq!(parse("65 00 01 02 03"), Request::Info { version: Some(1), flags: Some(2) });
    // Masks of 5 to 8 bytes: the second one counts as none.
    let mask = Request::LiveMask { control: 0, mask1: 1, mask2: None };
    assert_eq!(parse("65 21 00 00 00 00 01"), mask);
    assert_eq!(parse("65 21 00 00 00 00 01 FF FF FF"), mask);
    assert_eq!(parse("65 23 00 00 01"), Request::Alerts { since: None });
}

#[test]
fn requests_that_get_no_reply() {
    let check = |text: &str, error: &str| {
        assert_eq!(Request::parse(&bytes(text)).unwrap_err().to_string(), error);
    };
    check("", "byte 0: package id needs 1 bytes, 0 left");
    check("65", "byte 1: command id needs 1 bytes, 0 left");
    check("64 00", "byte 0: package id is 100, expected 101 (Refloat)");
    check("65 63", "byte 1: unknown command id 99");
    check("65 29", "byte 2: mode needs 1 bytes, 0 left");
    check("65 29 01", "byte 3: sub mode needs 1 bytes, 0 left");
    check("65 29 01 01", "byte 4: value needs 1 bytes, 0 left");
    check("65 29 02 02 00 00 00", "byte 4: offset needs 4 bytes, 3 left");
    check("65 29 02 03", "byte 3: unknown sub mode 3");
    check("65 29 07 01", "byte 2: unknown mode 7");
    check("65 21 01 00 00 00", "byte 3: mask 1 needs 4 bytes, 3 left");
    check("65 0A", "byte 2: mode needs 1 bytes, 0 left");
    check("65 0A 01 00", "byte 3: compact request has 4 bytes, expected 3");
}

#[test]
fn info() {
    let example = "65 00 02 00 52 65 66 6C 6F 61 74 00*13 01 03 00 62 65 74 61 32 00*15 9A 16 B5 C5 00 00 27 10 \
         80 00 00 00 00";
    let message = bytes(example);
    assert_eq!(message.len(), 60);
    let info = Info::parse(&message).unwrap();
    assert_eq!(info, info_v2());
    assert_eq!(emitted(|out| info.emit(out)), message);
    let frame = app_frame(&message);
    assert!(frame.starts_with(&bytes("02 3D 24")) && frame.ends_with(&bytes("24 8A 03")));
    assert_eq!(info.to_string(), "Refloat 1.3.0-beta2");
    assert_eq!((info.version(), info.can_record(), info.tick_rate()), (version("1.3.0-beta2"), Some(true), 10_000));

    let short = Info::parse(&bytes("65 00 0C 01 03")).unwrap();
    assert_eq!(short, Info::V1(InfoV1 { version: 12, build: 1, led_type: 3 }));
    assert_eq!(emitted(|out| short.emit(out)), bytes("65 00 0C 01 03"));
    assert_eq!(short.to_string(), "Refloat 1.2");
    assert_eq!((short.version(), short.can_record(), short.tick_rate()), (version("1.2"), None, 10_000));
}

#[test]
fn a_suffix_that_is_the_patch_number_is_none() {
    let Info::V2(mut info) = info_v2() else { panic!() };
    (info.minor, info.patch, info.suffix) = (2, 3, "3".into());
    assert_eq!(Info::V2(info.clone()).version(), version("1.2.3"));
    info.suffix = "rc1".into();
    assert_eq!(Info::V2(info.clone()).to_string(), "Refloat 1.2.3-rc1");
    info.tick_rate = 0;
    assert_eq!(Info::V2(info).tick_rate(), 10_000);
}

#[test]
fn what_came_with_which_version() {
    let abilities = |text: &str| {
        let version: Version = text.parse().unwrap();
        assert_eq!(version.to_string(), text);
        [
            version.has_recorder(),
            version.has_alerts(),
            version.has_mask(),
            version.has_status(),
            version.has_control_frequency(),
            version.has_gnss(),
            version.has_distinct_ticks(),
        ]
        .iter()
        .filter(|has| **has)
        .count()
    };
    let versions = [
        ("1.0.1", 0),
        ("1.1.0-beta1", 1),
        ("1.1.2", 1),
        ("1.2.0-beta1", 2),
        ("1.2.3", 2),
        ("1.3.0-preview1", 3),
        ("1.3.0-preview2", 4),
        ("1.3.0-preview3", 5),
        ("1.3.0-beta1", 6),
        ("1.3.0-beta2", 7),
        ("1.3.0-rc1", 7),
        ("1.3.0", 7),
        ("1.3.1-preview1", 7),
        ("2.0.0", 7),
    ];
    for (text, count) in versions {
        assert_eq!(abilities(text), count, "{text}");
    }
    let in_order: Vec<Version> = versions.iter().map(|(text, _)| text.parse().unwrap()).collect();
    assert!(in_order.is_sorted());
    assert!("1".parse::<Version>().is_err() && "1.x.2".parse::<Version>().is_err());
}

#[test]
fn status() {
    let message = bytes("65 29 01 06 05 00 B7");
    let status = Status::parse(&message).unwrap();
    let expected =
        Status { enabled: true, recording: false, autostart: true, autostop: true, decimation: 5, duration_cs: 183 };
    assert_eq!(status, expected);
    assert_eq!(emitted(|out| status.emit(out)), message);
    assert_eq!(status.to_string(), "recorder: idle, autostart on, autostop on, decimation 5, 9.15 s");
}

#[test]
fn headers() {
    let example = bytes(
        "65 2A 00 00 00 00 0A 0A 6D 6F 74 6F 72 2E 65 72 70 6D 11 6D 6F 74 6F 72 2E 64 69 72 5F 63 75 72 72
         65 6E 74 10 6D 6F 74 6F 72 2E 64 75 74 79 5F 63 79 63 6C 65 12 6D 6F 74 6F 72 2E 62 61 74 74 5F 76
         6F 6C 74 61 67 65 09 69 6D 75 2E 70 69 74 63 68 11 69 6D 75 2E 62 61 6C 61 6E 63 65 5F 70 69 74 63
         68 08 73 65 74 70 6F 69 6E 74 0C 61 74 72 2E 73 65 74 70 6F 69 6E 74 14 74 6F 72 71 75 65 5F 74 69
         6C 74 2E 73 65 74 70 6F 69 6E 74 0F 62 61 6C 61 6E 63 65 5F 63 75 72 72 65 6E 74",
    );
    assert_eq!(example.len(), 159);
    assert_eq!(header("1.2.3", 0), example);
    assert_eq!(header("1.1.2", 0), example);
    let check = |message: Vec<u8>, begin: &str, end: &str| {
        let frame = app_frame(&message);
        assert!(frame.starts_with(&bytes(begin)) && frame.ends_with(&bytes(end)), "{frame:02X?}");
        let header = Header::parse(&message).unwrap();
        assert_eq!(emitted(|out| header.emit(out)), message);
    };
    check(example.clone(), "02 A0 24", "C0 F3 03");
    check(header("1.2.3", 1500), "02 A0 24 65 2A 00 00 05 DC 0A", "FC 49 03");
    check(header("1.3.0-beta2", 0), "02 AD 24 65 2A 00 00 00 00 0D", "89 F6 03");
    check(header("1.3.0-preview1", 1500), "02 AD 24 65 2A 00 00 05 DC 0D", "52 CE 03");
    assert_eq!(header("1.3.0", 0).len(), 172);

    let parsed = Header::parse(&example).unwrap();
    assert_eq!((parsed.size, parsed.sample_len(), parsed.chunk()), (0, 25, 20));
    let message = header("1.3.0", 1500);
    let parsed = Header::parse(&message).unwrap();
    assert_eq!((parsed.size, parsed.sample_len(), parsed.chunk()), (1500, 31, 16));
    let ids = "control.dt control.freq erpm dir_current duty_cycle batt_voltage pitch balance_pitch setpoint \
               atr.setpoint torque_tilt.setpoint balance_current atr.transition_boost";
    assert_eq!(parsed.ids.iter().collect::<Vec<_>>().join(" "), ids);
    assert_eq!(parsed.to_string(), format!("header: 1500 samples of 13 values: {ids}"));
}

#[test]
fn the_sizes_of_section_6_4() {
    for (values, samples, payload, frame) in [
        (10, 20, 507, 513),
        (10, 10, 257, 263),
        (10, 9, 232, 237),
        (13, 16, 503, 509),
        (13, 8, 255, 260),
        (13, 0, 7, 12),
    ] {
        let samples = vec![0; samples * (5 + 2 * values)];
        let message = emitted(|out| Data { offset: 0, bytes: &samples }.emit(out));
        assert_eq!((message.len() + 1, app_frame(&message).len()), (payload, frame));
    }
    assert_eq!(vesc::framed(&Request::Data { offset: 0 }.payload(None)).len(), 14);
    assert_eq!(vesc::framed(&Request::Data { offset: 0 }.payload(Some(9))).len(), 16);
}

#[test]
fn data() {
    let message = bytes(DATA_1_2);
    let frame = app_frame(&message);
    assert!(frame.starts_with(&bytes("02 20 24")) && frame.ends_with(&bytes("2E 64 03")));
    let data = Data::parse(&message).unwrap();
    let mut samples = data.samples(10).unwrap();
    assert_eq!(samples.len(), 1);
    let sample = samples.next().unwrap();
    assert_eq!((sample.tick, sample.flags), (123_456, RIDING));
    let values = [4320.0, -12.5, 0.350_097_66, 75.5, -0.75, 0.5, 0.25, -1.0, 0.0, 10.0];
    assert_eq!(sample.values().collect::<Vec<_>>(), values);
    let text = "tick 123456, running, footpad both: 4320 -12.5 0.35009766 75.5 -0.75 0.5 0.25 -1 0 10";
    assert_eq!(sample.to_string(), text);

    let message = bytes(DATA_1_3);
    let frame = app_frame(&message);
    assert!(frame.starts_with(&bytes("02 45 24")) && frame.ends_with(&bytes("56 2E 03")));
    let data = Data::parse(&message).unwrap();
    let samples: Vec<_> = data.samples(13).unwrap().map(|sample| (sample.tick, sample.flags.0)).collect();
    assert_eq!(samples, [(123_456, 0x0D), (123_468, 0x6F)]);
    assert_eq!(data.to_string(), "data at 0: 62 bytes");
    assert_eq!(data.samples(10).unwrap_err().to_string(), "byte 56: 62 bytes is not a multiple of 25-byte samples");

    let empty = bytes("65 2B 00 00 00 07");
    assert_eq!(app_frame(&empty), bytes("02 07 24 65 2B 00 00 00 07 27 85 03"));
    let data = Data::parse(&empty).unwrap();
    assert_eq!((data.offset, data.samples(13).unwrap().count()), (7, 0));
}

#[test]
fn the_flags_of_a_sample() {
    assert_eq!(RIDING.to_string(), "running, footpad both");
    assert_eq!(Flags(0x6F).to_string(), "running, wheelslip, footpad both, duty pushback");
    assert_eq!(Flags(0).to_string(), "not running, footpad none");
    assert_eq!(Flags(0xF4).to_string(), "not running, footpad left, type 15");
    for byte in 0..=255 {
        let flags = Flags(byte);
        let again = Flags::new(
            flags.running(),
            flags.wheelslip(),
            Footpad::from_name(flags.footpad().name()).unwrap(),
            Adjustment::from_name(&flags.adjustment().name()).unwrap(),
        );
        assert_eq!(again, flags);
    }
    let names: Vec<_> = [0, 1, 2, 5, 6, 7, 10, 11, 12, 3].map(|n| Adjustment(n).name()).into();
    let expected = [
        "none",
        "centering",
        "reverse stop",
        "speed pushback",
        "duty pushback",
        "error pushback",
        "high voltage",
        "low voltage",
        "temperature",
        "type 3",
    ];
    assert_eq!(names, expected);
    assert_eq!(Adjustment::from_name("type 16"), None);
    assert_eq!(Footpad::from_name("up"), None);
}

#[test]
fn the_state_flags() {
    let flags = StateFlags(0x23E3_6405);
    assert_eq!((flags.mode(), flags.state(), flags.footpad()), (2, 3, Footpad::Both));
    assert!(flags.charging() && !flags.fatal_error() && flags.darkride() && flags.wheelslip() && flags.running());
    assert_eq!((flags.adjustment(), flags.stop_condition(), flags.beep_reason()), (Adjustment::DUTY, 4, 5));
    let text = "running, flywheel, footpad both, charging, darkride, wheelslip, duty pushback, stopped by switch full, \
                beeped for current";
    assert_eq!(flags.to_string(), text);
    let built = StateFlags::default()
        .with_mode(2)
        .with_state(3)
        .with_footpad(Footpad::Both)
        .with_charging(true)
        .with_fatal_error(false)
        .with_darkride(true)
        .with_wheelslip(true)
        .with_adjustment(Adjustment::DUTY)
        .with_stop_condition(4)
        .with_beep_reason(5);
    assert_eq!(built, flags);
    assert_eq!(StateFlags(0x0010_0000).to_string(), "disabled, footpad none, fatal error");
    let names = |at: u32, most: u32, name: fn(StateFlags) -> String| {
        (0..most).map(|n| name(StateFlags(n << at))).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(names(28, 4, |flags| flags.mode_name().into()), "normal, handtest, flywheel, mode 3");
    assert_eq!(names(24, 4, |flags| flags.state_name().into()), "disabled, startup, ready, running");
    let conditions = "none, pitch, roll, switch half, switch full, reverse stop, quickstop, condition 7";
    assert_eq!(names(8, 8, |flags| flags.stop_condition_name().into()), conditions);
    let reasons = "none, low voltage, high voltage, MOSFET temperature, motor temperature, current, duty, sensors, \
                   low battery, idle, error, reason 11";
    assert_eq!(names(0, 12, |flags| flags.beep_reason_name().into()), reasons);
}

#[test]
fn live_values_have_the_lengths_of_section_8() {
    let lengths = ["1.1.2", "1.2.3", "1.3.0"].map(|version| live_ids(version).len());
    assert_eq!(lengths, [405, 405, 370]);
    assert_eq!(live("1.1.2", true, false).len(), 64);
    assert_eq!(live("1.3.0", true, false).len(), 79);
    for version in ["1.1.2", "1.2.3", "1.3.0"] {
        let ids = live_ids(version);
        let ids = LiveIds::parse(&ids).unwrap();
        for (running, charging) in [(false, false), (true, false), (false, true), (true, true)] {
            let message = live(version, running, charging);
            let live = Live::parse(&message).unwrap();
            assert_eq!(emitted(|out| live.emit(out)), message);
            assert_eq!((live.is_running(), live.charging.is_some()), (running, charging));
            live.fits(ids.always.len(), ids.running.len()).unwrap();
            assert_eq!(live.values().next(), Some(1.0));
        }
    }
}

#[test]
fn a_live_reply_whose_length_is_not_that_of_its_mask_is_refused() {
    let message = live("1.2.3", false, true);
    let ids = live_ids("1.2.3");
    let ids = LiveIds::parse(&ids).unwrap();
    let short = Live::parse(&message[..message.len() - 1]).unwrap_err();
    assert_eq!(short.to_string(), "byte 42: 31 bytes is not a multiple of 2-byte values");
    let shorter = Live::parse(&message[..message.len() - 2]).unwrap();
    let error = shorter.fits(ids.always.len(), ids.running.len()).unwrap_err();
    assert_eq!(error.to_string(), "byte 12: live values has 30 bytes, expected 32");
    let head = Live::parse(&message[..14]).unwrap_err();
    assert_eq!(head.to_string(), "byte 12: live values has 2 bytes, expected 13");
}

#[test]
fn the_masks_of_each_version_have_their_fields() {
    for (version, fields) in [("1.3.0-preview1", 26 + 9), ("1.3.0-preview3", 27 + 9), ("1.3.0-beta1", 27 + 15)] {
        for float32 in [false, true] {
            let message = live_mask(version, float32);
            let live = LiveMask::parse(&message).unwrap();
            assert_eq!(emitted(|out| live.emit(out)), message);
            assert_eq!(live.fields().count(), fields, "{version}");
        }
    }
}

#[test]
fn bits_that_the_build_does_not_know_have_no_field() {
    // A board of preview1 is asked for everything: the masks come back whole, the fields do not.
    let mut message = live_mask("1.3.0-preview1", false);
    message[3..11].fill(0xFF);
    let live = LiveMask::parse(&message).unwrap();
    let ids: Vec<_> = live.fields().map(|(field, _)| field.id).collect();
    assert_eq!(ids.len(), 35);
    assert!(!ids.contains(&"control.freq") && !ids.contains(&"gnss.tick") && ids.contains(&"foc_d_current"));
    message.push(0);
    let error = LiveMask::parse(&message).unwrap_err();
    assert!(error.to_string().starts_with("byte 15: fields of the masks has "), "{error}");
}

#[test]
fn a_live_reply_by_mask_is_shown_in_one_line() {
    let check = |message: &str, text: &str| {
        assert_eq!(LiveMask::parse(&bytes(message)).unwrap().to_string(), text);
    };
    let message = "65 21 00 00 00 11 40 00 00 00 01 00 01 E2 40 49 00 CA 40 54 B8 00 00 01 00";
    check(message, "live at tick 123456: speed 10, current -12.5, batt_voltage 75.5, odometer 256");
    let message = "65 21 01 00 00 00 42 00 00 00 00 00 01 E2 40 03 C0 00 00 41 20 00 00";
    check(message, "live at tick 123456: state_flags running, footpad both, speed 10");
}

#[test]
fn small_numbers_and_negative_zero_are_sent_as_zero() {
    let sent = |x: f32| emitted(|out| logpose_refloat::wire::put_float32(x, out));
    assert_eq!(sent(1.4e-38), [0; 4]);
    assert_eq!(sent(-0.0), [0; 4]);
    assert_eq!(sent(1.6e-38), 1.6e-38_f32.to_be_bytes());
    assert_eq!(sent(-12.5), bytes("C1 48 00 00"));
}

#[test]
fn alerts() {
    let message = bytes(
        "65 23 00 00 00 00 00 00 00 00 00 02 00 01 86 A0 01 01 05 0D 4F 56 45 52 5F 54 45 4D 50 5F 46 45 54 \
         00 01 88 94 01 00 00",
    );
    let alerts = Alerts::parse(&message).unwrap();
    let records: Vec<_> = alerts.records.iter().collect();
    let begin = AlertRecord { tick: 100_000, id: 1, active: true, code: 5, name: Some("OVER_TEMP_FET") };
    let end = AlertRecord { tick: 100_500, id: 1, active: false, code: 0, name: None };
    assert_eq!(records, [begin, end]);
    assert_eq!(emitted(|out| Alerts::put(0, 0, None, records, out)), message);
    assert_eq!(emitted(|out| alerts.emit(out)), message);
    let text = "alerts: none active; tick 100000: 1 begins, OVER_TEMP_FET (5); tick 100500: 1 ends";
    assert_eq!(alerts.to_string(), text);
    let message = emitted(|out| Alerts::put(1, 5, Some("OVER_TEMP_FET"), [], out));
    assert_eq!(message, bytes("65 23 00 00 00 01 00 00 00 00 05 0D \"OVER_TEMP_FET\" 00"));
    assert_eq!(Alerts::parse(&message).unwrap().to_string(), "alerts: active 0x1, fault OVER_TEMP_FET (5)");
}

#[test]
fn compact() {
    for (mode, length) in [(1, 34), (2, 41), (3, 54), (4, 58)] {
        let reply = Compact::Values(compact_values(mode));
        let message = emitted(|out| reply.emit(out));
        assert_eq!((message.len(), message[2]), (length, mode));
        assert_eq!(Compact::parse(&message), Ok(reply));
        let text = "compact: running, 12.6 km/h, erpm 4321, 75.5 V, duty 0.35, pitch -0.7";
        assert_eq!(reply.to_string(), text);
        assert!(Compact::parse(&message[..length - 1]).is_err());
    }
    let whole = bytes(
        "65 0A 04 FF 83 00 05 FF F4 21 02 96 91 81 7B 80 8A 80 80 FF F9 82 02 F3 10 E1 00 23 FF 83 FF E1 A3 09 \
         44 9A 50 00 53 65 00 00 12 D6 87 00 0C 00 03 00 5B 00 16 97 00 23 02 EE",
    );
    assert_eq!(emitted(|out| Compact::Values(compact_values(4)).emit(out)), whole);
    assert_eq!(Compact::parse(&bytes("65 0A 45 05")), Ok(Compact::Fault(5)));
    assert_eq!(emitted(|out| Compact::Fault(5).emit(out)), bytes("65 0A 45 05"));
    let error = Compact::parse(&bytes("65 0A 05")).unwrap_err();
    assert_eq!(error.to_string(), "byte 2: unknown mode 5");
    let values = compact_values(1);
    assert_eq!(values.setpoint_degrees(), [0.2, -1.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!((values.adjustment(), values.pads(), values.handtest()), (Adjustment::NONE, 2, false));
}

#[test]
fn printed_texts() {
    let check = |error: PackageError, text: &str| {
        let whole = format!("0.544700 [refloat] Error: {text}");
        assert_eq!(emitted(|out| error.emit(544_700, out)), whole.as_bytes());
        let print = Print::parse(whole.as_bytes());
        assert_eq!((print.uptime_us, print.error()), (Some(544_700), Some(error)));
        assert_eq!(emitted(|out| print.emit(out)), whole.as_bytes());
        assert_eq!(print.to_string(), format!("print: Error: {text}"));
        assert_eq!(PackageError::parse(text), Some(error));
    };
    check(PackageError::TooShort(1), "Received command data too short: 1 bytes.");
    check(PackageError::PackageId(100), "Invalid Package ID: 100");
    check(PackageError::UnknownCommand(99), "Unknown command received: 99");
    check(PackageError::NotSupported, "Data Record not supported.");
    check(PackageError::MissingData, "Data Record request missing data.");
    check(PackageError::MissingValue(2), "Data Record request missing value, length: 2");
    check(PackageError::MissingOffset(5), "Data Record request missing offset, length: 5");
    let other = Print::parse(b"hello from a script");
    assert_eq!((other.uptime_us, other.text, other.error()), (None, &b"hello from a script"[..], None));
    assert_eq!(Print::parse(b"Data Record not supported.").error(), None, "another package may say so too");
    assert_eq!(vesc::printed(&bytes("87 \"hello\"")), Some(&b"hello"[..]));
}

#[test]
fn the_firmware_says_as_much_as_it_knows() {
    let message = bytes(
        "00 06 05 \"60_MK6\" 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 00 00 00 01 01 00 01 03 \"rflt-xtras-6.05\" 00 \
         DE AD BE EF",
    );
    let version = FirmwareVersion::parse(&message).unwrap();
    assert_eq!(version.to_string(), "VESC 6.05 on 60_MK6, rflt-xtras-6.05");
    assert_eq!(version.hardware_type, Some(HardwareType::Controller));
    assert_eq!((version.custom_configs, version.nrf_flags), (Some(1), Some(3)));
    assert_eq!((version.checksum, version.is_recorder()), (Some(0xDEAD_BEEF), true));
    assert_eq!(emitted(|out| version.emit(out)), message);
    for length in 0..message.len() {
        let parsed = FirmwareVersion::parse(&message[..length]);
        assert_eq!(parsed.is_some(), length >= 3);
        let Some(parsed) = parsed else { continue };
        assert_eq!((parsed.major, parsed.minor, parsed.checksum), (6, 5, None));
        let again = emitted(|out| parsed.emit(out));
        assert_eq!(FirmwareVersion::parse(&again), Some(parsed));
    }
    assert_eq!(FirmwareVersion::parse(&bytes("24 06 05")), None);
    assert_eq!(u8::from(HardwareType::from(7)), 7);
}

#[test]
fn the_way_through_the_can_bus() {
    assert_eq!(emitted(|out| vesc::forward(Some(21), &bytes("24 65 00"), out)), bytes("22 15 24 65 00"));
    assert_eq!(emitted(|out| vesc::forward(None, &bytes("24 65 00"), out)), bytes("24 65 00"));
    assert_eq!(vesc::forwarded(&bytes("22 15 24 65 00")), Some((21, &bytes("24 65 00")[..])));
    assert_eq!(vesc::forwarded(&bytes("22")), None);
    assert_eq!(vesc::pinged(&bytes("3E 0A 15")), Some(&[10, 21][..]));
    assert_eq!(vesc::pinged(&bytes("24")), None);
}

#[test]
fn every_message_is_shown_in_one_line_and_emitted_as_it_came() {
    for message in messages() {
        let reply = Reply::parse(&message).unwrap();
        assert_eq!(emitted(|out| reply.emit(out)), message, "{reply}");
        let line = reply.to_string();
        assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    }
    assert_eq!(Reply::parse(&bytes("65 14 01")).unwrap().to_string(), "other message: 65 14 01");
    let error = Reply::parse(&bytes("64 14 01")).unwrap_err();
    assert_eq!(error.to_string(), "byte 0: package id is 100, expected 101 (Refloat)");
}

#[test]
fn more_ids_than_a_list_can_count_are_left_out() {
    let ids: Vec<String> = (0..300).map(|i| format!("id{i}")).collect();
    let message = emitted(|out| Header::put(0, ids.iter().map(String::as_str), out));
    let header = Header::parse(&message).unwrap();
    assert_eq!((header.ids.len(), header.ids.iter().last()), (255, Some("id254")));
    assert_eq!(header.chunk(), 0, "not one sample would fit");
}

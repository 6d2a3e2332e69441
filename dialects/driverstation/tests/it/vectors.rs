//! The vectors of the specification byte for byte: what they mean, and that what they mean gives the bytes.

use logpose_driverstation::fuzzing;
use logpose_driverstation::pd::{Kind, Pdh, Pdp, PowerDistribution};
use logpose_driverstation::wire::{
    AllianceStation, CanMetrics, Console, Control, ControlBits, ControlTag, Cores, Date, Descriptor, ErrorFlags,
    ErrorMessage, Joystick, JoystickOutput, MatchInfo, MatchType, Mode, RequestBits, Status, StatusBits, StatusTag,
    Tags, ToRobot, ToStation, TraceBits, VERSION, Version, axis_value, volts_to_raw,
};

use crate::kit::bytes;

/// Cut anywhere, a vector is less or an error.
fn prefixes(bytes: &[u8]) {
    (0..=bytes.len()).for_each(|length| fuzzing::roundtrip(&bytes[..length]));
}

/// What a control packet means, and the packet that this meaning makes.
fn control(hex: &str, expected: &str) -> Vec<u8> {
    let datagram = bytes(hex);
    let packet = Control::parse(&datagram).unwrap();
    assert_eq!(packet.to_string(), expected);
    let mut tags = Vec::new();
    for tag in packet.tags {
        ControlTag::parse(tag.unwrap()).unwrap().emit(&mut tags);
    }
    let mut out = Vec::new();
    Control { tags: Tags::new(&tags, Control::HEADER), ..packet }.emit(&mut out);
    assert_eq!(out, datagram, "{expected}");
    prefixes(&datagram);
    datagram
}

fn status(hex: &str, expected: &str) -> Vec<u8> {
    let datagram = bytes(hex);
    let packet = Status::parse(&datagram).unwrap();
    assert_eq!(packet.to_string(), expected);
    let mut tags = Vec::new();
    for tag in packet.tags {
        StatusTag::parse(tag.unwrap()).unwrap().emit(&mut tags);
    }
    let mut out = Vec::new();
    Status { tags: Tags::new(&tags, Status::HEADER), ..packet }.emit(&mut out);
    assert_eq!(out, datagram, "{expected}");
    prefixes(&datagram);
    datagram
}

/// The packet that is made of parts, without looking at bytes.
fn made(sequence: u16, control: ControlBits, request: u8, station: &str, tags: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Control {
        sequence,
        version: VERSION,
        control,
        request: RequestBits(request),
        station: station.parse().unwrap(),
        tags: Tags::new(tags, Control::HEADER),
    }
    .emit(&mut out);
    out
}

fn answer(sequence: u16, status: StatusBits, trace: TraceBits, volts: f64, tags: &[StatusTag<'_>]) -> Vec<u8> {
    let (mut out, mut raw) = (Vec::new(), Vec::new());
    tags.iter().for_each(|tag| tag.emit(&mut raw));
    let tags = Tags::new(&raw, Status::HEADER);
    let battery = volts_to_raw(volts);
    Status { sequence, version: VERSION, status, trace, battery, request_date: 0, tags }.emit(&mut out);
    out
}

const TELEOP: ControlBits = ControlBits(0).with_enabled(true);
const RIO: TraceBits = TraceBits(0).with_roborio(true);
const RUNNING: TraceBits = RIO.with_code(true).with_disabled(true);

#[test]
fn the_first_control_packet() {
    let datagram = control("00 01 01 00 00 00", "#1 teleop; no request; red 1");
    assert_eq!(made(1, ControlBits::default(), 0, "red 1", &[]), datagram);
}

#[test]
fn date_and_timezone() {
    let datagram = control(
        "00 02 01 00 10 00 0b 0f 00 05 3f b6 10 01 14 11 07 7c 08 10 50 53 54 38 50 44 54",
        "#2 teleop; connected; red 1; date 2024-08-17T20:01:16.343990Z; timezone \"PST8PDT\"",
    );
    let date = Date { micros: 343_990, second: 16, minute: 1, hour: 20, day: 17, month: 7, year: 124 };
    let mut tags = Vec::new();
    ControlTag::Date { date, rest: &[] }.emit(&mut tags);
    ControlTag::Timezone(b"PST8PDT").emit(&mut tags);
    assert_eq!(made(2, ControlBits::default(), 0x10, "red 1", &tags), datagram);
    let time = date.time().unwrap();
    assert_eq!(time.nanos(), 1_723_924_876_343_990_000);
    assert_eq!(Date::of(time), Some(date));
}

#[test]
fn stations_and_requests() {
    let datagram = control("0b 51 01 00 10 04", "#2897 teleop; connected; blue 2");
    assert_eq!(made(2897, ControlBits::default(), 0x10, "blue 2", &[]), datagram);
    let asks = control("0b db 01 00 11 04", "#3035 teleop; connected, versions; blue 2");
    assert!(Control::parse(&asks).unwrap().request.versions());
    let request = RequestBits(0).with_connected(true).with_versions(true);
    assert_eq!(made(3035, ControlBits::default(), request.0, "BLUE2", &[]), asks);
}

#[test]
fn an_xbox_pad() {
    let axes = [-7, -1, 0, 0, 6, 2];
    for (buttons, down) in [("00 00", &[][..]), ("00 02", &[2]), ("00 0a", &[2, 4])] {
        let words: String = down.iter().map(|n| format!(" {n}")).collect();
        let datagram = control(
            &format!("1c 6b 01 04 10 04 0e 0c 06 f9 ff 00 00 06 02 10 {buttons} 01 ff ff"),
            &format!(
                "#7275 teleop, enabled; connected; blue 2; joystick axes -7 -1 0 0 6 2, buttons{words} of 16, POVs -1"
            ),
        );
        let pressed: Vec<bool> = (1..=16).map(|n| down.contains(&n)).collect();
        let mut tags = Vec::new();
        Joystick::emit_tag(&axes, &pressed, &[-1], &mut tags);
        assert_eq!(made(7275, TELEOP, 0x10, "blue 2", &tags), datagram);
    }
}

#[test]
fn plain_status_packets() {
    let datagram = status("00 01 01 00 11 25 60 01", "#1 teleop; roboRIO, disabled; date wanted");
    let packet = Status::parse(&datagram).unwrap();
    assert_eq!((packet.volts(), packet.battery), (None, 0x2560));

    let datagram = status("00 07 01 00 31 09 1a 00", "#7 teleop; code, roboRIO, disabled; 9.10 V");
    assert_eq!(Status::parse(&datagram).unwrap().volts(), Some(9.101_562_5));
    assert_eq!(answer(7, StatusBits(0), RUNNING, 9.101_562_5, &[]), datagram);

    let datagram = status("0c 8d 01 04 32 0c 3a 00", "#3213 teleop, enabled; code, roboRIO, teleop; 12.23 V");
    assert_eq!(Status::parse(&datagram).unwrap().volts(), Some(12.226_562_5));
    let trace = RIO.with_code(true).with_teleop(true);
    assert_eq!(answer(3213, StatusBits(0).with_enabled(true), trace, 12.226_562_5, &[]), datagram);
}

const CAN: CanMetrics =
    CanMetrics { utilization: 0.0, bus_off: 0, tx_full: 1, receive_errors: 0, transmit_errors: 128 };

#[test]
fn can_metrics() {
    let datagram = status(
        "0b 56 01 00 31 0c 35 00 0f 0e 00 00 00 00 00 00 00 00 00 00 00 01 00 80",
        "#2902 teleop; code, roboRIO, disabled; 12.21 V; CAN 0, 0 bus off, 1 TX full, errors 0/128",
    );
    let tags = [StatusTag::Can { can: CAN, rest: &[] }];
    assert_eq!(answer(2902, StatusBits(0), RUNNING, 0xc35 as f64 / 256.0, &tags), datagram);

    let datagram = status(
        "00 00 01 00 00 00 00 00 0f 0e 3f 3c 00 00 ff ff ff ff 00 01 11 70 7f ff",
        "#0 teleop; no trace; 0.00 V; CAN 0.734375, 4294967295 bus off, 70000 TX full, errors 127/255",
    );
    let can = CanMetrics {
        utilization: 0.734_375,
        bus_off: u32::MAX,
        tx_full: 70_000,
        receive_errors: 127,
        transmit_errors: 255,
    };
    assert_eq!(answer(0, StatusBits(0), TraceBits(0), 0.0, &[StatusTag::Can { can, rest: &[] }]), datagram);
}

#[test]
fn cpu_and_can_in_one_packet() {
    let datagram = status(
        "00 2c 01 00 31 09 12 00 22 05 02 41 1b 56 31 00 00 00 00 00 00 00 00 3f d0 e0 03 \
         40 e5 f2 f2 00 00 00 00 00 00 00 00 3f f0 0d e7 0f 0e 00 00 00 00 00 00 00 00 00 00 00 01 00 80",
        "#44 teleop; code, roboRIO, disabled; 9.07 V; CPU 9.71/0.00/0.00/1.63 %, 7.19/0.00/0.00/1.88 %; \
         CAN 0, 0 bus off, 1 TX full, errors 0/128",
    );
    let packet = Status::parse(&datagram).unwrap();
    let tag = StatusTag::parse({ packet.tags }.next().unwrap().unwrap()).unwrap();
    let StatusTag::Cpu { cores, rest: [] } = tag else { panic!("{tag}") };
    let found: Vec<_> = cores.iter().collect();
    let mut tags = Vec::new();
    Cores::emit_tag(&found, &mut tags);
    StatusTag::Can { can: CAN, rest: &[] }.emit(&mut tags);
    assert_eq!(tags, packet.tags.bytes());
    assert!((cores.busy().unwrap() - 0.102_04).abs() < 1e-4, "{:?}", cores.busy());
}

#[test]
fn disk_and_ram() {
    let datagram = status(
        "00 31 01 00 31 09 19 00 09 04 00 00 00 00 c0 98 b0 00",
        "#49 teleop; code, roboRIO, disabled; 9.10 V; disk 3231232000 B free",
    );
    let tags = [StatusTag::Disk { free: 3_231_232_000, rest: &[] }];
    assert_eq!(answer(49, StatusBits(0), RUNNING, 9.097_656_25, &tags), datagram);
    let datagram = status(
        "00 68 01 00 31 09 1a 00 09 06 00 00 00 00 0f 1e 60 00",
        "#104 teleop; code, roboRIO, disabled; 9.10 V; RAM 253648896 B free",
    );
    let tags = [StatusTag::Ram { free: 253_648_896, rest: &[] }];
    assert_eq!(answer(104, StatusBits(0), RUNNING, 9.101_562_5, &tags), datagram);
}

fn to_robot(hex: &str, expected: ToRobot<'_>, text: &str) {
    let message = bytes(hex);
    let (size, body) = message.split_first_chunk().unwrap();
    assert_eq!(usize::from(u16::from_be_bytes(*size)), body.len(), "{text}");
    assert_eq!(ToRobot::parse(body), Ok(expected));
    assert_eq!(expected.to_string(), text);
    let mut out = Vec::new();
    expected.emit(&mut out);
    assert_eq!(out, message, "{text}");
    prefixes(&message);
}

fn to_station(hex: &str, expected: ToStation<'_>, text: &str) {
    let message = bytes(hex);
    let (size, body) = message.split_first_chunk().unwrap();
    assert_eq!(usize::from(u16::from_be_bytes(*size)), body.len(), "{text}");
    assert_eq!(ToStation::parse(body), Ok(expected));
    assert_eq!(expected.to_string(), text);
    let mut out = Vec::new();
    expected.emit(&mut out);
    assert_eq!(out, message, "{text}");
    prefixes(&message);
}

#[test]
fn messages_to_the_robot() {
    let pad = Descriptor {
        index: 0,
        xbox: 1,
        kind: 1,
        name: b"Controller (Xbox One For Windows)",
        axes: &[0, 1, 2, 3, 4, 5],
        buttons: 16,
        povs: 1,
        rest: &[],
    };
    to_robot(
        "00 2f 02 00 01 01 21 \"Controller (Xbox One For Windows)\" 06 00 01 02 03 04 05 10 01",
        ToRobot::Descriptor(pad),
        "descriptor 0: \"Controller (Xbox One For Windows)\", Xbox, type 1, 6 axes, 16 buttons, 1 POVs",
    );
    to_robot(
        "00 08 02 02 00 ff 00 00 00 00",
        ToRobot::Descriptor(Descriptor::empty(2)),
        "descriptor 2: \"\", type -1, 0 axes, 0 buttons, 0 POVs",
    );
    let none = MatchInfo { event: b"", kind: MatchType::NONE, number: Some(0), replay: Some(0), rest: &[] };
    to_robot("00 06 07 00 00 00 00 00", ToRobot::Match(none), "match \"\", none 0");
    to_robot("00 04 0e 41 41 41", ToRobot::GameData(b"AAA"), "game data \"AAA\"");
    to_robot("00 01 0e", ToRobot::GameData(b""), "game data \"\"");
    to_robot("00 00", ToRobot::KeepAlive, "keepalive");
}

#[test]
fn messages_to_the_station() {
    let image = Version { name: b"roboRIO Image", version: b"FRC_roboRIO2_2024_v2.2", ..Version::default() };
    to_station(
        "00 2a 0a 00 00 00 00 0d \"roboRIO Image\" 16 \"FRC_roboRIO2_2024_v2.2\"",
        ToStation::Version(image),
        "version type 0 id 0: \"roboRIO Image\" \"FRC_roboRIO2_2024_v2.2\"",
    );
    to_station("00 07 0a 00 00 00 00 00 00", ToStation::Version(Version::default()), "end of versions");
    let text = b"********** Robot program starting **********";
    to_station(
        "00 33 0c c4 21 84 d5 00 01 \"********** Robot program starting **********\"",
        ToStation::Console(Console { time: f32::from_bits(0xc421_84d5), sequence: 1, text }),
        "console at -646.0755 s #1: \"********** Robot program starting **********\"",
    );
    to_station(
        "00 07 0c c4 21 50 75 00 12",
        ToStation::Console(Console { time: f32::from_bits(0xc421_5075), sequence: 18, text: b"" }),
        "console at -645.25714 s #18: \"\"",
    );
    let details = "x".repeat(111);
    let error = ErrorMessage {
        time: f32::from_bits(0xc421_3525),
        sequence: 109,
        count: 1,
        code: 4,
        flags: ErrorFlags(0).with_error(true),
        details: details.as_bytes(),
        ..ErrorMessage::default()
    };
    to_station(
        &format!("00 83 0b c4 21 35 25 00 6d 00 01 00 00 00 04 01 00 6f \"{details}\" 00 00 00 00"),
        ToStation::Error(error),
        &format!("error 4 at -644.8304 s #109: \"{details}\""),
    );
    to_station(
        "00 06 0d 00 00 04 04 04",
        ToStation::Unknown { id: 0x0d, data: &[0, 0, 4, 4, 4] },
        "message 0d 00 00 04 04 04",
    );
}

#[test]
fn the_simulator() {
    let nothing = StatusTag::JoystickOutput { output: Some(JoystickOutput::default()), rest: &[] };
    let zero = " 09 01 00 00 00 00 00 00 00 00";
    let six = "; joystick outputs 00000000, rumble 0.000 0.000".repeat(6);
    let datagram =
        status(&format!("00 01 01 00 20 0c 00 00{}", zero.repeat(6)), &format!("#1 teleop; code; 12.00 V{six}"));
    assert_eq!(datagram.len(), 68);
    let code = TraceBits(0).with_code(true);
    assert_eq!(answer(1, StatusBits(0), code, 12.0, &[nothing; 6]), datagram);

    let datagram = status(
        &format!(
            "00 34 01 04 20 0c 00 00 09 01 00 00 00 05 00 00 00 00 09 01 00 00 00 00 ff ff 3f ff{}",
            zero.repeat(4)
        ),
        &format!(
            "#52 teleop, enabled; code; 12.00 V; joystick outputs 00000005, rumble 0.000 0.000; \
             joystick outputs 00000000, rumble 1.000 0.250{}",
            "; joystick outputs 00000000, rumble 0.000 0.000".repeat(4)
        ),
    );
    let output = |outputs, left_rumble, right_rumble| StatusTag::JoystickOutput {
        output: Some(JoystickOutput { outputs, left_rumble, right_rumble }),
        rest: &[],
    };
    let tags = [output(5, 0, 0), output(0, 0xffff, 0x3fff), nothing, nothing, nothing, nothing];
    assert_eq!(answer(52, StatusBits(0).with_enabled(true), code, 12.0, &tags), datagram);
}

#[test]
fn what_robot_code_of_the_simulator_sees() {
    let datagram = control(
        "00 33 01 04 10 00 0e 0c 06 16 a2 00 7f 80 ff 0a 00 32 01 00 b4 07 0c 02 32 ce 03 07 00 05 07 41 5f ff 80",
        "#51 teleop, enabled; connected; red 1; joystick axes 22 -94 0 127 -128 -1, buttons 2 5 6 of 10, POVs 180; \
         joystick axes 50 -50, buttons 1 2 3 of 3, POVs; countdown 13.999878 s",
    );
    let packet = Control::parse(&datagram).unwrap();
    let mut sticks = packet.tags.map(|tag| ControlTag::parse(tag.unwrap()).unwrap()).filter_map(|tag| match tag {
        ControlTag::Joystick(stick) => stick,
        _ => None,
    });
    let mut near = |expected: &[f32]| {
        let found: Vec<f32> = sticks.next().unwrap().axes().map(axis_value).collect();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}");
    };
    near(&[0.1732, -0.7344, 0.0, 1.0, -1.0, -0.0078]);
    near(&[0.3937, -0.3906]);
    let down = |list: &[usize], n| (1..=n).map(|i| list.contains(&i)).collect::<Vec<_>>();
    let mut tags = Vec::new();
    Joystick::emit_tag(&[22, -94, 0, 127, -128, -1], &down(&[2, 5, 6], 10), &[180], &mut tags);
    Joystick::emit_tag(&[50, -50], &[true; 3], &[], &mut tags);
    ControlTag::Countdown { seconds: 13.999_878, rest: &[] }.emit(&mut tags);
    assert_eq!(made(51, TELEOP, 0x10, "red 1", &tags), datagram);
}

#[test]
fn sticks_of_other_projects_and_constructed_ones() {
    let tag = |axes: &[i8], down: &[usize], count, povs: &[i16]| {
        let buttons: Vec<bool> = (1..=count).map(|n| down.contains(&n)).collect();
        let mut out = Vec::new();
        Joystick::emit_tag(axes, &buttons, povs, &mut out);
        out
    };
    // WPILib's unit tests.
    let twelve = "10 0c 04 9c ce 00 4b 0c 0a b2 03 00 32 00 64 0f 00";
    assert_eq!(tag(&[-100, -50, 0, 75], &[2, 5, 6, 8, 10, 12], 12, &[50, 100, 3840]), bytes(twelve));
    control(
        &format!("00 00 01 00 00 00 {twelve}"),
        "#0 teleop; no request; red 1; joystick axes -100 -50 0 75, buttons 2 5 6 8 10 12 of 12, POVs 50 100 3840",
    );
    // The `ds` crate.
    control("00 00 01 00 00 00 05 07 40 00 00 00", "#0 teleop; no request; red 1; countdown 2 s");
    let ten = "0f 0c 05 80 ff 00 01 7f 0a 02 05 02 00 00 01 3b";
    assert_eq!(tag(&[-128, -1, 0, 1, 127], &[1, 3, 10], 10, &[0, 315]), bytes(ten));
    control(
        &format!("00 2f 01 04 10 00 {ten}"),
        "#47 teleop, enabled; connected; red 1; joystick axes -128 -1 0 1 127, buttons 1 3 10 of 10, POVs 0 315",
    );
}

#[test]
fn output_of_the_third_stick() {
    let datagram = status(
        "00 00 01 00 00 00 00 00 01 01 01 01 09 01 80 00 00 05 3f ff ff ff",
        "#0 teleop; no trace; 0.00 V; no joystick output; no joystick output; joystick outputs 80000005, rumble 0.250 1.000",
    );
    let nothing = StatusTag::JoystickOutput { output: None, rest: &[] };
    let output = JoystickOutput { outputs: 1 | 1 << 2 | 1 << 31, left_rumble: 16383, right_rumble: 65535 };
    let tags = [nothing, nothing, StatusTag::JoystickOutput { output: Some(output), rest: &[] }];
    assert_eq!(answer(0, StatusBits(0), TraceBits(0), 0.0, &tags), datagram);
}

fn panel(hex: &str, expected: PowerDistribution) {
    let datagram = bytes(&format!("00 00 01 00 00 00 00 00 {hex}"));
    let packet = Status::parse(&datagram).unwrap();
    let tag = StatusTag::parse({ packet.tags }.next().unwrap().unwrap()).unwrap();
    assert_eq!(tag, StatusTag::PowerDistribution { pd: expected, rest: &[] });
    assert_eq!(answer(0, StatusBits(0), TraceBits(0), 0.0, &[tag]), datagram);
    prefixes(&datagram);
}

#[test]
fn power_distribution_panels() {
    let steps = Pdp {
        id: 0,
        currents: std::array::from_fn(|n| 64 * n as u16),
        spare: [0; 2],
        resistance: 255,
        voltage: 0xa4,
        temperature: 0x58,
    };
    let pd = PowerDistribution::Pdp(steps);
    panel("1a 08 00 00 04 02 00 c0 40 14 00 60 1c 08 02 40 a0 2c 00 c0 34 0e 03 c0 ff a4 58", pd);
    assert!(pd.currents().eq((0..16).map(|n| 8.0 * f64::from(n))));
    assert_eq!((pd.kind(), pd.id(), pd.resistance(), pd.faults()), (Kind::Pdp, 0, None, None));
    assert!((pd.voltage().unwrap() - 12.2).abs() < 1e-9);
    assert!((pd.temperature().unwrap() - 23.0).abs() < 0.01);
    assert_eq!(pd.total_current(), 960.0);

    let bits = Pdp {
        id: 3,
        currents: std::array::from_fn(|n| 1 << (n % 10)),
        spare: [0; 2],
        resistance: 1,
        voltage: 2,
        temperature: 3,
    };
    let pd = PowerDistribution::Pdp(bits);
    panel("1a 08 03 00 40 20 10 08 04 02 00 10 08 04 02 00 00 40 20 01 00 80 40 20 01 02 03", pd);
    assert_eq!(pd.resistance(), Some(0.001));

    let mut currents = std::array::from_fn(|n| 50 * n as u16);
    currents[20..].copy_from_slice(&[16, 32, 48, 255]);
    let pd = PowerDistribution::Pdh(Pdh { id: 1, currents, faults: 0 });
    panel(
        "22 08 01 00 c8 40 06 96 20 a3 0f 2c 79 05 19 c2 d1 67 22 58 2a ca 2b ee 82 2c 35 84 db 0e 10 20 30 ff 00",
        pd,
    );
    let amps: Vec<f64> = pd.currents().collect();
    assert_eq!((amps[1], amps[19], amps[20], amps[23]), (6.25, 118.75, 1.0, 15.9375));
    assert_eq!((pd.kind(), pd.id(), pd.voltage(), pd.faults()), (Kind::Pdh, 1, None, Some(0)));
}

#[test]
fn every_fault_of_a_pdh_has_its_bit() {
    for n in 0..24 {
        let pd = PowerDistribution::Pdh(Pdh { id: 0, currents: [0; 24], faults: 1 << n });
        let mut block = Vec::new();
        pd.emit(&mut block);
        let (byte, bit) = match n {
            0..12 => (4 * (n / 2) + 3, 6 + n % 2),
            12..16 => (26, n - 8),
            _ => (31, n - 16),
        };
        assert_eq!(block.iter().skip(1).position(|b| *b != 0), Some(byte as usize), "fault {n}");
        assert_eq!(block[1 + byte as usize], 1 << bit, "fault {n}");
        assert_eq!(PowerDistribution::parse(&block), Some(pd));
    }
}

#[test]
fn bits_are_set_and_read_and_unknown_ones_stay() {
    let bits = ControlBits(0x70).with_enabled(true).with_mode(Mode::Autonomous).with_estop(true);
    assert_eq!(bits.0, 0xf6);
    assert_eq!(bits.to_string(), "autonomous, estop, enabled, bits 70");
    assert_eq!(bits.with_enabled(false).with_mode(Mode::Test).with_estop(false).0, 0x71);
    assert_eq!(StatusBits(0xff).to_string(), "mode 3, estop, brownout, code start, enabled, bits 60");
    assert_eq!(AllianceStation(7).to_string(), "station 7");
    for station in AllianceStation::ALL {
        assert_eq!(station.to_string().parse(), Ok(station));
    }
    assert!("red 4".parse::<AllianceStation>().is_err());
}

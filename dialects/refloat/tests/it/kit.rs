//! What the tests share.

use logpose_refloat::vesc;
use logpose_refloat::wire::{ActiveAlerts, Charging};
use logpose_refloat::wire::{
    AlertRecord, Alerts, Compact, CompactCharging, CompactRide, CompactTotals, CompactValues, FieldValue, Flags,
    Footpad, Header, Info, InfoV1, InfoV2, Live, LiveIds, LiveMask, Reply, StateFlags, Status, TICK_RATE, Version,
    capability,
};
use logpose_refloat::{float16, items};
pub(crate) use logpose_testkit::{emitted, hex as bytes};

/// What came, a line a sample: `12.345 name value`.
pub(crate) type Lines = logpose_testkit::Lines<logpose_testkit::Plain>;

/// The frame of a message of the package.
pub(crate) fn app_frame(message: &[u8]) -> Vec<u8> {
    vesc::framed(&emitted(|out| vesc::put_app(out, |out| out.extend_from_slice(message))))
}

pub(crate) fn version(text: &str) -> Version {
    text.parse().unwrap()
}

pub(crate) fn info_v2() -> Info {
    Info::V2(InfoV2 {
        flags: 0,
        name: "Refloat".into(),
        major: 1,
        minor: 3,
        patch: 0,
        suffix: "beta2".into(),
        commit: 0x9A16_B5C5,
        tick_rate: TICK_RATE,
        capabilities: capability::RECORDER,
        extra: 0,
    })
}

pub(crate) fn header(version_text: &str, size: u32) -> Vec<u8> {
    emitted(|out| Header::put(size, items::recorded(&version(version_text)), out))
}

pub(crate) fn live_ids(version_text: &str) -> Vec<u8> {
    let (always, running) = items::live_ids(&version(version_text));
    emitted(|out| LiveIds::put(always, running, out))
}

/// A live reply of a version, whose values are 1, 2, 3 and so on.
pub(crate) fn live(version_text: &str, running: bool, charging: bool) -> Vec<u8> {
    let (always, runtime) = items::live_ids(&version(version_text));
    let count = always.len() + if running { runtime.len() } else { 0 };
    let values: Vec<u8> = (1..=count).flat_map(|i| float16::encode(i as f32).to_be_bytes()).collect();
    let state = StateFlags::default()
        .with_state(if running { 3 } else { 2 })
        .with_footpad(if running { Footpad::Both } else { Footpad::None })
        .with_charging(charging);
    let live = Live {
        mask: running.into(),
        extra: 7,
        tick: 123_456,
        state,
        values: &values,
        charging: charging.then(|| Charging { current: float16::encode(3.5), voltage: float16::encode(75.0) }),
        alerts: version(version_text).has_alerts().then(ActiveAlerts::default),
    };
    emitted(|out| live.emit(out))
}

/// A reply with all fields of a version, whose values are 1, 2, 3 and so on.
pub(crate) fn live_mask(version_text: &str, float32: bool) -> Vec<u8> {
    let version = version(version_text);
    let (mask1, mask2) = items::masks(&version).unwrap();
    let since = items::Since::of(&version).unwrap();
    let mut fields = Vec::new();
    for (i, field) in items::fields(mask1, mask2).filter(|field| field.since <= since).enumerate() {
        let n = i as u32 + 1;
        let value = match field.kind {
            items::FieldKind::Extra => FieldValue::Extra(1),
            items::FieldKind::State => FieldValue::State(StateFlags(0x03C0_0000)),
            items::FieldKind::Number => FieldValue::Number(n as f32),
            items::FieldKind::Whole => FieldValue::Whole(n),
            items::FieldKind::Double => FieldValue::Double(n.into()),
        };
        value.emit(float32, &mut fields);
    }
    let live = LiveMask { control: float32.into(), mask1, mask2, tick: 123_456, bytes: &fields };
    emitted(|out| live.emit(out))
}

pub(crate) fn compact_values(mode: u8) -> CompactValues {
    CompactValues {
        balance_current: -125,
        balance_pitch: 5,
        roll: -12,
        state: 0x21,
        switches: 0x02,
        adc_left: 150,
        adc_right: 145,
        setpoints: [129, 123, 128, 138, 128, 128],
        pitch: -7,
        booster: 130,
        batt_voltage: 755,
        erpm: 4321,
        speed: 35,
        current: -125,
        batt_current: -31,
        duty_cycle: 163,
        d_current: 9,
        ride: (mode >= 2).then_some(CompactRide { distance: 1234.5, mosfet_temp: 83, motor_temp: 101, zero: 0 }),
        totals: (mode >= 3).then_some(CompactTotals {
            odometer: 1_234_567,
            amp_hours_used: 12,
            amp_hours_charged: 3,
            watt_hours_used: 91,
            watt_hours_charged: 22,
            battery: 151,
        }),
        charging: (mode >= 4).then_some(CompactCharging { current: 35, voltage: 750 }),
    }
}

/// One of each message of a board.
pub(crate) fn messages() -> Vec<Vec<u8>> {
    let reply = |reply: Reply<'_>| emitted(|out| reply.emit(out));
    let fault = AlertRecord { tick: 100_000, id: 1, active: true, code: 5, name: Some("OVER_TEMP_FET") };
    let end = AlertRecord { tick: 100_500, id: 1, active: false, code: 0, name: None };
    let status =
        Status { enabled: true, recording: false, autostart: true, autostop: true, decimation: 5, duration_cs: 183 };
    let mut messages = vec![
        reply(Reply::Info(Info::V1(InfoV1 { version: 12, build: 1, led_type: 0 }))),
        reply(Reply::Info(info_v2())),
        reply(Reply::Status(status)),
        header("1.2.3", 1500),
        header("1.3.0", 0),
        bytes(DATA_1_2),
        bytes(DATA_1_3),
        bytes("65 2B 00 00 00 07"),
        live_ids("1.2.3"),
        live_ids("1.3.0"),
        emitted(|out| Alerts::put(0, 0, None, [fault, end], out)),
        emitted(|out| Alerts::put(1, 5, Some("OVER_TEMP_FET"), [fault], out)),
        reply(Reply::Compact(Compact::Fault(5))),
        bytes("65 14 01 02 03"),
    ];
    messages.extend((1..=4).map(|mode| reply(Reply::Compact(Compact::Values(compact_values(mode))))));
    for version in ["1.1.2", "1.2.3", "1.3.0"] {
        messages.push(live(version, true, false));
        messages.push(live(version, false, true));
    }
    for version in ["1.3.0-preview1", "1.3.0-preview3", "1.3.0-beta2"] {
        messages.push(live_mask(version, false));
        messages.push(live_mask(version, true));
    }
    messages
}

/// Section 6.2: one sample of 1.2.
pub(crate) const DATA_1_2: &str = "65 2B 00 00 00 00 00 01 E2 40 0D 6C 38 CA 40 35 9A 54 B8 BA 00 38 00 34 00 \
     BC 00 00 00 49 00";
/// Section 6.2: two samples of 1.3.
pub(crate) const DATA_1_3: &str = "65 2B 00 00 00 00 | 00 01 E2 40 0D 3D 00 62 80 6C 38 CA 40 35 9A 54 B8 \
     BA 00 38 00 34 00 BC 00 00 00 49 00 00 00 | 00 01 E2 4C 6F 3C CD 62 80 6C 39 CA 00 35 C3 54 B7 B9 9A \
     37 33 34 00 BC 00 00 00 48 C0 00 00";

/// The flags of the examples: engaged, with both feet on.
pub(crate) const RIDING: Flags = Flags(0x0D);

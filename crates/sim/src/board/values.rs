//! The live values of a board.

use super::machine::Board;
use super::version::BoardVersion;
use logpose_refloat::float16;
use logpose_refloat::items::{FieldKind, fields, live_ids};
use logpose_refloat::wire::{
    ActiveAlerts, Adjustment, AlertRecord, Alerts, Compact, CompactCharging, CompactRide, CompactTotals, CompactValues,
    FieldValue, Live, LiveIds, LiveMask, MAX_APP, StateFlags,
};

/// m, of the board before it was emulated.
const ODOMETER: f32 = 1_234_567.0;

impl Board {
    pub(super) fn put_live_ids(&self, out: &mut Vec<u8>) {
        let (always, running) = live_ids(&self.refloat);
        LiveIds::put(always, running, out);
    }

    pub(super) fn put_live(&self, out: &mut Vec<u8>) {
        let snapshot = self.snapshot();
        let (always, running) = live_ids(&self.refloat);
        let running = if snapshot.running { running } else { Vec::new() };
        let mut values = Vec::new();
        for id in always.into_iter().chain(running) {
            values.extend_from_slice(&float16::encode(snapshot.value(id)).to_be_bytes());
        }
        let alerts = ActiveAlerts { active: self.active(), active2: 0, fault: self.fault };
        Live {
            mask: if snapshot.running { Live::RUNNING } else { 0 },
            extra: self.extra(),
            tick: self.tick(),
            state: self.state(),
            values: &values,
            charging: None,
            alerts: (self.version >= BoardVersion::V1_2).then_some(alerts),
        }
        .emit(out);
    }

    pub(super) fn put_live_mask(&self, arguments: &[u8], out: &mut Vec<u8>) {
        let &[control, a, b, c, d, ref second @ ..] = arguments else { return };
        let mask1 = u32::from_be_bytes([a, b, c, d]);
        let mask2 = second.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let snapshot = self.snapshot();
        let mut bytes = Vec::new();
        for field in fields(mask1, mask2) {
            let value = match field.kind {
                FieldKind::Extra => FieldValue::Extra(self.extra()),
                FieldKind::State => FieldValue::State(self.state()),
                FieldKind::Number => FieldValue::Number(snapshot.value(field.id)),
                FieldKind::Whole if field.id == "odometer" => FieldValue::Whole(self.odometer()),
                // It has no receiver for satellites.
                FieldKind::Whole => FieldValue::Whole(0),
                FieldKind::Double => FieldValue::Double(0.0),
            };
            value.emit(control & LiveMask::FLOAT32 != 0, &mut bytes);
        }
        LiveMask { control, mask1, mask2, tick: self.tick(), bytes: &bytes }.emit(out);
    }

    pub(super) fn put_compact(&self, mode: u8, out: &mut Vec<u8>) {
        if self.fault != 0 {
            Compact::Fault(self.fault).emit(out);
            return;
        }
        let snapshot = self.snapshot();
        let tilts =
            [snapshot.setpoint, snapshot.atr, snapshot.brake_tilt, snapshot.torque_tilt, snapshot.turn_tilt, 0.0];
        let values = CompactValues {
            balance_current: tenths(snapshot.balance_current),
            balance_pitch: tenths(snapshot.balance_pitch),
            roll: tenths(snapshot.roll),
            state: self.compact_state(),
            switches: u8::try_from(snapshot.pads.count_ones()).unwrap_or(0) | snapshot.beep << 4,
            adc_left: byte(snapshot.adc(1) * 50.0),
            adc_right: byte(snapshot.adc(2) * 50.0),
            setpoints: tilts.map(|degrees| byte(degrees * 5.0 + 128.0)),
            pitch: tenths(snapshot.pitch),
            booster: 128,
            batt_voltage: tenths(snapshot.batt_voltage),
            erpm: whole(snapshot.erpm),
            speed: tenths(snapshot.speed / 3.6),
            current: tenths(snapshot.current()),
            batt_current: tenths(snapshot.batt_current),
            duty_cycle: byte(snapshot.duty * 100.0 + 128.0),
            d_current: byte(snapshot.d_current.abs() * 3.0),
            ride: (mode >= 2).then(|| CompactRide {
                distance: snapshot.distance,
                mosfet_temp: byte(snapshot.mosfet_temp * 2.0),
                motor_temp: byte(snapshot.motor_temp * 2.0),
                zero: 0,
            }),
            totals: (mode >= 3).then(|| CompactTotals {
                odometer: self.odometer(),
                amp_hours_used: tenths(snapshot.amp_hours),
                amp_hours_charged: tenths(snapshot.amp_hours_charged),
                watt_hours_used: whole(snapshot.watt_hours),
                watt_hours_charged: whole(snapshot.watt_hours_charged),
                battery: byte(snapshot.charge * 200.0),
            }),
            charging: (mode >= 4).then(CompactCharging::default),
        };
        let at = out.len() + 2;
        Compact::Values(values).emit(out);
        // The mode is echoed, also one that there is not.
        if let Some(echo) = out.get_mut(at) {
            *echo = mode;
        }
    }

    pub(super) fn put_alerts(&self, arguments: &[u8], out: &mut Vec<u8>) {
        let since = arguments.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let mut left = MAX_APP - 2 - 4 - 4 - 1 - 1 - if self.fault == 0 { 0 } else { 1 + fault_name(self.fault).len() };
        let records = self.alerts.iter().filter(|alert| alert.tick > since).map_while(|alert| {
            let name = (alert.code != 0).then(|| fault_name(alert.code));
            left = left.checked_sub(7 + name.map_or(0, |name| 1 + name.len()))?;
            Some(AlertRecord {
                tick: alert.tick,
                id: AlertRecord::FIRMWARE_FAULT,
                active: alert.code != 0,
                code: alert.code,
                name,
            })
        });
        let name = (self.fault != 0).then(|| fault_name(self.fault));
        Alerts::put(self.active(), self.fault, name, records, out);
    }

    fn active(&self) -> u32 {
        u32::from(self.fault != 0)
    }

    fn extra(&self) -> u8 {
        let recorder = &self.recorder;
        let recording = u8::from(recorder.recording);
        match self.version {
            BoardVersion::V1_3 => recording,
            version => {
                let automatics = u8::from(recorder.autostart) << 1 | u8::from(recorder.autostop) << 2;
                let fatal = u8::from(self.fatal && version == BoardVersion::V1_2) << 3;
                recording | automatics | fatal
            }
        }
    }

    fn state(&self) -> StateFlags {
        self.snapshot().state_flags().with_fatal_error(self.fatal && self.version == BoardVersion::V1_3)
    }

    fn compact_state(&self) -> u8 {
        let snapshot = self.snapshot();
        let pushed = snapshot.adjustment.0 > Adjustment::REVERSE_STOP.0;
        let state = match snapshot.stop {
            _ if snapshot.running && snapshot.wheelslip => 3,
            _ if snapshot.running && pushed => 2,
            _ if snapshot.running => 1,
            stop @ 1..=4 => stop + 5,
            5 => 12,
            6 => 13,
            _ => 11,
        };
        let reason = match snapshot.adjustment {
            Adjustment::CENTERING => 0,
            Adjustment::REVERSE_STOP => 1,
            Adjustment::DUTY => 3,
            Adjustment::HIGH_VOLTAGE => 4,
            Adjustment::LOW_VOLTAGE => 5,
            Adjustment::TEMPERATURE => 6,
            Adjustment::SPEED => 7,
            Adjustment::ERROR => 8,
            _ => 2,
        };
        state | reason << 4
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at the ends of the range")]
    fn odometer(&self) -> u32 {
        (ODOMETER + self.snapshot().distance) as u32
    }
}

/// The name of a fault of the firmware, without what VESC puts in front.
fn fault_name(code: u8) -> &'static str {
    match code {
        0 => "NONE",
        1 => "OVER_VOLTAGE",
        2 => "UNDER_VOLTAGE",
        3 => "DRV",
        4 => "ABS_OVER_CURRENT",
        5 => "OVER_TEMP_FET",
        6 => "OVER_TEMP_MOTOR",
        7 => "GATE_DRIVER_OVER_VOLTAGE",
        8 => "GATE_DRIVER_UNDER_VOLTAGE",
        9 => "MCU_UNDER_VOLTAGE",
        10 => "BOOTING_FROM_WATCHDOG_RESET",
        _ => "UNKNOWN",
    }
}

fn tenths(x: f32) -> i16 {
    whole(x * 10.0)
}

#[expect(clippy::cast_possible_truncation, reason = "`as` stops at the ends of the range")]
fn whole(x: f32) -> i16 {
    x as i16
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stops at the ends of the range")]
fn byte(x: f32) -> u8 {
    x as u8
}

//! What the compact reply says, on the channels of the others.

use logpose_core::SinkError;

use super::Putting;
use super::samples::{OwnedValue, When};
use crate::items;
use crate::wire::{CompactValues, Footpad, tenths};

impl Putting<'_> {
    pub(super) fn compact_values(&mut self, values: &CompactValues) -> Result<(), SinkError> {
        self.fault(0)?;
        self.compact_state(values)?;
        let [all, atr, brake_tilt, torque_tilt, turn_tilt, remote] = values.setpoint_degrees();
        let numbers = [
            ("speed", values.speed_kmh()),
            ("erpm", values.erpm.into()),
            ("current", tenths(values.current)),
            ("duty_cycle", values.duty()),
            ("batt_voltage", tenths(values.batt_voltage)),
            ("batt_current", tenths(values.batt_current)),
            ("pitch", tenths(values.pitch)),
            ("balance_pitch", tenths(values.balance_pitch)),
            ("roll", tenths(values.roll)),
            ("adc_left", f32::from(values.adc_left) / 50.0),
            ("adc_right", f32::from(values.adc_right) / 50.0),
            ("setpoint", all),
            ("atr.setpoint", atr),
            ("brake_tilt.setpoint", brake_tilt),
            ("torque_tilt.setpoint", torque_tilt),
            ("turn_tilt.setpoint", turn_tilt),
            ("remote.setpoint", remote),
            ("balance_current", tenths(values.balance_current)),
            (self.booster(), f32::from(values.booster) - 128.0),
        ];
        numbers.into_iter().try_for_each(|(id, x)| self.field(id, x))?;
        if let Some(current) = values.d_axis_current() {
            self.field("foc_d_current", current)?;
        }
        if let Some(ride) = values.ride {
            self.field("distance", ride.distance)?;
            self.field("mosfet_temp", f32::from(ride.mosfet_temp) / 2.0)?;
            self.field("motor_temp", f32::from(ride.motor_temp) / 2.0)?;
        }
        if let Some(totals) = values.totals {
            if let Some(field) = items::mask_field("odometer") {
                self.put(field.channel(), OwnedValue::Int64(totals.odometer.into()), When::Always)?;
            }
            self.field("amp_hours.used", tenths(totals.amp_hours_used))?;
            self.field("amp_hours.charged", tenths(totals.amp_hours_charged))?;
            self.field("watt_hours.used", totals.watt_hours_used.into())?;
            self.field("watt_hours.charged", totals.watt_hours_charged.into())?;
            self.field("battery_level", f32::from(totals.battery) / 200.0)?;
        }
        if let Some(charging) = values.charging {
            self.field("charging.current", tenths(charging.current))?;
            self.field("charging.voltage", tenths(charging.voltage))?;
        }
        Ok(())
    }

    /// One number stands here for several elsewhere: what it does not cover is not emitted.
    fn compact_state(&mut self, values: &CompactValues) -> Result<(), SinkError> {
        let code = values.state_code();
        let running = matches!(code, 1..=5);
        let state = match code {
            0 => "startup",
            1..=5 => "running",
            15 => "disabled",
            _ => "ready",
        };
        let mode = match code {
            5 => "flywheel",
            _ if values.handtest() => "handtest",
            _ => "normal",
        };
        let stop_condition = match code {
            6 | 7 | 8 | 9 | 12 | 13 => Some(values.state_name()),
            1..=5 | 11 => Some("none".into()),
            _ => None,
        };
        self.word("state", state)?;
        self.word("mode", mode)?;
        self.truth("running", running)?;
        self.truth("wheelslip", code == 3)?;
        self.word("footpad", footpad(values).name())?;
        self.word("adjustment", &values.adjustment().name())?;
        self.truth("charging", code == 14)?;
        self.truth("darkride", code == 4)?;
        if let Some(condition) = stop_condition {
            self.word("stop_condition", &condition)?;
        }
        self.word("beep_reason", &values.beep_reason_name())
    }

    /// The booster's id, which has to do with its unit.
    fn booster(&self) -> &'static str {
        let new = self.mapper.version.as_ref().is_some_and(crate::wire::Version::has_mask);
        if new { "booster.torque" } else { "booster.current" }
    }
}

/// The reply counts the pressed halves; the higher voltage shows which one it is.
fn footpad(values: &CompactValues) -> Footpad {
    match values.pads() {
        0 => Footpad::None,
        1 if values.adc_left >= values.adc_right => Footpad::Left,
        1 => Footpad::Right,
        _ => Footpad::Both,
    }
}

use logpose_refloat::wire::{Adjustment, Flags, Footpad, StateFlags};

/// Stop conditions, as in the state flags.
pub(super) mod stop {
    pub(in crate::board) const NONE: u8 = 0;
    pub(in crate::board) const PITCH: u8 = 1;
    pub(in crate::board) const SWITCH_HALF: u8 = 3;
    pub(in crate::board) const SWITCH_FULL: u8 = 4;
}

/// Reasons to beep, as in the state flags.
pub(super) mod beep {
    pub(in crate::board) const NONE: u8 = 0;
    pub(in crate::board) const LOW_VOLTAGE: u8 = 1;
    pub(in crate::board) const HIGH_VOLTAGE: u8 = 2;
    pub(in crate::board) const MOSFET: u8 = 3;
    pub(in crate::board) const DUTY: u8 = 6;
    pub(in crate::board) const SENSORS: u8 = 7;
    pub(in crate::board) const ERROR: u8 = 10;
}

/// All that a board knows at one moment, in the units of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    pub(super) running: bool,
    pub(super) wheelslip: bool,
    /// Bit 0 left, bit 1 right.
    pub(super) pads: u8,
    pub(super) adjustment: Adjustment,
    pub(super) stop: u8,
    pub(super) beep: u8,
    pub(super) dt: f32,
    pub(super) freq: f32,
    pub(super) speed: f32,
    pub(super) erpm: f32,
    pub(super) dir_current: f32,
    pub(super) filt_current: f32,
    pub(super) duty: f32,
    pub(super) batt_voltage: f32,
    pub(super) batt_current: f32,
    pub(super) mosfet_temp: f32,
    pub(super) motor_temp: f32,
    pub(super) pitch: f32,
    pub(super) balance_pitch: f32,
    pub(super) roll: f32,
    pub(super) setpoint: f32,
    pub(super) atr: f32,
    pub(super) brake_tilt: f32,
    pub(super) torque_tilt: f32,
    pub(super) turn_tilt: f32,
    pub(super) balance_current: f32,
    pub(super) accel_diff: f32,
    pub(super) speed_boost: f32,
    pub(super) transition_boost: f32,
    pub(super) d_current: f32,
    pub(super) charge: f32,
    pub(super) distance: f32,
    pub(super) amp_hours: f32,
    pub(super) amp_hours_charged: f32,
    pub(super) watt_hours: f32,
    pub(super) watt_hours_charged: f32,
}

impl Snapshot {
    pub(super) fn flags(&self) -> Flags {
        Flags::new(self.running, self.wheelslip, Footpad::from_bits(self.pads), self.adjustment)
    }

    /// The state flags of the live values: ready or running, in the normal mode.
    pub(super) fn state_flags(&self) -> StateFlags {
        StateFlags::default()
            .with_state(if self.running { 3 } else { 2 })
            .with_footpad(Footpad::from_bits(self.pads))
            .with_wheelslip(self.wheelslip)
            .with_adjustment(self.adjustment)
            .with_stop_condition(self.stop)
            .with_beep_reason(self.beep)
    }

    /// Positive accelerating, negative braking.
    pub(super) fn current(&self) -> f32 {
        if self.erpm < 0.0 { -self.dir_current } else { self.dir_current }
    }

    /// Volts of a pad.
    pub(super) fn adc(&self, side: u8) -> f32 {
        if self.pads & side != 0 { 2.9 + 0.1 * f32::from(side) } else { 0.05 }
    }

    /// The value that an id, old or new, stands for; 0 for what the board does not know.
    pub(super) fn value(&self, id: &str) -> f32 {
        match id {
            "control.dt" => self.dt,
            "control.freq" => self.freq,
            "motor.speed" | "speed" => self.speed,
            "motor.erpm" | "erpm" => self.erpm,
            "motor.current" | "current" => self.current(),
            "motor.dir_current" | "dir_current" => self.dir_current,
            "motor.filt_current" | "filt_current" => self.filt_current,
            "motor.duty_cycle" | "duty_cycle" => self.duty,
            "motor.batt_voltage" | "batt_voltage" => self.batt_voltage,
            "motor.batt_current" | "batt_current" => self.batt_current,
            "motor.mosfet_temp" | "mosfet_temp" => self.mosfet_temp,
            "motor.motor_temp" | "motor_temp" => self.motor_temp,
            "imu.pitch" | "pitch" => self.pitch,
            "imu.balance_pitch" | "balance_pitch" => self.balance_pitch,
            "imu.roll" | "roll" => self.roll,
            "footpad.adc1" | "adc_left" => self.adc(1),
            "footpad.adc2" | "adc_right" => self.adc(2),
            "setpoint" => self.setpoint,
            "atr.setpoint" => self.atr,
            "brake_tilt.setpoint" => self.brake_tilt,
            "torque_tilt.setpoint" => self.torque_tilt,
            "turn_tilt.setpoint" => self.turn_tilt,
            "balance_current" => self.balance_current,
            "atr.accel_diff" => self.accel_diff,
            "atr.speed_boost" => self.speed_boost,
            "atr.transition_boost" => self.transition_boost,
            "battery_level" => self.charge,
            "distance" => self.distance,
            "amp_hours.used" => self.amp_hours,
            "amp_hours.charged" => self.amp_hours_charged,
            "watt_hours.used" => self.watt_hours,
            "watt_hours.charged" => self.watt_hours_charged,
            "foc_d_current" => self.d_current,
            _ => 0.0,
        }
    }
}

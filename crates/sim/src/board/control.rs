use super::plan::Plan;
use super::snapshot::{beep, stop};
use super::version::BoardVersion;
use super::world::{ERPM, MOTOR_LIMIT, World};
use logpose_refloat::wire::Adjustment;

/// V below and above which the battery is pushed back for.
const LOW_VOLTAGE: f32 = 60.0;
const HIGH_VOLTAGE: f32 = 84.1;
/// The duty cycle from which there is pushback.
const DUTY: f32 = 0.8;
/// degC.
const WARM: f32 = 85.0;
/// deg beyond which the board gives up.
const TOPPLED: f32 = 60.0;
/// Seconds without both pads, or without one of them, and the electrical rpm below which one is not enough.
const FULL: f32 = 0.25;
const HALF: f32 = 0.1;
const SLOW: f32 = 300.0;

/// What keeps the motor from giving what it takes to stay level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Limited {
    Duty,
    Current,
}

/// The package itself: setpoints, the balance controller, and when to stop.
#[derive(Clone, Debug)]
pub(super) struct Control {
    pub(super) running: bool,
    pub(super) stop: u8,
    pub(super) beep: u8,
    pub(super) adjustment: Adjustment,
    /// deg, of the adjustment alone.
    pub(super) pushback: f32,
    pub(super) setpoint: f32,
    pub(super) atr: f32,
    pub(super) torque_tilt: f32,
    pub(super) brake_tilt: f32,
    pub(super) accel_diff: f32,
    pub(super) boost: f32,
    /// A, asked of the motor.
    pub(super) asked: f32,
    pub(super) balance_pitch: f32,
    pub(super) filtered_current: f32,
    pub(super) limited: Option<Limited>,
    integral: f32,
    filtered_duty: f32,
    none_for: f32,
    half_for: f32,
    new: bool,
}

impl Control {
    pub(super) fn new(version: BoardVersion) -> Self {
        Self {
            running: false,
            stop: stop::NONE,
            beep: beep::NONE,
            adjustment: Adjustment::NONE,
            pushback: 0.0,
            setpoint: 0.0,
            atr: 0.0,
            torque_tilt: 0.0,
            brake_tilt: 0.0,
            accel_diff: 0.0,
            boost: 1.0,
            asked: 0.0,
            balance_pitch: 0.0,
            filtered_current: 0.0,
            limited: None,
            integral: 0.0,
            filtered_duty: 0.0,
            none_for: 0.0,
            half_for: 0.0,
            new: version >= BoardVersion::V1_2,
        }
    }

    /// One pass of the loop.
    pub(super) fn step(&mut self, dt: f32, t: f32, world: &World, pads: u8, plan: &Plan) {
        self.balance_pitch += (world.pitch - self.balance_pitch) * dt / (0.004 + dt);
        self.filtered_current += (world.current - self.filtered_current) * dt / (0.05 + dt);
        self.filtered_duty += (world.duty - self.filtered_duty) * dt / (0.01 + dt);
        if !self.running {
            self.asked = 0.0;
            self.limited = None;
            if pads == 3 && self.stop == stop::NONE && world.pitch.abs() < 4.0 {
                self.engage(world);
            }
            return;
        }
        if self.stops(dt, world, pads) {
            return;
        }
        self.adjust(dt, t, world, plan);
        self.tilt(dt, world);
        let error = self.setpoint - self.balance_pitch;
        self.integral = (self.integral + 14.0 * error * dt).clamp(-40.0, 40.0);
        let needed = 16.0 * error + self.integral - 0.8 * world.rate;
        let asked = needed.clamp(-MOTOR_LIMIT, MOTOR_LIMIT);
        self.asked += (asked - self.asked) * dt / (0.005 + dt);
        self.limited = if world.starved {
            Some(Limited::Duty)
        } else {
            (needed > MOTOR_LIMIT + 10.0 && world.current > MOTOR_LIMIT - 2.0).then_some(Limited::Current)
        };
    }

    pub(super) fn duty(&self) -> f32 {
        self.filtered_duty
    }

    fn engage(&mut self, world: &World) {
        self.running = true;
        self.adjustment = Adjustment::CENTERING;
        self.pushback = world.pitch;
        self.setpoint = world.pitch;
        self.integral = 0.0;
        self.asked = 0.0;
        self.beep = beep::NONE;
        (self.none_for, self.half_for) = (0.0, 0.0);
    }

    fn stops(&mut self, dt: f32, world: &World, pads: u8) -> bool {
        self.none_for = if pads == 0 { self.none_for + dt } else { 0.0 };
        let slow = (world.wheel * ERPM).abs() < SLOW;
        self.half_for = if pads != 3 && slow { self.half_for + dt } else { 0.0 };
        self.stop = if world.pitch.abs() > TOPPLED {
            stop::PITCH
        } else if self.none_for > FULL {
            stop::SWITCH_FULL
        } else if self.half_for > HALF {
            stop::SWITCH_HALF
        } else {
            return false;
        };
        self.running = false;
        if self.none_for > 0.0 && self.stop == stop::SWITCH_FULL {
            self.beep = beep::SENSORS;
        }
        true
    }

    /// What the setpoint is adjusted for, and how far.
    fn adjust(&mut self, dt: f32, t: f32, world: &World, plan: &Plan) {
        let over = HIGH_VOLTAGE < world.voltage;
        let current = world.current.abs();
        let under = LOW_VOLTAGE - world.voltage;
        // A sag of one volt for every 20 A is tolerated, up to two volts.
        let low = under > 0.0 && (under > 2.0 || current < 5.0 || under * 20.0 > current);
        // What it is for, the angle it goes to, how fast in deg/s, and what is beeped.
        let (reason, angle, pace, sound) = if self.adjustment == Adjustment::CENTERING && self.pushback.abs() > 0.01 {
            (Adjustment::CENTERING, 0.0, 5.0, self.beep)
        } else if world.slips {
            (self.adjustment, self.pushback, 0.0, self.beep)
        } else if self.filtered_duty > DUTY {
            (Adjustment::DUTY, 7.0, 3.5, beep::DUTY)
        } else if self.new && world.wheel.abs() > plan.speed_limit {
            (Adjustment::SPEED, 6.0, 5.0, self.beep)
        } else if over && self.filtered_duty > 0.05 {
            (Adjustment::HIGH_VOLTAGE, 7.0, 5.0, beep::HIGH_VOLTAGE)
        } else if self.new && t > plan.error_at {
            (Adjustment::ERROR, 6.0, 4.0, beep::ERROR)
        } else if world.mosfet > WARM {
            (Adjustment::TEMPERATURE, 7.0, 4.0, beep::MOSFET)
        } else if low {
            (Adjustment::LOW_VOLTAGE, 7.0, 4.0, beep::LOW_VOLTAGE)
        } else {
            (Adjustment::NONE, 0.0, 3.0, self.beep)
        };
        self.adjustment = reason;
        self.beep = sound;
        self.pushback += (angle - self.pushback).clamp(-pace * dt, pace * dt);
    }

    fn tilt(&mut self, dt: f32, world: &World) {
        // On a hill it accelerates less than this current should: the nose comes up, or down.
        let expected = self.filtered_current * 0.05;
        self.accel_diff += (expected - world.acceleration.clamp(-6.0, 6.0) - self.accel_diff) * dt / (0.25 + dt);
        let diff = if self.accel_diff.abs() > 0.5 { self.accel_diff - 0.5_f32.copysign(self.accel_diff) } else { 0.0 };
        let atr = if world.slips { self.atr } else { (diff * 1.5).clamp(-5.0, 5.0) };
        self.atr += (atr - self.atr).clamp(-5.0 * dt, 5.0 * dt);
        let strong = (self.filtered_current.abs() - 20.0).max(0.0) * 0.1;
        let torque = strong.min(4.0).copysign(self.filtered_current);
        self.torque_tilt += (torque - self.torque_tilt).clamp(-4.0 * dt, 4.0 * dt);
        let brake = if self.filtered_current < -5.0 && world.speed > 1.0 { -1.0 } else { 0.0 };
        self.brake_tilt += (brake - self.brake_tilt).clamp(-2.0 * dt, 2.0 * dt);
        self.boost = 1.0 + (self.accel_diff.abs() * 0.1).min(0.5);
        self.setpoint = self.pushback + self.atr + self.torque_tilt + self.brake_tilt;
    }
}

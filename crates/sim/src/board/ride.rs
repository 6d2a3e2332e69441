use super::control::{Control, Limited};
use super::plan::Plan;
use super::random::Random;
use super::scenario::{Scenario, What};
use super::snapshot::{Snapshot, stop};
use super::version::BoardVersion;
use super::world::{ERPM, GROUND, Pose, World};
use logpose_refloat::wire::{Adjustment, Footpad};

/// When the rider steps on, and when the board is level.
const MOUNT: f32 = 1.0;
const LEVEL: f32 = 1.5;

/// A rider on a board: goes through a scenario step by step, the same way for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Ride {
    scenario: Scenario,
    version: BoardVersion,
    seed: u64,
    plan: Plan,
    random: Random,
    /// Seconds since it began.
    t: f32,
    world: World,
    control: Control,
    rider: Rider,
    pads: u8,
    sway: f32,
    turn: f32,
    freq: f32,
    snapshot: Snapshot,
    reported: LastReported,
    happened: Vec<What>,
}

/// What the rider is about.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rider {
    aim: f32,
    lean: f32,
    slowing: bool,
    dismounting: Option<f32>,
    thrown: bool,
    /// When the board stopped.
    over: Option<f32>,
}

/// The last reported states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LastReported {
    running: bool,
    adjustment: Adjustment,
    pads: u8,
    slips: bool,
    limited: Option<Limited>,
    thrown: bool,
}

impl Ride {
    pub(super) fn new(scenario: Scenario, version: BoardVersion, seed: u64) -> Self {
        let plan = Plan::of(scenario);
        let mut ride = Self {
            scenario,
            version,
            seed,
            plan,
            random: Random::new(seed),
            t: 0.0,
            world: World::new(plan.charge, plan.mosfet),
            control: Control::new(version),
            rider: Rider { aim: 0.0, lean: 0.0, slowing: false, dismounting: None, thrown: false, over: None },
            pads: 0,
            sway: 0.0,
            turn: 0.0,
            freq: 0.0,
            snapshot: Snapshot::default(),
            reported: LastReported::default(),
            happened: Vec::new(),
        };
        ride.look(0.0012);
        ride
    }

    /// Goes on by `dt` seconds.
    pub(super) fn step(&mut self, dt: f32) {
        self.t += dt;
        if let Some(over) = self.rider.over
            && self.plan.rest.is_some_and(|rest| self.t > over + rest)
        {
            self.again();
        }
        self.sway += self.random.around() * 12.0 * dt.sqrt() - self.sway * dt / 0.4;
        self.turn += self.random.around() * 6.0 * dt.sqrt() - self.turn * dt / 0.8;
        let pose = self.pose(dt);
        let slope = if self.control.running { self.plan.slope(self.t) } else { 0.0 };
        self.world.step(dt, self.control.asked, pose, slope, self.plan.grip(self.t));
        if !self.control.running {
            self.world.rest(dt);
        }
        self.control.step(dt, self.t, &self.world, self.pads, &self.plan);
        if !self.control.running && self.control.stop != stop::NONE && self.rider.over.is_none() {
            self.rider.over = Some(self.t);
        }
        self.report();
        self.look(dt);
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether it is over: the board stopped, or nothing will ever happen.
    pub(super) fn is_over(&self) -> bool {
        self.rider.over.is_some() || self.scenario == Scenario::Empty
    }

    /// What happened in the last step.
    pub(super) fn happened(&mut self) -> Vec<What> {
        std::mem::take(&mut self.happened)
    }

    /// The same ride again, the battery as it is now charged up.
    fn again(&mut self) {
        let distance = self.world.distance;
        let mut next = Self::new(self.scenario, self.version, self.seed.wrapping_add(1));
        next.world.distance = distance;
        next.world.motor = self.world.motor;
        next.freq = self.freq;
        *self = next;
    }

    /// What the rider does with the board.
    fn pose(&mut self, dt: f32) -> Pose {
        let t = self.t;
        if self.scenario == Scenario::Empty {
            return Pose::Held(GROUND);
        }
        if let Some(over) = self.rider.over {
            if t > over + 0.3 {
                self.pads = 0;
            }
            return if self.rider.thrown && t < over + 0.15 { Pose::Tumbling } else { Pose::Held(self.lies()) };
        }
        if self.rider.thrown {
            return Pose::Tumbling;
        }
        if !self.control.running {
            if t > MOUNT {
                self.pads = if t > MOUNT + 0.2 { 3 } else { 1 };
            }
            return Pose::Held(if t > LEVEL { 0.0 } else { GROUND });
        }
        self.look_after_pads(dt);
        if self.world.pitch < -GROUND {
            self.rider.thrown = true;
            self.pads = 0;
            return Pose::Tumbling;
        }
        Pose::Balanced { lean: self.lean(dt) }
    }

    fn look_after_pads(&mut self, dt: f32) {
        if self.t > self.plan.pads_lost_at {
            self.pads = 0;
        }
        let done = self.t > 4.0 && self.rider.aim <= 0.01 && self.world.speed < 0.25;
        if done && self.rider.dismounting.is_none() {
            self.rider.dismounting = Some(0.0);
        }
        if let Some(since) = &mut self.rider.dismounting {
            *since += dt;
            self.pads = 2;
        }
    }

    /// The torque, nose down, of the rider's weight.
    fn lean(&mut self, dt: f32) -> f32 {
        let wanted = self.plan.speed(self.t);
        let pushed = self.control.adjustment.0 > Adjustment::CENTERING.0 && self.control.pushback > 1.2;
        if self.plan.heeds && pushed && !self.rider.slowing {
            self.rider.slowing = true;
            self.rider.aim = self.world.speed;
        }
        let aim = if self.rider.slowing { slower(self.rider.aim, self.plan.slope(self.t), dt) } else { wanted };
        let ahead = ((aim - self.rider.aim) / dt).clamp(-2.5, 2.5);
        self.rider.aim = aim;
        let off = aim - self.world.speed;
        let acceleration = (ahead + 2.0 * off).clamp(-3.2, self.plan.eager);
        let mut wish = self.world.lean_for(acceleration, self.plan.slope(self.t)) + self.sway * 0.35;
        // Who falls forward weighs on the nose.
        let fallen = self.control.setpoint - self.world.pitch - 3.0;
        if fallen > 0.0 {
            wish += fallen * 2.5;
        }
        self.rider.lean += (wish - self.rider.lean) * dt / (0.16 + dt);
        self.rider.lean
    }

    /// deg at which the board ends up.
    fn lies(&self) -> f32 {
        if self.rider.thrown { -GROUND } else { GROUND }
    }

    fn report(&mut self) {
        let now = LastReported {
            running: self.control.running,
            adjustment: self.control.adjustment,
            pads: self.pads,
            slips: self.world.slips,
            limited: self.control.limited,
            thrown: self.rider.thrown,
        };
        let reported = std::mem::replace(&mut self.reported, now);
        let mut report = |changed: bool, what: What| {
            if changed {
                self.happened.push(what);
            }
        };
        report(now.running && !reported.running, What::Engaged);
        report(now.adjustment != reported.adjustment, What::Adjustment(now.adjustment));
        report(now.slips != reported.slips, What::Wheelslip(now.slips));
        report(now.pads != reported.pads, What::Pads(Footpad::from_bits(now.pads)));
        match now.limited.filter(|_| now.limited != reported.limited) {
            Some(Limited::Duty) => report(true, What::DutyLimit),
            Some(Limited::Current) => report(true, What::CurrentLimit),
            None => {}
        }
        report(now.thrown && !reported.thrown, What::NoseDown);
        report(reported.running && !now.running, What::Stopped(self.control.stop));
    }

    /// What the board measures of all that, with the noise of its sensors.
    fn look(&mut self, dt: f32) {
        let (world, control, random) = (&self.world, &self.control, &mut self.random);
        let measured = if self.freq > 0.0 { self.freq } else { 1.0 / dt };
        self.freq = measured + (1.0 / dt - measured) * 0.01;
        let before = &self.snapshot;
        let mut now = Snapshot {
            running: control.running,
            wheelslip: world.slips,
            pads: self.pads,
            adjustment: if control.running { control.adjustment } else { before.adjustment },
            stop: control.stop,
            beep: control.beep,
            dt: dt * 1000.0,
            freq: self.freq,
            speed: world.wheel * 3.6,
            erpm: (world.wheel * ERPM + random.around() * 4.0).round(),
            dir_current: world.current + random.around() * 0.4,
            filt_current: control.filtered_current,
            duty: control.duty().clamp(0.0, 1.0),
            batt_voltage: world.voltage + random.around() * 0.05,
            batt_current: world.battery_current,
            mosfet_temp: world.mosfet,
            motor_temp: world.motor,
            pitch: world.pitch - world.acceleration.clamp(-8.0, 8.0) * 0.05 + random.around() * 0.03,
            balance_pitch: control.balance_pitch,
            roll: self.turn + random.around() * 0.03,
            d_current: random.around() * 0.5,
            charge: world.charge,
            distance: world.distance,
            amp_hours: world.used[0],
            watt_hours: world.used[1],
            amp_hours_charged: world.charged[0],
            watt_hours_charged: world.charged[1],
            ..*before
        };
        if control.running {
            now.setpoint = control.setpoint;
            now.atr = control.atr;
            now.torque_tilt = control.torque_tilt;
            now.brake_tilt = control.brake_tilt;
            now.turn_tilt = (self.turn * 0.1).clamp(-1.0, 1.0);
            now.balance_current = control.asked;
            now.accel_diff = control.accel_diff;
            now.speed_boost = (world.speed * 0.02).min(0.4);
            now.transition_boost = control.boost;
        }
        self.snapshot = now;
    }
}

/// What a rider who stops aims at next: the slower, the gentler, and downhill with care.
fn slower(aim: f32, slope: f32, dt: f32) -> f32 {
    let braking = if slope < 0.0 { 1.4 } else { 2.4 };
    (aim - (aim / 0.7).clamp(0.3, 1.0) * braking * dt).max(0.0)
}

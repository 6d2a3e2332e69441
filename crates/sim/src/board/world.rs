//! A board with a rider on a road: what the motor, the battery and the ground do.

/// kg, rider and board.
const MASS: f32 = 90.0;
const GRAVITY: f32 = 9.81;
/// m, of the wheel.
const RADIUS: f32 = 0.14;
const POLE_PAIRS: f32 = 15.0;
/// Wb.
const FLUX: f32 = 0.028;
/// Ohm, one phase.
const RESISTANCE: f32 = 0.055;
/// H.
const INDUCTANCE: f32 = 0.000_15;
/// Nm for each ampere.
pub(super) const TORQUE: f32 = 1.5 * POLE_PAIRS * FLUX;
/// kg m², what turns when the board pitches, and the wheel.
const BOARD_INERTIA: f32 = 1.2;
const WHEEL_INERTIA: f32 = 0.12;
/// A, the most the motor may have, and the battery may give and take.
pub(super) const MOTOR_LIMIT: f32 = 60.0;
const BATTERY_LIMIT: f32 = 60.0;
const REGEN_LIMIT: f32 = 40.0;
/// The max duty cycle.
const DUTY_LIMIT: f32 = 0.95;
/// Ohm, of the battery and its cables, and what is added while it is almost empty.
const INTERNAL: f32 = 0.2;
const WEAK: f32 = 0.12;
const CELLS: f32 = 20.0;
/// Ah.
const CAPACITY: f32 = 8.0;
/// deg: the nose, or the tail, is on the ground.
pub(super) const GROUND: f32 = 17.0;
pub(super) const ERPM: f32 = 60.0 * POLE_PAIRS / (2.0 * std::f32::consts::PI * RADIUS);
pub(super) const DEGREES: f32 = 180.0 / std::f32::consts::PI;

/// The state of things, in SI units but for degrees.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// m/s over ground, and of the tread of the wheel.
    pub(super) speed: f32,
    pub(super) wheel: f32,
    /// deg and deg/s, nose up.
    pub(super) pitch: f32,
    pub(super) rate: f32,
    /// A, of the motor, forwards, and of the battery.
    pub(super) current: f32,
    pub(super) battery_current: f32,
    pub(super) voltage: f32,
    pub(super) duty: f32,
    pub(super) charge: f32,
    pub(super) mosfet: f32,
    pub(super) motor: f32,
    pub(super) distance: f32,
    pub(super) used: [f32; 2],
    pub(super) charged: [f32; 2],
    /// m/s², of the wheel.
    pub(super) acceleration: f32,
    pub(super) slips: bool,
    /// The duty cycle keeps the motor from giving what is asked.
    pub(super) starved: bool,
}

/// Who moves the board in a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pose {
    /// The rider's weight pushes the nose down with so many Nm, the motor keeps it up.
    Balanced { lean: f32 },
    /// It is held, or lies, at so many degrees.
    Held(f32),
    /// It tumbles over its nose.
    Tumbling,
}

impl World {
    pub(super) fn new(charge: f32, mosfet: f32) -> Self {
        Self {
            speed: 0.0,
            wheel: 0.0,
            pitch: GROUND,
            rate: 0.0,
            current: 0.0,
            battery_current: 0.0,
            voltage: open_voltage(charge),
            duty: 0.0,
            charge,
            mosfet,
            motor: 38.0,
            distance: 0.0,
            used: [0.0; 2],
            charged: [0.0; 2],
            acceleration: 0.0,
            slips: false,
            starved: false,
        }
    }

    /// Goes on by `dt` seconds, with a controller that asks for `asked` amperes.
    pub(super) fn step(&mut self, dt: f32, asked: f32, pose: Pose, slope: f32, grip: f32) {
        self.drive(dt, asked);
        match pose {
            Pose::Balanced { lean } => {
                let turn = DEGREES * (TORQUE * self.current - lean) / BOARD_INERTIA - 2.0 * self.rate;
                self.rate += turn * dt;
            }
            Pose::Held(at) => self.rate = 6.0 * (at - self.pitch),
            Pose::Tumbling => self.rate += (-270.0 - self.rate) * dt / (0.04 + dt),
        }
        self.pitch += self.rate * dt;
        self.roll(dt, pose, slope, grip);
    }

    /// The force, in Nm at the wheel, that keeps `acceleration` on this slope.
    pub(super) fn lean_for(&self, acceleration: f32, slope: f32) -> f32 {
        (MASS * acceleration + self.drag() + MASS * GRAVITY * slope) * RADIUS
    }

    fn drag(&self) -> f32 {
        let air = 0.36 * self.speed * self.speed.abs();
        let tyre = 17.0 * (self.speed / 0.2).clamp(-1.0, 1.0);
        air + tyre
    }

    /// The motor and the battery.
    fn drive(&mut self, dt: f32, asked: f32) {
        let omega = self.wheel / RADIUS * POLE_PAIRS;
        let emf = FLUX * omega;
        let across = omega * INDUCTANCE * self.current;
        let most = DUTY_LIMIT * self.voltage / 3_f32.sqrt();
        let left = (most * most - across * across).max(0.0).sqrt();
        let by_duty = (left - emf) / RESISTANCE;
        let power = 1.5 * emf.abs().max(1.0) / self.voltage;
        let by_battery = (BATTERY_LIMIT / power).min(MOTOR_LIMIT);
        let upper = by_duty.min(by_battery);
        let lower = ((-left - emf) / RESISTANCE).max(-(REGEN_LIMIT / power).min(MOTOR_LIMIT)).min(upper);
        let target = asked.clamp(lower, upper);
        self.current += (target - self.current) * dt / (0.002 + dt);
        self.starved = asked - self.current > 10.0 && by_duty < by_battery;

        let along = emf + RESISTANCE * self.current;
        let volts = (along * along + across * across).sqrt();
        self.duty = (volts * 3_f32.sqrt() / self.voltage).min(DUTY_LIMIT);
        self.battery_current = 1.5 * along * self.current / self.voltage + 0.15;
        let internal = INTERNAL + if self.charge < 0.1 { WEAK } else { 0.0 };
        let settled = open_voltage(self.charge) - internal * self.battery_current;
        self.voltage += (settled - self.voltage) * dt / (0.01 + dt);

        let hours = self.battery_current.abs() * dt / 3600.0;
        let side = if self.battery_current > 0.0 { &mut self.used } else { &mut self.charged };
        let [amps, watts] = side;
        *amps += hours;
        *watts += hours * self.voltage;
        self.charge = (self.charge - self.battery_current * dt / 3600.0 / CAPACITY).clamp(0.0, 1.0);
        let heat = self.current * self.current;
        self.mosfet += (heat * 0.0008 - (self.mosfet - 30.0) * 0.004) * dt;
        self.motor += (heat * 0.0008 - (self.motor - 25.0) * 0.003) * dt;
    }

    /// The wheel and the road.
    fn roll(&mut self, dt: f32, pose: Pose, slope: f32, grip: f32) {
        let before = self.wheel;
        let pull = TORQUE * self.current / RADIUS;
        let hold = grip * MASS * GRAVITY;
        let scrape = if matches!(pose, Pose::Tumbling) || self.pitch.abs() >= GROUND { 7.0 * MASS } else { 0.0 };
        let against = self.drag() + scrape * (self.speed / 0.2).clamp(-1.0, 1.0);
        let slip = self.wheel - self.speed;
        if pull.abs() > hold || slip.abs() > 0.05 {
            let force = if slip.abs() > 0.02 { hold.copysign(slip) } else { hold.copysign(pull) };
            self.wheel += (TORQUE * self.current - force * RADIUS) * RADIUS / WHEEL_INERTIA * dt;
            self.speed += ((force - against) / MASS - GRAVITY * slope) * dt;
        } else {
            self.speed += ((pull - against) / MASS - GRAVITY * slope) * dt;
            self.wheel = self.speed;
        }
        let slip = (self.wheel - self.speed).abs();
        self.slips = slip > if self.slips { 0.2 } else { 0.5 };
        self.acceleration = (self.wheel - before) / dt;
        self.distance += self.speed.abs() * dt;
    }

    /// Lies where it is.
    pub(super) fn rest(&mut self, dt: f32) {
        self.speed -= self.speed * dt / (0.5 + dt);
        self.wheel = self.speed;
    }
}

/// V of the battery without a load: 20 lithium cells in a row.
fn open_voltage(charge: f32) -> f32 {
    const CELL: [(f32, f32); 6] = [(0.0, 3.0), (0.05, 3.28), (0.2, 3.5), (0.5, 3.68), (0.8, 3.95), (1.0, 4.18)];
    let mut volts = 3.0;
    let mut before = (0.0, 3.0);
    for (at, cell) in CELL {
        if charge >= at {
            volts = cell;
            before = (at, cell);
        } else {
            volts = before.1 + (cell - before.1) * (charge - before.0) / (at - before.0);
            break;
        }
    }
    volts * CELLS
}

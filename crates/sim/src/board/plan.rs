use super::scenario::{Cause, Scenario};
use super::version::BoardVersion;

/// Knots of a polyline: seconds since the beginning, value.
type Knots = &'static [(f32, f32)];

/// What the rider wants, where it goes, and what the board is like on a ride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// m/s that the rider wants.
    pub(super) speed: Knots,
    /// m/s² that the rider asks for at most.
    pub(super) eager: f32,
    /// Metres up per metre.
    pub(super) slope: Knots,
    /// How well the wheel grips: force over weight.
    pub(super) grip: Knots,
    /// Whether the rider slows down when pushed back.
    pub(super) heeds: bool,
    /// State of charge, 0..1.
    pub(super) charge: f32,
    /// degC of the controller in the beginning.
    pub(super) mosfet: f32,
    /// m/s from which the speed is too much.
    pub(super) speed_limit: f32,
    /// When the battery management reports an error.
    pub(super) error_at: f32,
    /// When the pads stop working.
    pub(super) pads_lost_at: f32,
    /// How long the board rests before it is ridden again; for ever without it.
    pub(super) rest: Option<f32>,
}

const NEVER: f32 = f32::INFINITY;
const FLAT: Knots = &[(0.0, 0.0)];
const ROAD: Knots = &[(0.0, 0.8)];

const PLAIN: Plan = Plan {
    speed: &[(2.0, 0.0)],
    eager: 1.8,
    slope: FLAT,
    grip: ROAD,
    heeds: true,
    charge: 0.7,
    mosfet: 41.0,
    speed_limit: NEVER,
    error_at: NEVER,
    pads_lost_at: NEVER,
    rest: None,
};

impl Plan {
    pub(super) const fn of(scenario: Scenario) -> Self {
        match scenario {
            Scenario::Ride => Self {
                speed: &[(2.0, 0.0), (5.0, 4.5), (9.0, 6.0), (12.0, 5.0), (15.0, 5.5), (17.2, 0.8), (18.4, 0.0)],
                slope: &[(6.0, 0.0), (8.0, 0.04), (11.0, 0.03), (13.0, -0.03), (15.0, 0.0)],
                rest: Some(20.0),
                ..PLAIN
            },
            Scenario::Nosedive => {
                Self { speed: &[(2.0, 0.0), (8.0, 9.6), (9.5, 9.6), (9.6, 16.0)], eager: 1.6, heeds: false, ..PLAIN }
            }
            Scenario::Empty => PLAIN,
            Scenario::LowVoltage => Self {
                speed: &[(2.0, 0.0), (8.0, 5.6), (9.5, 5.6), (9.6, 12.0)],
                eager: 1.5,
                slope: &[(9.2, 0.0), (10.0, 0.07)],
                heeds: false,
                charge: 0.055,
                ..PLAIN
            },
            Scenario::HighVoltage => Self {
                speed: &[(2.0, 0.0), (6.0, 4.0)],
                slope: &[(7.0, 0.0), (8.5, -0.14), (9.4, -0.14), (10.0, -0.03)],
                charge: 0.995,
                ..PLAIN
            },
            Scenario::Footpad => Self { speed: &[(2.0, 0.0), (7.0, 6.5)], pads_lost_at: 10.0, ..PLAIN },
            Scenario::Wheelslip => Self {
                speed: &[(2.0, 0.0), (8.0, 7.0), (9.5, 7.0), (9.6, 12.0)],
                grip: &[(10.4, 0.8), (10.45, 0.04)],
                heeds: false,
                ..PLAIN
            },
            Scenario::BmsError => {
                Self { speed: &[(2.0, 0.0), (6.0, 3.9), (12.0, 3.9), (14.0, 0.5), (14.6, 0.0)], error_at: 8.0, ..PLAIN }
            }
            Scenario::Temperature => {
                Self { speed: &[(2.0, 0.0), (6.0, 3.8)], slope: &[(5.0, 0.0), (7.0, 0.1)], mosfet: 83.1, ..PLAIN }
            }
            Scenario::Overcurrent => {
                Self { speed: &[(2.0, 0.0), (6.0, 4.2)], slope: &[(8.0, 0.0), (9.6, 0.36)], ..PLAIN }
            }
            Scenario::Speed => Self {
                speed: &[(2.0, 0.0), (6.0, 3.4), (7.0, 3.4), (8.0, 4.4), (11.0, 4.4), (13.2, 0.5), (13.8, 0.0)],
                speed_limit: 3.9,
                ..PLAIN
            },
        }
    }

    pub(super) fn speed(&self, t: f32) -> f32 {
        along(self.speed, t)
    }

    pub(super) fn slope(&self, t: f32) -> f32 {
        along(self.slope, t)
    }

    pub(super) fn grip(&self, t: f32) -> f32 {
        along(self.grip, t)
    }
}

/// What begins the trouble of a scenario. 1.1 has neither error nor speed pushback, and the rider notices nothing.
pub(super) const fn cause(scenario: Scenario, version: BoardVersion) -> Cause {
    let new = !matches!(version, BoardVersion::V1_0 | BoardVersion::V1_1);
    match scenario {
        Scenario::Ride | Scenario::Empty => Cause::Nothing,
        Scenario::Nosedive => Cause::Duty,
        Scenario::LowVoltage => Cause::LowVoltage,
        Scenario::HighVoltage => Cause::HighVoltage,
        Scenario::Footpad => Cause::Footpad,
        Scenario::Wheelslip => Cause::Wheelslip,
        Scenario::BmsError if new => Cause::Error,
        Scenario::Speed if new => Cause::Speed,
        Scenario::BmsError | Scenario::Speed => Cause::Nothing,
        Scenario::Temperature => Cause::Temperature,
        Scenario::Overcurrent => Cause::Current,
    }
}

/// The polyline at `t`; before the first and after the last knot it stays.
fn along(knots: &[(f32, f32)], t: f32) -> f32 {
    let mut before: Option<(f32, f32)> = None;
    for &(at, value) in knots {
        if t < at {
            return before.map_or(value, |(from, start)| start + (value - start) * (t - from) / (at - from));
        }
        before = Some((at, value));
    }
    before.map_or(0.0, |(_, value)| value)
}

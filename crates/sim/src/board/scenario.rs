use std::fmt;
use std::str::FromStr;

use logpose_refloat::wire::{Adjustment, Footpad};

/// What happens to an emulated board.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Scenario {
    /// A ride on which nothing goes wrong. It ends by stepping off, and begins again after a rest.
    #[default]
    Ride,
    /// Duty pushback is overridden, the duty cycle runs to its limit, the nose falls.
    Nosedive,
    /// Nobody ever stepped on it, and nothing is recorded.
    Empty,
    /// An almost empty battery sags on a hill; the pushback is overridden, and the nose falls.
    LowVoltage,
    /// A full battery is charged going downhill; the rider heeds the pushback.
    HighVoltage,
    /// The footpad sensor is lost while riding, and the board stops under its rider.
    Footpad,
    /// The wheel loses its grip, spins up to the limit of the duty cycle, and the nose falls.
    Wheelslip,
    /// The battery management reports an error; the rider heeds the pushback. 1.1 knows no such pushback.
    BmsError,
    /// The controller gets too warm on a hill; the rider heeds the pushback.
    Temperature,
    /// A hill needs more current than the motor may have, and the nose falls.
    Overcurrent,
    /// Faster than allowed; the rider heeds the pushback. 1.1 knows no such pushback.
    Speed,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Ride,
        Self::Nosedive,
        Self::Empty,
        Self::LowVoltage,
        Self::HighVoltage,
        Self::Footpad,
        Self::Wheelslip,
        Self::BmsError,
        Self::Temperature,
        Self::Overcurrent,
        Self::Speed,
    ];

    /// The word for it on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ride => "ride",
            Self::Nosedive => "nosedive",
            Self::Empty => "empty",
            Self::LowVoltage => "low-voltage",
            Self::HighVoltage => "high-voltage",
            Self::Footpad => "footpad",
            Self::Wheelslip => "wheelslip",
            Self::BmsError => "bms-error",
            Self::Temperature => "temperature",
            Self::Overcurrent => "overcurrent",
            Self::Speed => "speed",
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scenario {
    type Err = UnknownScenario;

    fn from_str(text: &str) -> Result<Self, UnknownScenario> {
        Self::ALL.into_iter().find(|scenario| scenario.name() == text).ok_or_else(|| UnknownScenario(text.into()))
    }
}

/// A word that names no scenario.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownScenario(pub String);

impl std::error::Error for UnknownScenario {}

impl fmt::Display for UnknownScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Scenario::ALL.map(Scenario::name).join(", ");
        write!(f, "unknown scenario {:?}, expected one of {names}", self.0)
    }
}

/// What is true of a simulated ride: what an explanation of its recording has to find out.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// What began the trouble.
    pub cause: Cause,
    /// How it ended: the stop condition of the protocol, 0 if the board still runs.
    pub stop: u8,
    /// What happened, in the order of time. What is older than the recording is here too.
    pub moments: Vec<Moment>,
}

impl Truth {
    /// When this happened for the first time.
    #[must_use]
    pub fn first(&self, what: What) -> Option<u32> {
        self.moments.iter().find(|moment| moment.what == what).map(|moment| moment.tick)
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// The board's tick.
    pub tick: u32,
    /// What it was.
    pub what: What,
}

/// What can happen on a ride.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// The rider stepped on and the board balances.
    Engaged,
    /// The setpoint is adjusted for this reason from now on.
    Adjustment(Adjustment),
    /// The pads read so from now on.
    Pads(Footpad),
    /// The wheel slips, or grips again.
    Wheelslip(bool),
    /// The motor gives at least 10 A less than the controller asks for, because of what its duty cycle allows.
    DutyLimit,
    /// The same because of its current limit.
    CurrentLimit,
    /// The nose touches the ground.
    NoseDown,
    /// The board stopped, by this stop condition.
    Stopped(u8),
}

/// What began the trouble on a ride.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// Nothing went wrong.
    Nothing,
    /// The rider rode beyond what the duty cycle allows.
    Duty,
    /// The battery was too weak for what was asked of it.
    LowVoltage,
    /// The battery was too full to take what braking gave.
    HighVoltage,
    /// The pads did not detect the rider.
    Footpad,
    /// The wheel lost its grip.
    Wheelslip,
    /// The battery management reported an error.
    Error,
    /// Something was too warm.
    Temperature,
    /// More current was needed than is allowed.
    Current,
    /// It was faster than allowed.
    Speed,
}

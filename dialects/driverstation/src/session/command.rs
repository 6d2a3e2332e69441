use std::fmt;

use super::joystick::{Description, JoystickState};
use crate::wire::{AllianceStation, MatchInfo, MatchType, Mode};

/// Commands for a station.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Enable the robot, in the mode that was chosen.
    Enable,
    /// Disable it.
    Disable,
    /// Choose a mode. While the robot is enabled this disables it.
    Mode(Mode),
    /// Stop for an emergency. There is no way back but another station and a reboot of the robot.
    EStop,
    /// Move a stick, and plug it in if it is not there.
    Joystick {
        /// Which, from 0.
        port: u8,
        /// Where its parts are.
        state: JoystickState,
    },
    /// Pull a stick out.
    Unplug {
        /// Which, from 0.
        port: u8,
    },
    /// Tell what a stick is, and plug it in if it is not there.
    Describe {
        /// Which, from 0.
        port: u8,
        /// What it is.
        description: Description,
    },
    /// Tell the robot which match this is.
    Match(Match),
    /// Tell the robot the field's secret.
    GameData(String),
    /// Tell the robot how many seconds are left from now on, or stop telling it.
    Countdown(Option<f32>),
    /// Stand somewhere else.
    Station(AllianceStation),
    /// Restart the robot's program.
    RestartCode,
    /// Reboot the robot.
    Reboot,
    /// Ask for the versions of the robot's devices.
    Versions,
}

impl Command {
    /// Whether it can make the robot move.
    #[must_use]
    pub fn enables(&self) -> bool {
        matches!(self, Self::Enable)
    }
}

/// Which match this is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Match {
    /// The name of the event.
    pub event: String,
    /// What kind of match.
    pub kind: MatchType,
    /// Its number.
    pub number: u16,
    /// How often it was played before.
    pub replay: u8,
}

impl Match {
    pub(super) fn of_wire(info: &MatchInfo<'_>) -> Self {
        Self {
            event: String::from_utf8_lossy(info.event).into_owned(),
            kind: info.kind,
            number: info.number.unwrap_or_default(),
            replay: info.replay.unwrap_or_default(),
        }
    }
}

/// Why a command was not obeyed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The options say so.
    #[error("enabling the robot is not allowed; add --enable to allow it")]
    NotPermitted,
    /// This station has stopped the robot.
    #[error("emergency stop: restart the station and reboot the robot to clear it")]
    Stopped,
    /// The robot says that it was stopped.
    #[error("the robot reports an emergency stop: reboot the robot to clear it")]
    RobotStopped,
    /// Nobody is there to be commanded.
    #[error("no robot answers")]
    NotConnected,
    /// There is nothing to be enabled.
    #[error("no robot code is running")]
    NoCode,
    /// The program is about to end.
    #[error("the robot is restarting")]
    Restarting,
    /// The fourth mode.
    #[error("unknown mode, expected teleop, autonomous or test")]
    NoSuchMode,
    /// There are six.
    #[error("no joystick {0}, expected 0 to 5")]
    NoSuchStick(u8),
    /// There are six.
    #[error("no station {0}, expected red 1 to blue 3")]
    NoSuchStation(AllianceStation),
    /// The wire has no room for it.
    #[error("{what} has {length} bytes, the limit is {most}")]
    TooLong {
        /// What.
        what: &'static str,
        /// How long it is.
        length: usize,
        /// How long it may be.
        most: usize,
    },
}

impl Refused {
    /// Refuses what is longer than it may be.
    pub(super) fn longer(what: &'static str, length: usize, most: usize) -> Result<(), Self> {
        if length > most { Err(Self::TooLong { what, length, most }) } else { Ok(()) }
    }
}

/// What happened at a station.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The robot answers.
    Connected,
    /// The robot has not answered for a second.
    Lost,
    /// The robot's program has started.
    CodeStarted,
    /// The station has disabled itself.
    Disabled(Stopped),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("robot connected"),
            Self::Lost => f.write_str("no answer from the robot for a second"),
            Self::CodeStarted => f.write_str("robot code started"),
            Self::Disabled(why) => write!(f, "disabled: {why}"),
        }
    }
}

/// Why a station has disabled itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stopped {
    /// No reply for a second.
    Lost,
    /// The link was closed.
    Closed,
    /// The robot's program has ended.
    NoCode,
    /// The robot was stopped for an emergency, by itself or by another.
    EStop,
    /// Another mode was chosen.
    Mode,
    /// A restart or a reboot was commanded.
    Restart,
    /// The station says goodbye.
    Farewell,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "no answer from the robot for a second",
            Self::Closed => "the link to the robot was closed",
            Self::NoCode => "robot code stopped",
            Self::EStop => "emergency stop",
            Self::Mode => "mode changed",
            Self::Restart => "the robot is restarting",
            Self::Farewell => "the station is exiting",
        })
    }
}

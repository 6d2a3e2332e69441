//! Byte layout of the link, both directions, UDP and TCP. Pure functions of bytes: parsing borrows and never allocates,
//! `emit` appends, and what was not understood is kept, so that what was parsed is emitted as it came.

mod bits;
mod control;
mod framing;
mod joystick;
mod show;
mod status;
mod tags;
mod to_robot;
mod to_station;

pub use bits::{ControlBits, ErrorFlags, Mode, RequestBits, StatusBits, TraceBits};
pub use control::{AllianceStation, Control, ControlTag, Date, UnknownStation};
pub use framing::{Messages, plausible};
pub use joystick::{Joystick, JoystickOutput, axis_to_raw, axis_value, rumble_to_raw, rumble_value};
pub use status::{CanMetrics, Cores, Status, StatusTag, volts_to_raw};
pub use tags::{RawTag, TagProblem, Tags};
pub use to_robot::{Descriptor, MatchInfo, MatchType, ToRobot};
pub use to_station::{Console, ErrorMessage, ToStation, UsageReport, Version};

/// Bytes that are shorter than their layout. The place is an offset in the datagram or in the message's body.
pub type WireError = logpose_core::Truncated;

/// UDP, station to robot: control packets.
pub const CONTROL_PORT: u16 = 1110;
/// UDP, station to robot: the same packets while a field is attached.
pub const FIELD_CONTROL_PORT: u16 = 1115;
/// UDP, robot to station: status packets.
pub const STATUS_PORT: u16 = 1150;
/// TCP, the station connects to the robot: messages in both directions.
pub const TCP_PORT: u16 = 1740;
/// UDP, a simulated robot announces itself to its own machine.
pub const SIMULATOR_PORT: u16 = 1135;
/// The version in every packet since 2015.
pub const VERSION: u8 = 1;
/// Sticks that a station has room for.
pub const JOYSTICKS: usize = 6;

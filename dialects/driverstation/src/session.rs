//! The two sides of the link without sockets and clocks: a station and a simulated robot.
//!
//! The first link that is opened carries the datagrams, a later one the messages (TCP), one at a time; once the datagram
//! link was closed, the next one takes its place. Times are nanoseconds since 1970, because a station sends the date.
//! What either side says and hears goes through a [`Mapper`](crate::Mapper) into the sink.

mod change;
mod command;
mod gauges;
mod joystick;
mod lines;
mod robot;
mod station;
mod telling;
mod trouble;

pub use change::{Change, DeviceVersion, Fault};
pub use command::{Command, Event, Match, Refused, Stopped};
pub use joystick::{AXES, BUTTONS, Description, JoystickState, POV_RELEASED, POVS};
pub use robot::{Robot, RobotOptions, RobotView};
pub use station::{RobotState, Station, StationOptions, StationView};

/// A station sends a control packet this often, in nanoseconds.
pub const CADENCE: i64 = 20_000_000;
/// Without a reply for this long the robot is lost; without a packet for this long the station is.
pub const LOST_AFTER: i64 = 1_000_000_000;
/// A roboRIO disables itself this long after the last enabled packet.
pub const WATCHDOG: i64 = 125_000_000;

/// Nanoseconds of a duration; the longest there is for one that is longer.
fn nanos(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

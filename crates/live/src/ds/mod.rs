//! The Driver Station link: a station and a simulated robot over sockets, and a proxy between the two.
//!
//! [`StationRunner`] and [`RobotRunner`] are sources for [`Live::listen`](crate::Live::listen), which feeds what both
//! sides say to outputs; a handle commands them meanwhile. [`Proxy`] stands between a real station and a real
//! robot and passes every byte on as it is.
//!
//! A station that ends, in whatever way, says before that the robot is disabled. None of these ever talks to a field
//! system.

mod agenda;
mod directed;
mod moves;
mod pipe;
mod proxy;
mod robot;
mod station;
mod tap;

use std::io;
use std::net::{IpAddr, SocketAddr};

pub use moves::{Move, joystick_moves};
pub use proxy::{Proxy, ProxyOptions, ProxyView, Way};
pub use robot::{RobotHandle, RobotRunner, RobotSetup};
pub use station::{StationHandle, StationRunner, StationSetup};

pub use logpose_driverstation::{script, session, wire};

pub use crate::histogram::Spread;
pub use crate::links::paired::Ports;
pub use directed::News;

use crate::links::paired::{FIELD, is_field};

/// Why a station, a robot or a proxy does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DsError {
    /// Another program has the port.
    #[error("{what} port {} of {} is in use: {who}", address.port(), address.ip())]
    Taken {
        /// UDP or TCP.
        what: &'static str,
        /// The address.
        address: SocketAddr,
        /// Who has it, probably.
        who: &'static str,
    },
    /// The system refuses.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The address of a field system.
    #[error("{0}: {FIELD}")]
    Field(IpAddr),
    /// A proxy that would talk to itself.
    #[error("the robot's address {0} is the address of the proxy itself")]
    Itself(SocketAddr),
}

impl DsError {
    pub(crate) fn bind(what: &'static str, address: SocketAddr, who: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::AddrInUse => Self::Taken { what, address, who },
            _ => Self::Io { what: format!("cannot bind {what} port {} of {}", address.port(), address.ip()), error },
        }
    }

    /// Whoever names an address of a field system is refused.
    fn check(host: &crate::Host) -> Result<(), Self> {
        match host {
            crate::Host::Ip(ip) if is_field(*ip) => Err(Self::Field(*ip)),
            _ => Ok(()),
        }
    }
}

/// Who probably has a port that a robot would have.
const ROBOT_RUNS: &str = "another simulated robot or proxy is running there";
/// Who probably has the port to which robots answer.
pub(crate) const STATION_RUNS: &str = "another Driver Station is running on this computer";

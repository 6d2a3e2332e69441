//! All that the rest of logpose sees of the link.

use logpose_core::{
    Dialect, EncodeOptions, FileDialect, Info, Limits, LiveDialect, Reach, Serve, Session, Support, Transport,
};

use crate::session::{Station, StationOptions};
use crate::wire::{CONTROL_PORT, STATUS_PORT, TCP_PORT};

/// The link between a Driver Station and a robot, which is spoken live and has no files.
///
/// Whoever listens to a robot takes the place of its station, and keeps it disabled.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriverStation;

/// A packet that asks for nothing: disabled, at red 1, with the number before the first one of a station.
pub const HELLO: &[u8] = &[0x00, 0x00, 0x01, 0x00, 0x00, 0x00];

/// Its name in commands and in code.
pub const NAME: &str = "driverstation";

static INFO: Info = Info {
    live: Support { read: true, write: false },
    reached: &[Reach {
        scheme: "ds",
        transport: Transport::Paired { port: CONTROL_PORT, answers: STATUS_PORT, stream: TCP_PORT, hello: HELLO },
    }],
    ..Info::new(NAME, "Driver Station link")
};

impl Dialect for DriverStation {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        None
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        Some(self)
    }
}

impl LiveDialect for DriverStation {
    fn client(&self, _: Limits) -> Option<Box<dyn Session>> {
        Some(Box::new(Station::new(StationOptions::default())))
    }

    /// None: a robot answers with its own state, which samples of a log do not give.
    fn server(&self, _: &EncodeOptions) -> Option<Box<dyn Serve>> {
        None
    }
}

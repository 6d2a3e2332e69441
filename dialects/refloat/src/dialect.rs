//! All that the rest of logpose sees of a board.

use logpose_core::{Dialect, Info, Reach, Support, Transport};

/// Refloat boards: their recordings as files, and the boards themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refloat;

/// The port of VESC Express and of VESC Tool's bridge.
pub const PORT: u16 = 65102;
/// What a VESC speaks on its serial port, unless it was told otherwise.
pub const BAUD: u32 = 115_200;

static INFO: Info = Info {
    name: "refloat",
    title: "Refloat recording",
    extensions: &["rfrec"],
    files: Support { read: false, write: false },
    live: Support { read: false, write: false },
    reached: &[
        Reach { scheme: "refloat+tcp", transport: Transport::Tcp { port: PORT } },
        Reach { scheme: "refloat+serial", transport: Transport::Serial { baud: BAUD } },
        Reach { scheme: "refloat+udp", transport: Transport::Udp { port: PORT } },
    ],
};

impl Dialect for Refloat {
    fn info(&self) -> &'static Info {
        &INFO
    }
}

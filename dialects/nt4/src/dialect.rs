//! All that the rest of logpose sees of NetworkTables.

use logpose_core::{
    Dialect, EncodeOptions, FileDialect, Info, Limits, LiveDialect, Reach, Serve, Session, Support, Transport,
};

use crate::session::{Nt4Client, Nt4Server, Options, ServerOptions};
use crate::wire::{PATH, PORT, RTT_SUBPROTOCOL, SUBPROTOCOLS};

/// NetworkTables 4, which is spoken live and has no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nt4;

/// Its name in commands and in code.
pub const NAME: &str = "nt4";

static INFO: Info = Info {
    live: Support { read: true, write: true },
    reached: &[Reach {
        scheme: "nt4",
        transport: Transport::WebSocket { port: PORT, path: PATH, protocols: &SUBPROTOCOLS, also: &[RTT_SUBPROTOCOL] },
    }],
    ..Info::new(NAME, "NetworkTables 4")
};

impl Dialect for Nt4 {
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

impl LiveDialect for Nt4 {
    fn client(&self, limits: Limits) -> Option<Box<dyn Session>> {
        Some(Box::new(Nt4Client::new(Options::default(), limits)))
    }

    fn server(&self, _: &EncodeOptions) -> Option<Box<dyn Serve>> {
        Some(Box::new(Nt4Server::new(ServerOptions::default())))
    }
}

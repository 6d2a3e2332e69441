//! Live NetworkTables: a client that listens to a robot, and a server that is one. Both without sockets and clocks.
//!
//! The link is a WebSocket. It hands over whole messages, and answers and sends pings on its own.

mod client;
mod interests;
mod meta;
mod requests;
mod server;
mod topics;

pub use client::{ClientStats, Nt4Client, Options};
pub use server::{Nt4Server, ServerOptions};

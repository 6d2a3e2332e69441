#![doc = include_str!("../README.md")]

mod dialect;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod messages;
mod model;
mod msgpack;
mod session;
mod wire;

pub use dialect::{NAME, Nt4};
pub use error::{Error, ErrorKind};
pub use messages::{Message, Messages, Notice, Request, SubscribeOptions};
pub use model::{channel_name, channel_type, topic_name, topic_type};
pub use msgpack::{Item, Items};
pub use session::{ClientStats, Nt4Client, Nt4Server, Options, ServerOptions};
pub use wire::{Kind, PATH, PORT, RTT_SUBPROTOCOL, SUBPROTOCOLS, TIME_SYNC, Update, Updates, is_text};

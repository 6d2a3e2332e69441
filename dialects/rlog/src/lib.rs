#![doc = include_str!("../README.md")]

mod dialect;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod model;
mod reader;
mod recover;
mod replay;
mod session;
mod walk;
mod wire;
mod writer;

pub use dialect::{NAME, Rlog};
pub use error::{Error, ErrorKind};
pub use model::{seconds_of, time_of};
pub use reader::{Decoder, Reader};
pub use session::{ClientStats, RlogClient, RlogServer};
pub use wire::{HEARTBEAT, KEEP_ALIVE, Kind, Message, PORT, Revision};
pub use writer::{Encoder, Key, Options, Writer};

#![doc = include_str!("../README.md")]

mod decode;
mod dialect;
mod error;
mod events;
#[doc(hidden)]
pub mod fuzzing;
mod model;
mod pair;
mod reader;
mod rows;
mod summary;
mod walk;
mod wire;

pub use dialect::{Dslog, NAME};
pub use error::{Error, ErrorKind};
pub use events::{Coded, Console, Entry, EntryPart, ErrorEntry, FieldTime, Joystick, Match, entries, parts};
pub use pair::{Envelope, Half};
pub use reader::{Item, Reader};
pub use summary::{MatchSummary, Summary, summary};
pub use wire::{Event, HEADER, Header, Mode, Record, Stamp, Status, Version};

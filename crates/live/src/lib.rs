#![doc = include_str!("../README.md")]

mod address;
mod admission;
mod alarm;
mod clock;
mod driver;
pub mod ds;
mod foxglove;
mod free;
mod histogram;
mod join;
mod links;
mod live;
mod output;
pub mod player;
pub mod recorder;
pub mod refloat;
mod server;
mod shared;
mod source;
mod source_clock;
mod stats;
mod trigger;

pub use self::foxglove::{FoxgloveFigures, FoxgloveOptions, FoxgloveServer, FoxgloveStats};
pub use address::{Address, AddressError, Host, Place, Speech};
pub use admission::{Admission, Admitted};
pub use clock::Clock;
pub use free::free_space;
pub use join::Join;
pub use links::{FoundPort, SerialPort, serial_ports};
pub use live::{Live, Progress, SourceProgress};
pub use logpose_core::Batch;
pub use output::{Output, OutputError, OutputThread};
pub use server::{Server, ServerError, ServerOptions};
pub use source::{Source, SourceError};
pub use source_clock::SourceClock;
pub use stats::{LinkFigures, LinkStats};
pub use trigger::{ExpressionTrigger, Trigger};

/// The recipes of the cookbook that need this crate.
#[cfg(doctest)]
#[doc = include_str!("../../logpose/src/cookbook/live.md")]
struct Cookbook;

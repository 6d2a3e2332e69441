#![doc = include_str!("../README.md")]

mod channels;
mod dialect;
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod model;
pub mod pd;
mod samples;
pub mod script;
pub mod session;
mod trips;
pub mod usage;
pub mod wire;

pub use channels::{Name, Origin};
pub use dialect::{DriverStation, HELLO, NAME};
pub use json::{ErrorRecord, put_descriptor, put_match, put_version};
pub use model::Mapper;

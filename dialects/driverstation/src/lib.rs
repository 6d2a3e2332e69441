#![doc = include_str!("../README.md")]

mod dialect;
mod model;
pub mod pd;
pub mod script;
pub mod session;
pub mod usage;
pub mod wire;

pub use dialect::{CONTROL_PORT, DriverStation, HELLO, STATUS_PORT, STREAM_PORT};
pub use model::Mapper;

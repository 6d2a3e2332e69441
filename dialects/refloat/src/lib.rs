#![doc = include_str!("../README.md")]

mod dialect;
mod file;
pub mod float16;
#[doc(hidden)]
pub mod fuzzing;
pub mod items;
pub mod live;
pub mod rfrec;
pub mod session;
pub mod vesc;
pub mod wire;

pub use dialect::{BAUD, NAME, PORT, Refloat};
pub use live::LiveMapper;

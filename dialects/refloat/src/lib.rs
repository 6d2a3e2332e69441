#![doc = include_str!("../README.md")]

mod dialect;
pub mod float16;
pub mod items;
pub mod rfrec;
pub mod session;
pub mod vesc;
pub mod wire;

pub use dialect::{BAUD, PORT, Refloat};

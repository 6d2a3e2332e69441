#![doc = include_str!("../README.md")]

mod dialect;

pub use dialect::{BAUD, PORT, Refloat};

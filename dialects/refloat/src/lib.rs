#![doc = include_str!("../README.md")]

pub mod board;
mod dialect;

pub use dialect::{BAUD, PORT, Refloat};

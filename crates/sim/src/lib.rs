#![doc = include_str!("../README.md")]

pub mod board;
#[doc(hidden)]
pub mod fuzzing;
mod junction;

pub use junction::junction;

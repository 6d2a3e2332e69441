#![doc = include_str!("../README.md")]

mod batch;
mod clock;

pub use batch::Batch;
pub use clock::Clock;

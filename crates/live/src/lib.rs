#![doc = include_str!("../README.md")]

mod batch;
mod clock;
pub mod player;

pub use batch::Batch;
pub use clock::Clock;

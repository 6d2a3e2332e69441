#![doc = include_str!("../README.md")]

mod batch;
mod clock;
mod output;
pub mod recorder;

pub use batch::Batch;
pub use clock::Clock;
pub use output::{Output, OutputError};

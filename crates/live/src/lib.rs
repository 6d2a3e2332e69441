#![doc = include_str!("../README.md")]

mod batch;
mod clock;
pub mod player;
mod trigger;

pub use batch::Batch;
pub use clock::Clock;
pub use trigger::{ExpressionTrigger, Trigger};

#![doc = include_str!("../README.md")]

mod align;
pub mod carla;
pub mod diff;
pub mod frc;
pub mod refloat;
pub mod season;
pub mod stats;

pub use align::{Aligned, Alignment};

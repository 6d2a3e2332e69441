#![doc = include_str!("../README.md")]

pub mod append;
pub mod carla;
pub mod encode;
pub mod inputs;
pub mod mcap;
pub mod meter;
pub mod read;
mod signals;
pub mod station;
pub mod sums;

//! SQL over logs, from outside.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a panic is how a test fails, also in its helpers"
)]

mod aligned;
mod bounds;
mod carla;
mod crashes;
mod errors;
mod group;
mod hard;
#[cfg(feature = "lake")]
mod lake;
mod memory;
mod numbers;
mod push;
mod support;
mod tables;
mod write;

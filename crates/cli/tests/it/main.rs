//! The command line, from outside.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a panic is how a test fails, also in its helpers"
)]

mod behaviour;
mod carla;
mod docs;
mod fixtures;
mod json;
mod logs;
mod plot;
mod run;
mod transcripts;

//! All tests of the CARLA dialect: one binary, one module for each question.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "a test may panic and print: that is how it fails and tells"
)]

mod corrupt;
mod demo;
mod edit;
mod fixtures;
mod golden;
mod model;
mod model_kit;
mod parallel;
mod queries;
mod recover;
mod replay_trace;
mod replayed;
mod state;
mod stream;
mod tracks;
mod vectors;
mod writer;

//! The command line, from outside.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    reason = "a panic is how a test fails, also in its helpers, and skipped parts are printed"
)]

mod behaviour;
mod carla;
mod docs;
mod ds;
mod ds_list;
mod fixtures;
mod follow;
mod json;
#[cfg(all(feature = "lake", unix))]
mod lake;
mod live;
mod logs;
#[cfg(feature = "viewer")]
mod open;
mod plot;
mod refloat;
mod run;
mod transcripts;

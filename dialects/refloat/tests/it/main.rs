//! All tests of the crate that use it from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "a test may panic and print: that is how it fails and reports"
)]

mod client;
mod client_faults;
mod client_generated;
mod client_hostile;
mod client_live;
mod client_world;
mod crashes;
mod deframer;
mod file;
mod float16;
mod generated;
mod items;
mod kit;
mod live;
mod malformed;
mod vectors;

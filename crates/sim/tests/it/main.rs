//! All tests of the crate that use it from outside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "a test may panic and print: that is how it fails and reports"
)]

mod board;
mod crashes;
mod junction;

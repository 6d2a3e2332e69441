//! Sources, servers and what lies between them, over real links on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "the helpers of tests may panic like the tests themselves"
)]

mod faults;
mod join;
mod kit;
mod rlog;

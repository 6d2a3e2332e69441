//! What the live crate promises, over real clocks and loopback sockets where they matter.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "the helpers of tests may panic like the tests themselves"
)]

mod player;
mod trigger;

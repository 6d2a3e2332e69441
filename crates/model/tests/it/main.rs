//! Arrays against what they were made of.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "the helpers of tests may panic like the tests themselves"
)]

mod corpus;
mod long;
mod nested;
mod plain;
mod support;

//! All integration tests, in one binary.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

mod corpus;
mod crashes;
mod guess;
mod hostile;
mod json;
mod layout;
mod objects;
mod parse;
mod photon;
mod proto;
mod registry;
mod support;
mod tree_shape;
mod vectors;

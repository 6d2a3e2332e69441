//! All tests of the crate that use it from outside.

mod corpus;
mod corrupt;
mod golden;
mod kit;
mod parallel;
mod quirks;
mod roundtrip;
mod session;
mod truncation;
mod vectors;

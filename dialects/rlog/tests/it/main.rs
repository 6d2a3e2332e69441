//! All tests of the crate that use it from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod corpus;
mod corrupt;
mod crashes;
mod golden;
mod kit;
mod parallel;
mod quirks;
mod roundtrip;
mod session;
mod truncation;
mod vectors;

//! All tests of the crate that use it from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod board;
mod crashes;
mod junction;

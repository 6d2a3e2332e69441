//! All tests of the crate that use it from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod client;
mod crashes;
mod generated;
mod hostile;
mod kit;
mod messages;
mod server;
mod together;
mod truncation;
mod vectors;

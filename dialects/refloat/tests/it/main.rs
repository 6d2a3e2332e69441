//! All tests of the crate that use it from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

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

//! All tests of the crate that use it from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod corpus;
mod crashes;
mod generated;
mod kit;
mod malformed;
mod mapper;
mod quirks;
mod script;
mod session;
mod session_generated;
mod session_samples;
mod session_trouble;
mod truncation;
mod vectors;
mod world;

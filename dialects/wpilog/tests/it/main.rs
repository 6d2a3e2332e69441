//! All tests of the WPILOG dialect: one binary, one module for each question.
#![cfg(test)]

mod corpus;
mod corrupt;
mod crashes;
mod fixtures;
mod golden;
mod log;
mod parallel;
mod quirks;
mod roundtrip;
mod support;
mod truncation;
mod vectors;
mod windows;
mod writer;

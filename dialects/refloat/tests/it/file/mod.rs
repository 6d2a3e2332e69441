//! Recordings as files.

mod corrupt;
mod encode;
mod golden;
mod kit;
mod model;
mod roundtrip;
mod truncation;
mod vectors;

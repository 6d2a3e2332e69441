//! The command line, from outside.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod behaviour;
mod carla;
mod docs;
mod ds;
mod ds_list;
mod fixtures;
mod follow;
mod json;
#[cfg(all(feature = "lake", unix))]
mod lake;
mod live;
mod logs;
#[cfg(feature = "viewer")]
mod open;
mod plot;
mod refloat;
mod run;
mod transcripts;

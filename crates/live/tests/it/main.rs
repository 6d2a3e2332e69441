//! The live crate from outside: over real links on loopback, to real files.
#![cfg(test)]
#![allow(clippy::cast_possible_truncation, reason = "the numbers of tests are small")]

mod ds;
mod ds_proxy;
mod faults;
mod foxglove;
mod join;
mod kill;
mod kit;
mod output;
mod player;
mod recorder;
mod refloat;
mod rlog;
mod source;
mod trigger;

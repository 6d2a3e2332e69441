//! The live crate from outside: over real links on loopback, to real files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "the helpers of tests may panic like the tests themselves"
)]

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

#![doc = include_str!("../README.md")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::print_stdout,
    reason = "a panic is how a test fails, also in its helpers"
)]

mod bytes;
mod dialects;
mod files;
mod fuzz;
mod golden;
mod kept;
mod sinks;
mod wait;

pub use bytes::*;
pub use dialects::*;
pub use files::*;
pub use fuzz::*;
pub use golden::*;
pub use kept::*;
pub use sinks::*;
pub use wait::*;

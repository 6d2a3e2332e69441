#![doc = include_str!("../README.md")]

mod aggregates;
mod aligned;
mod answer;
mod bounds;
mod bucket;
mod carla;
mod catalog;
mod engine;
mod error;
mod functions;
#[doc(hidden)]
pub mod fuzzing;
mod group;
#[cfg(feature = "lake")]
mod lake;
mod logs;
mod memory;
mod push;
mod read;
mod scan;
mod show;
#[cfg(feature = "lake")]
mod stored;
mod structs;
mod sums;
mod table;
mod tables;
mod views;
#[cfg(feature = "lake")]
mod wall;
#[cfg(feature = "lake")]
mod whole;
mod windows;
mod write;

use datafusion::sql::sqlparser;

pub use answer::{Answer, Rows};
pub use engine::{Engine, Options, Source, Statement};
pub use error::Error;
#[cfg(feature = "lake")]
pub use lake::LakeLogs;
#[cfg(feature = "lake")]
pub use stored::Tables as LakeTables;
pub use write::{AnswerFormat, WriteError};

/// The recipes of the cookbook that need this crate.
#[cfg(doctest)]
#[doc = include_str!("../../logpose/src/cookbook/sql.md")]
struct Cookbook;

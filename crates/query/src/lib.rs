#![doc = include_str!("../README.md")]

mod aggregates;
mod answer;
mod bounds;
mod bucket;
mod carla;
mod catalog;
mod engine;
mod error;
mod group;
mod held;
mod logs;
mod memory;
mod push;
mod read;
mod scan;
mod show;
mod sums;
mod table;
mod views;
mod windows;
mod write;

pub use answer::{Answer, Rows};
pub use engine::{Engine, Options, Statement};
pub use error::Error;
pub use write::{AnswerFormat, WriteError};

/// The recipes of the cookbook that need this crate.
#[cfg(doctest)]
#[doc = include_str!("../../logpose/src/cookbook/sql.md")]
struct Cookbook;

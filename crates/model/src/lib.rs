#![doc = include_str!("../README.md")]

mod batch;
mod enums;
mod error;
pub mod long;
mod memory;
mod plain;
mod shape;
mod structs;
mod tree_types;
mod trees;

pub use batch::{channel_batches, channel_schema, free_name, names, sort, widen};
pub use error::ModelError;
pub use memory::Memory;
pub use plain::{binary, times};
pub use shape::Shape;

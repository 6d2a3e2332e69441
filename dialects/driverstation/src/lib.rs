#![doc = include_str!("../README.md")]

mod model;
pub mod pd;
pub mod usage;
pub mod wire;

pub use model::Mapper;

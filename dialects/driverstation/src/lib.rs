#![doc = include_str!("../README.md")]

mod model;
pub mod pd;
pub mod script;
pub mod session;
pub mod usage;
pub mod wire;

pub use model::Mapper;

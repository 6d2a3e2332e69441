#![doc = include_str!("../README.md")]

mod budget;
mod cache;
mod common;
mod error;
#[doc(hidden)]
pub mod fuzzing;
pub mod json;
mod msgpack;
mod photon;
mod proto;
mod registry;
mod tree;
mod tree_shape;
mod type_string;
pub mod wpistruct;

pub use error::{Note, ParseError, ParseErrorKind, SchemaError};
pub use registry::{Decoded, Decoder, Registry};
pub use tree::Tree;
pub use tree_shape::TreeShape;

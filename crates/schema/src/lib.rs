#![doc = include_str!("../README.md")]

mod budget;
mod cache;
mod common;
mod error;
mod form;
#[doc(hidden)]
pub mod fuzzing;
pub mod json;
mod msgpack;
mod photon;
mod proto;
mod registry;
mod tree;
mod type_string;
pub mod wpistruct;

pub use error::{Note, ParseError, ParseErrorKind, SchemaError};
pub use form::TreeShape;
pub use registry::{Decoded, Decoder, Registry};
pub use tree::Tree;

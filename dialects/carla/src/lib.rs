#![doc = include_str!("../README.md")]

mod decode;
mod dialect;
mod encode;
mod error;
mod form;
mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod model;
mod parts;
mod reader;
mod rows;
mod schema;
mod show;
mod walk;
mod wire;

pub use dialect::Carla;
pub use error::{Error, ErrorKind};
pub use form::detect;
pub use frames::{Attachment, Change, Frame, Frames, Life};
pub use reader::Reader;
pub use wire::*;

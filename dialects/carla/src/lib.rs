#![doc = include_str!("../README.md")]

mod error;
mod form;
mod frames;
mod reader;
mod wire;

pub use error::{Error, ErrorKind};
pub use form::detect;
pub use frames::{Attachment, Change, Frame, Frames, Life};
pub use reader::Reader;
pub use wire::*;

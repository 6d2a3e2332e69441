//! WPILib's packed structs: the schema text, where each field lies, and the values.
//!
//! [`Registry`](crate::Registry) does all of this by type string. The parts are public for readers
//! of columns: a [`Layout`] says at which offset of every payload a number lies, so a column can
//! be read without building a [`Tree`](crate::Tree) per sample.

mod decode;
mod layout;
mod parse;
mod scalar;

pub(crate) use decode::{many, tree};
pub(crate) use layout::{MAX_DEPTH, resolve};

pub use decode::text;
pub use layout::{Column, EnumNames, Field, Kind, Layout};
pub use parse::{Declaration, Schema, TypeName};
pub use scalar::{Bits, Scalar};

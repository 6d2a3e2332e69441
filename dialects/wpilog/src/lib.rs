#![doc = include_str!("../README.md")]

mod decode;
mod dialect;
mod encode;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod log;
mod reader;
mod recover;
mod replay;
mod rows;
mod segments;
mod walk;
mod wire;
mod writer;

pub use dialect::{NAME, Wpilog};
pub use error::{Error, ErrorKind};
pub use log::{Log, LookupError};
pub use reader::Reader;
pub use segments::{Collect, Collected, collect};
pub use walk::{Stop, Visit, Walk};
pub use wire::{Control, FIXED_HEADER, Header, MAGIC, Record, Start, VERSION};
pub use writer::{
    Boolean, BooleanArray, Double, DoubleArray, Entry, Fixed, Float, FloatArray, Int64, Int64Array, Kind, Opaque, Raw,
    Text, TextArray, Writer, boolean, boolean_array, double, double_array, float, float_array, int64, int64_array, raw,
    string, string_array,
};

//! Recordings as logs: channels and samples out of a file, and a file out of them.

mod base64;
mod decode;
mod dump;
mod encode;
mod index;
mod model;
mod rows;

pub(crate) use decode::StreamDecoder;
pub(crate) use dump::{mend, records};
pub(crate) use encode::Encoder;
pub(crate) use index::index;
pub(crate) use rows::{places, replay, samples};

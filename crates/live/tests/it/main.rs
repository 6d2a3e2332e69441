//! The live crate from outside.

mod kill;
mod recorder;
mod source;

//! Sources that still speak.

mod chunk;
mod spill;
mod tape;

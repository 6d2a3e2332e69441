//! Files of other fields: Parquet, Arrow, MCAP, CSV, NDJSON.

pub mod csv;
mod header;
mod inferred;
pub mod mcap;
pub mod ndjson;
mod writer;

pub use header::Header;
pub use writer::{Piece, Writer};

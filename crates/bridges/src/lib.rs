#![doc = include_str!("../README.md")]

mod arrow;
mod bridge;
mod header;
mod long;
mod parquet;
mod stage;
mod store;
mod table;
mod tabular;
mod writer;

pub use arrow::{ArrowPiece, ArrowWriter};
pub use bridge::{BRIDGES, Bridge, UnpackError};
pub use header::Header;
pub use parquet::{ParquetPiece, ParquetWriter};
pub use store::Pack;
pub use writer::{Piece, Writer};

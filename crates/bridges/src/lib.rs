#![doc = include_str!("../README.md")]

mod arrow;
mod batches;
mod bridge;
mod capture;
mod cast;
pub mod csv;
mod decimal;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod header;
mod inferred;
mod long;
pub mod mcap;
pub mod ndjson;
mod parquet;
mod rides;
mod stage;
mod store;
mod table;
mod tabular;
mod writer;

pub use arrow::{ArrowPiece, ArrowWriter, RecordBatches};
pub use batches::{TableFormat, write_batches};
pub use bridge::{BRIDGES, Bridge, UnpackError};
pub use folder::{ChannelFile, FolderLayout, is_reserved, read_folder};
pub use header::Header;
pub use long::{RowEncoder, RowsPiece};
pub use parquet::{ParquetPiece, ParquetWriter, RowGroup};
pub use rides::{RefloatRows, VescRows, is_recording};
pub use store::Pack;
pub use writer::{Piece, Writer};

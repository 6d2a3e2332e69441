#![doc = include_str!("../README.md")]

mod arrow;
mod batches;
mod bridge;
mod capture;
mod cast;
mod claims;
pub mod csv;
mod decimal;
mod folder;
#[doc(hidden)]
pub mod fuzzing;
mod header;
mod inferred;
mod lake;
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
pub use bridge::{
    ARROW, Bridge, CSV, FLOAT_CONTROL, FLOATY, MCAP, MendFile, NDJSON, PARQUET, PCAP, REFLOAT_CSV, UnpackError,
    VESC_CSV, VESC_TOOL,
};
pub use folder::{ChannelFile, FolderLayout, is_reserved, read_folder};
pub use header::Header;
pub use lake::{Bound, ColumnRange, FileStatistics, LakeWriter, read_lake_file, read_lake_rows};
pub use long::{RowEncoder, RowsPiece};
pub use parquet::{ParquetPiece, ParquetWriter, RowGroup};
pub use rides::{RefloatRows, VescRows, is_recording};
pub use store::Pack;
pub use writer::{Piece, Writer};

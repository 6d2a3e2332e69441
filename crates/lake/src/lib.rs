#![doc = include_str!("../README.md")]

mod checkpoint;
mod compact;
mod delta;
mod error;
mod gather;
mod hash;
mod ingest;
mod lake;
mod manage;
mod rows;
mod samples;
mod schema;
mod store;
mod walk;

pub use compact::{CompactOptions, Compacted};
pub use error::Error;
pub use gather::{ChannelRow, gather};
pub use ingest::{Derive, DerivedTable, Done, IngestOptions, ingest, watch};
pub use lake::{Lake, LakeFile, LogRow, Status};
pub use manage::{Cleaned, Verified};
pub use walk::{Source, Sources};

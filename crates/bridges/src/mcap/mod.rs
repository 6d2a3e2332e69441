//! MCAP, the log format of Foxglove and of ROS 2.

mod compression;
mod describe;
mod foxglove;
mod lanes;
mod piece;
mod plan;
mod reader;
mod ros;
mod wire;
mod writer;

use compression::Packer;

pub use compression::Compression;
pub use piece::McapPiece;
pub use reader::{read, sniff};
pub use writer::{McapOptions, McapWriter};

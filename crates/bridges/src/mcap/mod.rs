//! MCAP, the log format of Foxglove and of ROS 2.

mod describe;
mod foxglove;
mod lanes;
mod piece;
mod plan;
mod reader;
mod ros;
mod scene;
mod unpack;
mod writer;

pub use piece::McapPiece;
pub use reader::{read, sniff};
pub use scene::Scene;
pub use writer::{Compression, McapOptions, McapWriter};

//! MCAP, the log format of Foxglove and of ROS 2.

mod describe;
mod foxglove;
mod lanes;
mod messages;
mod piece;
mod plan;
mod reader;
mod ros;
mod scene;
mod stream;
mod unpack;
mod writer;

pub use messages::{Message, Messages, Role, Schemas, Topic, TopicSchema};
pub use piece::McapPiece;
pub use reader::{read, sniff};
pub use scene::Scene;
pub use stream::McapStream;
pub use writer::{Compression, McapOptions, McapWriter};

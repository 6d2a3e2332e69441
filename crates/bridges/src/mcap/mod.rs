//! MCAP, the log format of Foxglove and of ROS 2.

mod cdr;
mod describe;
mod foxglove;
mod lanes;
mod mend;
mod messages;
mod piece;
mod plan;
mod reader;
mod ros;
mod scene;
mod stream;
mod unpack;
mod writer;

pub(crate) use mend::mend;

pub use describe::Language;
pub use messages::{Message, Messages, Role, Topic, TopicSchema};
pub use piece::McapPiece;
pub use reader::{read, sniff};
pub use scene::Scene;
pub use stream::McapStream;
pub use writer::{Compression, McapOptions, McapWriter};

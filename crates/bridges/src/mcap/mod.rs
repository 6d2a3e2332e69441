//! MCAP, the log format of Foxglove and of ROS 2.

mod cdr;
mod describe;
mod encoder;
mod foxglove;
mod mend;
mod messages;
mod piece;
mod plan;
mod reader;
mod ros;
mod scene;
mod stream;
mod topics;
mod unpack;
mod writer;

pub(crate) use mend::mend;

pub use describe::Language;
pub use encoder::McapEncoder;
pub use messages::{Message, Messages, Role, Topic, TopicSchema};
pub use piece::McapPiece;
pub use reader::{read, sniff};
pub use scene::Scene;
pub use stream::{DATA_END, FOOTER, McapStream};
pub use writer::{Compression, McapOptions, McapWriter};

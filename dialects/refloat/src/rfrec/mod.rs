//! Recordings as files: `.rfrec`.

mod assemble;
mod block;
mod clock;
mod error;
mod reader;
mod recording;
mod writer;

pub use block::{Block, End, HEAD, Head, Kind, MAGIC, TimeRef, VERSION};
pub use clock::{Clock, TICK_RATE};
pub use error::{Error, ErrorKind};
pub use reader::{Damage, Reader};
pub use recording::{MetadataBlock, Recording, Run, Timed};
pub use writer::{WriteError, Writer};

pub(crate) use block::FRAME;

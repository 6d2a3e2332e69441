#![doc = include_str!("../README.md")]

mod batch;
mod bindings;
mod bytes;
mod channel;
mod column_builder;
mod columns;
mod cursor;
mod dialect;
#[doc(hidden)]
pub mod fuzzing;
mod hex;
mod index;
mod memory;
mod number;
mod parcel;
mod problem;
mod read;
mod session;
mod sink;
mod time;
mod value;

pub use batch::Batch;
pub use bindings::{Bindings, Declaration, Fate, Resolved, Slot, SlotId};
pub use bytes::{array_at, first_word, leading_zeros, word_at};
pub use channel::{Channel, ChannelId, Type};
pub use column_builder::ColumnBuilder;
pub use columns::{Chunk, Column, Columns, Widths};
pub use cursor::{Cursor, Truncated};
pub use dialect::{
    Confidence, Dialect, Fact, FileDialect, Info, LiveDialect, Lookup, Mend, Reach, RecordLine, Sum, Support,
    TakeSamples, Transport,
};
pub use hex::Hex;
pub use index::{ChannelIndex, Index, IndexBuilder, Life, Mark, Positions, Row, SlotIndex, Span};
pub use memory::give_back;
pub use number::{format_count, format_number};
pub use parcel::Parcel;
pub use problem::{Problem, Problems, Severity};
pub use read::{DecodeError, Join, Limits, ReadOptions, serially};
pub use session::{Link, Serve, Session, To, Transmit};
pub use sink::{Decode, Encode, EncodeError, EncodeOptions, Encoding, Sample, Sink, SinkError, StreamError};
pub use time::{Time, civil};
pub use value::{Layout, Misfit, Number, Numbers, Strings, Value};

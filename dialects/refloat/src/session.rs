//! The side of the link that talks to a board, without sockets and clocks.
//!
//! Times are nanoseconds since 1970, or whatever `epoch_ns` turns into that.

mod ask;
mod asking;
mod client;
mod discovery;
mod download;
mod driven;
mod event;
mod failure;
mod fetch;
mod flights;
mod job;
mod live;
mod options;
mod recorder;
mod store;
mod taking;
mod timing;
mod view;

pub use client::Client;
pub use event::{Change, Event, TimeRef};
pub use failure::Failure;
pub use job::{Job, Refused, Task};
pub use options::{ClientOptions, FetchOptions, LiveOptions, PartialRecording};
pub use view::{ClientView, LiveValue, Phase, Progress, RecorderState};

#![doc = include_str!("../README.md")]

mod adding;
#[expect(missing_docs, reason = "docs/http-api.md describes what each field means")]
pub mod api;
mod cancel;
mod carla;
mod changes;
mod channels;
mod clock;
mod console;
mod error;
mod events;
mod export;
mod facts;
mod findings;
mod finished;
mod gaps;
mod ipc;
mod layouts;
mod library;
mod live;
mod panes;
mod pixels;
mod reference;
mod rows;
mod session;
mod snapshot;
mod sql;
mod states;
mod stats;
mod store;
mod table;
#[cfg(test)]
mod typescript;
mod updates;
mod values;
mod viewer;

pub use cancel::CancelToken;
pub use error::{RequestError, RequestErrorKind};
pub use export::Export;
pub use layouts::Layouts;
pub use library::{Demos, LakeLogs, Library, LibraryOptions, Upload};
pub use live::{BatchClock, FollowedLog, FollowedOptions, LinkStatus, LiveBatch, LiveLog, LiveOptions, LiveWriter};
pub use session::Session;
pub use sql::{Sql, SqlAnswer, SqlError, SqlStream};
pub use updates::LiveUpdates;
pub use viewer::Viewer;

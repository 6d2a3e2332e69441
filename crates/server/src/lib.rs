#![doc = include_str!("../README.md")]

mod api;
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
mod guard;
mod ipc;
mod jobs;
mod live;
mod news;
mod pages;
mod pixels;
mod reference;
mod router;
mod rows;
mod server;
mod session;
mod socket;
mod sql;
mod states;
mod stats;
mod store;
mod table;
mod values;
mod whole;

pub use error::Error;
pub use live::{LiveClock, LiveLog, LiveOptions};
pub use server::{Options, Server};
pub use session::Session;
pub use sql::{Sql, SqlAnswer, SqlError};

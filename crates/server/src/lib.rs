#![doc = include_str!("../README.md")]

mod error;
mod export;
mod guard;
mod handlers;
mod jobs;
mod live;
mod pages;
mod router;
mod server;
mod socket;

pub use error::Error;
pub use live::{LiveClock, LiveLog, LiveOptions};
pub use logpose_viewer::{FollowedLog, FollowedOptions, Session, Sql, SqlAnswer, SqlError};
pub use server::{Options, Server};

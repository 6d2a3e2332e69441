#![doc = include_str!("../README.md")]

mod adding;
mod connections;
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
mod sources;

pub use error::Error;
pub use live::{LiveClock, LiveLog, LiveOptions};
pub use logpose_viewer::api::{AlignedBy, Alignment};
pub use logpose_viewer::{
    Demos, FollowedLog, FollowedOptions, LakeLogs, Layouts, Library, LibraryOptions, Session, Sql, SqlAnswer, SqlError,
};
pub use server::{Options, Server};
pub use sources::LiveFiles;

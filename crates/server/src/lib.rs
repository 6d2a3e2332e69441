#![doc = include_str!("../README.md")]

mod api;
mod carla;
mod channels;
mod clock;
mod error;
mod events;
mod facts;
mod guard;
mod ipc;
mod jobs;
mod pages;
mod pixels;
mod reference;
mod router;
mod server;
mod session;
mod sql;
mod store;
mod values;
mod whole;

pub use error::Error;
pub use server::{Options, Server};
pub use session::Session;
pub use sql::{Sql, SqlAnswer, SqlError};

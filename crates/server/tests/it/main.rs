//! The server as a client sees it, over real sockets.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod adding;
mod carla;
mod followed;
mod golden;
mod hostile;
mod live;
mod live_kit;
mod logs;
mod security;
mod series;
mod socket;
mod support;
mod tables;
mod work;

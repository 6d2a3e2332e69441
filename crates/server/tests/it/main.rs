//! The server as a client sees it, over real sockets.
#![cfg(test)]

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

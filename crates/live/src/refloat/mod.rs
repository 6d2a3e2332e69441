//! Refloat boards: the link to a board, and the place of an emulated one, over TCP, UDP and serial ports.
//!
//! [`BoardRunner`] is a source for [`Live::listen`](crate::Live::listen) that plays a board. [`BoardLink`] talks to one: it
//! does one thing after the other and returns when that is done, or becomes a source that polls live values.

mod board;
mod error;
mod fetch;
mod file;
mod link;
mod talk;

pub use logpose_refloat::{items, rfrec, session, wire};

pub use board::{BoardError, BoardHandle, BoardPlace, BoardRunner};
pub use error::{FetchError, LinkError};
pub use fetch::{FetchOptions, Fetched};
pub use link::{BoardLink, LinkHandle, LinkOptions, LinkView, Watch};

//! What the fuzz targets of the board, and of the client that talks to it, call.

mod board;
mod session;

pub use board::board;
pub use session::session;

//! CARLA recordings as themselves: what only they can be asked, and new ones made out of them.
//!
//! All of `logpose-carla` is here, and what it lacks because a dialect does no I/O.

mod edit;
mod file;
mod recorded;

pub use edit::{Written, concat, edit};
pub use file::File;
pub use logpose_carla::*;
pub use recorded::{Kept, Recorded, is_recording, recorded};

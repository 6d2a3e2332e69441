#![doc = include_str!("../README.md")]

mod about;
mod approach;
mod decode;
mod dialect;
mod edit;
mod encode;
mod error;
mod frames;
#[doc(hidden)]
pub mod fuzzing;
mod identity;
mod json;
mod model;
mod pose;
mod queries;
mod reader;
mod recording;
mod recover;
mod replay;
mod replayed;
mod rows;
mod schema;
mod segments;
mod show;
mod state;
mod text;
mod tracks;
mod walk;
mod wire;
mod wire_format;
mod writer;

pub use about::About;
pub use approach::{Approach, approaches};
pub use dialect::{Carla, NAME};
pub use edit::{Edit, EditError, Edited, Who, concatenate};
pub use error::{Error, ErrorKind};
pub use frames::{Attachment, Change, Found, Frame, Frames, Life};
pub use pose::Pose;
pub use queries::{
    Blocked, Blocking, Contact, Filter, Guess, Hero, Party, Queries, Reading, Summary, blocked, collisions,
};
pub use reader::Reader;
pub use recording::{AttributeType, Controls, Recording, RecordingOptions, Signal, Spawn, Target};
pub use recover::{Lost, Repair, Salvage, check_end, check_frames, repair, salvage};
pub use replay::{Event, Replay, ReplayError, ReplayOptions, Tick};
pub use replayed::Replayed;
pub use state::{ActorState, Bounds, Doors, Mode, PoseSource, State, Velocity};
pub use text::date;
pub use tracks::{Mark, Tracks, UNKNOWN_LIGHT};
pub use wire::*;
pub use wire_format::detect;
pub use writer::{WriteError, Writer};

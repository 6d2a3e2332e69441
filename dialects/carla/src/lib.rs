#![doc = include_str!("../README.md")]

mod error;
mod form;
mod frames;
mod identity;
mod pose;
mod queries;
mod reader;
mod replay;
mod state;
mod text;
mod wire;

pub use error::{Error, ErrorKind};
pub use form::detect;
pub use frames::{Attachment, Change, Frame, Frames, Life};
pub use pose::Pose;
pub use queries::{
    Blocked, Blocking, Contact, Filter, Guess, Hero, Party, Queries, Reading, Summary, blocked, collisions,
};
pub use reader::Reader;
pub use replay::{Event, Replay, ReplayError, ReplayOptions, Tick};
pub use state::{ActorState, Bounds, Doors, Mode, PoseSource, State, Velocity};
pub use text::date;
pub use wire::*;

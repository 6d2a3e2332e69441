#![doc = include_str!("../README.md")]

mod align;
pub mod carla;
mod convert;
mod demo;
mod dialects;
pub mod diff;
mod doctor;
mod error;
mod feed;
pub mod find;
mod folder;
pub mod frc;
mod merge;
mod moment;
mod open;
mod output;
mod parts;
mod pieces;
mod progress;
mod recover;
mod select;
mod show;
mod sidecar;
mod size;
mod source;
mod spill;
pub mod stats;
mod table;
mod threads;
mod timeline;
mod unit;
mod verify;
mod wide;
mod windows;
mod wrapper;

pub use align::{Aligned, Alignment, ClockMap};
pub use convert::{ConvertOptions, Format, Report, convert, convert_to_folder};
pub use demo::{DemoOptions, demo};
#[doc(hidden)]
pub use demo::{Pcap, Route};
pub use dialects::{DIALECTS, dialect, readable};
pub use doctor::{Checkup, Finding, doctor};
pub use error::{Error, ErrorKind};
pub use feed::{Feed, Order};
pub use moment::{Moment, Period, parse_duration};
pub use open::{Log, OpenOptions};
pub use output::Output;
pub use parts::{Part, Parts, Step, Visit, in_time_order};
pub use progress::{Progress, Quiet};
pub use recover::{Recovered, recover};
pub use select::Filter;
pub use show::{Schemas, Shown};
pub use sidecar::{Cache, default_cache_folder};
pub use size::parse_bytes;
pub use table::RowEncoder;
pub use timeline::{Align, Names, Timeline};
pub use unit::unit;
pub use wide::Wide;
pub use wrapper::Wrapper;

pub use logpose_bridges::FolderLayout;

pub use logpose_bridges as bridges;
pub use logpose_core as core;
pub use logpose_model as model;
pub use logpose_schema as schema;

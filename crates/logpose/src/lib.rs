#![doc = include_str!("../README.md")]

mod convert;
mod demo;
mod dialects;
mod doctor;
mod error;
mod feed;
pub mod frc;
mod merge;
mod moment;
mod open;
mod output;
mod progress;
mod recover;
mod select;
mod show;
mod sidecar;
mod source;
mod spill;
mod table;
mod threads;
mod verify;
mod wide;
mod windows;
mod wrapper;

pub use convert::{ConvertOptions, Format, Report, convert};
pub use demo::{DemoOptions, demo};
pub use dialects::{DIALECTS, dialect};
pub use doctor::{Checkup, Finding, doctor};
pub use error::{Error, ErrorKind};
pub use feed::{Feed, Order};
pub use moment::{Moment, Period, parse_duration};
pub use open::{Log, OpenOptions};
pub use output::Output;
pub use progress::{Progress, Quiet};
pub use recover::{Recovered, recover};
pub use select::Filter;
pub use show::{Schemas, Shown};
pub use sidecar::{Cache, default_cache_folder};
pub use wide::Wide;
pub use wrapper::Wrapper;

pub use logpose_bridges as bridges;
pub use logpose_core as core;
pub use logpose_model as model;
pub use logpose_schema as schema;

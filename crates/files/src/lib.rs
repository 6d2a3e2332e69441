#![doc = include_str!("../README.md")]

mod clock;
mod convert;
mod doctor;
mod error;
mod feed;
mod folder;
mod follow;
mod formats;
mod merge;
mod modes;
mod moment;
mod named;
mod open;
mod output;
mod pair;
mod parts;
mod pieces;
mod progress;
mod range;
mod recover;
mod samples;
mod save;
mod select;
mod show;
mod sidecar;
mod size;
mod source;
mod spill;
mod suggest;
mod table;
mod threads;
mod timeline;
mod timing;
mod unit;
mod verify;
mod wide;
mod windows;
mod wrapper;

pub use clock::ClockMap;
pub use convert::{ConvertOptions, Report, convert, convert_to_folder};
pub use doctor::{Checkup, Finding, doctor};
pub use error::{Error, ErrorKind};
pub use feed::{Feed, Order};
pub use follow::{Follow, FollowError, Notice, Pipe, Piped, Polled};
pub use formats::{FORMATS, Format, Formats, WriteOption};
pub use modes::{Mode, ModeSpan, ModeWatch, Role};
pub use moment::{Moment, Period, parse_duration};
pub use open::{Log, OpenOptions};
pub use output::Output;
pub use parts::{FieldReader, ScalarValue, Step, ValueKind, Visit, in_time_order, parse_path, tree_at};
pub use progress::{Progress, Quiet};
pub use range::{Astray, Stragglers, TimeRange};
pub use recover::{Recovered, recover};
pub use samples::{FieldSamples, Samples};
pub use select::Filter;
pub use show::{Schemas, Shown};
pub use sidecar::{Cache, default_cache_folder};
pub use size::parse_bytes;
pub use table::RowEncoder;
pub use timeline::{Align, ClockEvidence, Names, Timeline};
pub use timing::{SYSTEM_TIME, SYSTEM_TIME_METADATA};
pub use unit::{UNITS, Unit, UnitFamily, shown_unit, symbol_of, unit, unit_of};
pub use wide::Wide;
pub use wrapper::Wrapper;

pub use logpose_bridges::FolderLayout;

/// What the other crates of the library are built with. It may change with every release.
#[doc(hidden)]
pub mod internal {
    pub use crate::convert::sink_error;
    pub use crate::moment::nanos;
    pub use crate::named::{NamedChannels, integer};
    pub use crate::source::{Bytes, Source, Spool};
    pub use crate::suggest::closest;

    pub mod pair {
        pub use crate::pair::{are_one, beside, split};
    }
    pub mod sidecar {
        pub use crate::sidecar::{Kind, Sidecar, frame, used};
    }
    pub mod threads {
        pub use crate::threads::{count, map};
    }
    pub mod windows {
        pub use crate::windows::in_order;
    }
}

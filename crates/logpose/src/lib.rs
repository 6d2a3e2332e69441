#![doc = include_str!("../README.md")]

pub use logpose_analysis::{Aligned, Alignment, carla, diff, frc, refloat, season, stats};
pub use logpose_browse::{Browse, Bucket, Drawn, Piece, Pyramid};
pub use logpose_expr as find;
pub use logpose_files::{
    Align, Astray, Cache, Checkup, ClockEvidence, ClockMap, ConvertOptions, Error, ErrorKind, FORMATS, Feed,
    FieldReader, FieldSamples, Filter, Finding, FolderLayout, Follow, FollowError, Format, Formats, Log, Moment, Names,
    Notice, OpenOptions, Order, Output, Period, Pipe, Piped, Polled, Progress, Quiet, Recovered, Report, RowEncoder,
    Samples, ScalarValue, Schemas, Shown, Step, Stragglers, TimeRange, Timeline, UNITS, Unit, UnitFamily, ValueKind,
    Visit, Wide, Wrapper, WriteOption, convert, convert_to_folder, default_cache_folder, doctor, in_time_order,
    parse_bytes, parse_duration, parse_path, recover, shown_unit, tree_at, unit, unit_of,
};

/// Short recipes for common jobs.
#[doc = include_str!("cookbook/files.md")]
// Those that need other crates run as tests there.
#[cfg_attr(not(doctest), doc = include_str!("cookbook/sql.md"))]
#[cfg_attr(not(doctest), doc = include_str!("cookbook/live.md"))]
pub mod cookbook {}

/// What the other crates of the workspace are built with. It may change with every release.
#[doc(hidden)]
pub mod internal {
    pub use logpose_files::internal::Bytes;
}

pub use logpose_bridges as bridges;
pub use logpose_core as core;
pub use logpose_dslog as dslog;
pub use logpose_model as model;
pub use logpose_rlog as rlog;
pub use logpose_schema as schema;
pub use logpose_wpilog as wpilog;

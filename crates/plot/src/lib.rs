#![doc = include_str!("../README.md")]

mod axis;
mod chart;
mod color;
mod error;
mod figure;
mod frame;
mod path;
mod pen;
mod png;
mod row;
mod svg;
mod terminal;
mod text;
mod timeline;
mod trace;
mod track;

pub use chart::{Band, Chart, Legend, Series, Timeline, Track};
pub use color::{Color, PALETTE};
pub use error::Error;
pub use figure::{MOST_PIXELS, png, svg, terminal};
pub use path::Path;
pub use row::Row;
pub use trace::Trace;

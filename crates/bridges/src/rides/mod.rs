//! Ride logs of boards: the CSV of a Refloat recording, and what other programs write while they poll a board.
//!
//! ```text
//! file ──table──▶ rows ──columns──▶ channels and samples      (refloat, analysis, live_log, float_control)
//! file ──JSON──▶ entries ─────────▶ channels and samples      (floaty)
//! ```
//!
//! Where a column means the same as a value of Refloat it has the name and the unit of that, `/refloat/erpm`; every
//! other is `/refloat/PROGRAM/COLUMN`, as it is written.

mod analysis;
mod archive;
mod columns;
mod float_control;
mod floaty;
pub(crate) mod fuzzing;
mod live_log;
mod refloat;
mod refloat_rows;
mod table;
mod vesc_rows;

pub(crate) use analysis::{read as read_analysis, sniff as sniff_analysis};
pub(crate) use float_control::{read as read_float_control, sniff as sniff_float_control};
pub(crate) use floaty::{read as read_floaty, sniff as sniff_floaty};
pub(crate) use live_log::{read as read_live_log, sniff as sniff_live_log};
pub(crate) use refloat::{read as read_refloat, sniff as sniff_refloat};

pub use refloat_rows::{RefloatRows, is_recording};
pub use vesc_rows::VescRows;

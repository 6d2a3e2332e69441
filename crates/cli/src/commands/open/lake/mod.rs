//! Logs of a lake in the viewer, if the features `lake` and `sql` are on.

#[cfg_attr(all(feature = "lake", feature = "sql"), path = "enabled.rs")]
#[cfg_attr(not(all(feature = "lake", feature = "sql")), path = "disabled.rs")]
mod imp;

pub(super) use imp::Shelf;

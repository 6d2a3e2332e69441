//! Answers the viewer's SQL if the feature `sql` is on.

#[cfg_attr(feature = "sql", path = "enabled.rs")]
#[cfg_attr(not(feature = "sql"), path = "disabled.rs")]
mod imp;

pub(super) use imp::engine;

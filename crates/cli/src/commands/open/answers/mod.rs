//! Who answers the viewer's SQL. Without the feature `sql` nobody does.

#[cfg_attr(feature = "sql", path = "enabled.rs")]
#[cfg_attr(not(feature = "sql"), path = "disabled.rs")]
mod imp;

pub(super) use imp::engine;

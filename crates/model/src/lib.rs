//! Channels and samples as Arrow arrays.

//! The entries of a usage report.

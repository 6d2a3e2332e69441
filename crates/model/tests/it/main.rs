//! Arrays against what they were made of.

mod long;
mod plain;
mod support;

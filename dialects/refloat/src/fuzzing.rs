//! What the fuzz targets call. The ordinary tests run the same functions over all fixtures.

mod file;

pub use file::{decode, recover};

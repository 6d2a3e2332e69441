use std::io;
use std::path::Path;

/// Bytes that may still be written below a folder.
pub fn free_space(folder: &Path) -> io::Result<u64> {
    fs4::available_space(folder)
}

//! What a log is known by, whatever its name: BLAKE3 of its bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Error;

/// The hash of a file, and of the one beside it that belongs to it.
pub(crate) fn of(path: &Path, companion: Option<&Path>) -> Result<String, Error> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; BUFFER];
    for path in [Some(path), companion].into_iter().flatten() {
        let failed = |error| Error::from(logpose::Error::reading(path, error));
        let mut file = File::open(path).map_err(failed)?;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    hasher.update(buffer.get(..read).unwrap_or_default());
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
    Ok(hasher.finalize().to_hex().to_string())
}

const BUFFER: usize = 1 << 20;

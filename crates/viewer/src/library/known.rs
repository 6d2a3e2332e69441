//! Recognises a file of this computer by what a browser says of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::api::FileQuery;

/// A file of this name in a folder. A name that leads anywhere else is none.
pub(super) fn beside(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut parts = Path::new(name).components();
    let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    plain.then(|| folder.join(name))
}

/// Whether a file has the size, time and content that a browser says.
pub(super) fn is_same(path: &Path, file: &FileQuery, samples: &[u8]) -> bool {
    // A pipe or a device would wait or do something when it is opened.
    let Ok(about) = path.metadata().map_err(drop) else { return false };
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let near = modified.is_some_and(|time| (time.as_secs_f64() * 1e3 - file.modified).abs() < NEAR_MS);
    let needed: u64 = blocks(file.size).map(|(_, length)| length).sum();
    if !about.is_file() || about.len() != file.size || !near || samples.len() as u64 != needed || needed == 0 {
        return false;
    }
    has_samples(path, file.size, samples).unwrap_or(false)
}

fn has_samples(path: &Path, size: u64, mut samples: &[u8]) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut found = Vec::new();
    for (start, length) in blocks(size) {
        found.clear();
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(length).read_to_end(&mut found)?;
        let Some(rest) = samples.strip_prefix(found.as_slice()) else { return Ok(false) };
        samples = rest;
    }
    Ok(samples.is_empty())
}

/// The parts of a file that are compared: where each begins, and its length. All of a small file; else its beginning, its
/// end, and as much in between. The page takes the same ones (`web/src/api/files.ts`).
pub(super) fn blocks(size: u64) -> impl Iterator<Item = (u64, u64)> {
    let whole = size <= BLOCKS * BLOCK;
    let count = if whole { u64::from(size > 0) } else { BLOCKS };
    (0..count).map(move |place| if whole { (0, size) } else { ((size - BLOCK) / (BLOCKS - 1) * place, BLOCK) })
}

const BLOCKS: u64 = 16;
const BLOCK: u64 = 64 << 10;
/// Browsers say times to the millisecond, file systems to two seconds at worst.
const NEAR_MS: f64 = 2000.0;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{beside, blocks};

    #[test]
    fn names_stay_in_their_folder() {
        let folder = Path::new("/logs");
        assert_eq!(beside(folder, "a.wpilog").unwrap(), Path::new("/logs/a.wpilog"));
        for name in ["", ".", "..", "../a", "a/b", "/etc/passwd", "a/", "./a", "a/.."] {
            assert_eq!(beside(folder, name), None, "{name:?}");
        }
    }

    #[test]
    fn blocks_lie_within_the_file() {
        for size in [0, 1, 65_536, 1 << 20, (1 << 20) + 1, 5_000_000, 40_000_000_003] {
            let found: Vec<_> = blocks(size).collect();
            assert!(found.iter().all(|(start, length)| start + length <= size), "{size}");
            assert!(found.windows(2).all(|two| two[0].0 < two[1].0));
            assert!(found.iter().map(|(_, length)| length).sum::<u64>() <= 1 << 20);
            if size > 0 {
                let (start, length) = found[found.len() - 1];
                assert!(found[0].0 == 0 && size - (start + length) < 16, "{size}");
            }
        }
    }
}

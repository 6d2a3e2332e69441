use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::api;

/// The files that were opened last, kept in a file that all viewers of the user share.
pub(super) struct Recent {
    file: Option<PathBuf>,
    /// The list of this session: all there is where nothing is kept.
    own: Mutex<Vec<Entry>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Entry {
    path: PathBuf,
    /// Unix seconds.
    opened: u64,
}

impl Recent {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { file, own: Mutex::default() }
    }

    /// Puts a file in front.
    pub(super) fn add(&self, path: &Path) {
        let Ok(path) = std::path::absolute(path) else { return };
        if path.to_str().is_none() {
            // JSON has no bytes.
            return;
        }
        let opened = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = self.entries(&own);
        entries.retain(|entry| entry.path != path);
        entries.insert(0, Entry { path, opened });
        entries.truncate(MOST);
        // A list that cannot be kept lasts as long as this viewer.
        let _ = self.keep(&entries);
        *own = entries;
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        self.entries(&own).into_iter().map(|entry| entry.path).collect()
    }

    pub(super) fn path(&self, id: &str) -> Option<PathBuf> {
        self.paths().into_iter().find(|path| id_of(path) == id)
    }

    pub(super) fn list(&self) -> Vec<api::RecentFile> {
        let entries = self.entries(&self.own.lock().unwrap_or_else(PoisonError::into_inner));
        let text = |part: Option<&std::ffi::OsStr>| part.map_or_else(String::new, |part| part.to_string_lossy().into());
        let entries = entries.into_iter().map(|Entry { path, opened }| api::RecentFile {
            id: id_of(&path),
            name: text(path.file_name()),
            folder: text(path.parent().map(Path::as_os_str)),
            opened,
            bytes: path.metadata().ok().filter(fs::Metadata::is_file).map(|about| about.len()),
        });
        entries.collect()
    }

    /// What is kept, or what was the last time where that cannot be read.
    fn entries(&self, own: &[Entry]) -> Vec<Entry> {
        let kept = self.file.as_ref().and_then(|file| {
            let short = fs::metadata(file).is_ok_and(|about| about.len() < LARGEST);
            short.then(|| fs::read(file).ok()).flatten()
        });
        let kept = kept.and_then(|bytes| serde_json::from_slice::<Vec<Entry>>(&bytes).ok());
        let mut entries = kept.unwrap_or_else(|| own.to_vec());
        entries.retain(|entry| entry.path.is_absolute());
        entries.truncate(MOST);
        entries
    }

    fn keep(&self, entries: &[Entry]) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut out = tempfile::Builder::new().prefix(".recent").tempfile_in(folder)?;
        out.write_all(&serde_json::to_vec(entries).map_err(io::Error::other)?)?;
        out.persist(file)?;
        Ok(())
    }
}

/// A number for a path, the same in every session: FNV-1a, 64 bits.
fn id_of(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// Files that are remembered.
const MOST: usize = 40;
/// Bytes of a list that is read.
const LARGEST: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::{MOST, Recent};

    #[test]
    fn the_newest_come_first_and_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("deep/recent.json");
        let recent = Recent::new(Some(kept.clone()));
        for n in 0..MOST + 5 {
            recent.add(&dir.path().join(format!("{n}.wpilog")));
        }
        recent.add(&dir.path().join("7.wpilog"));
        std::fs::write(dir.path().join("7.wpilog"), "12345").unwrap();
        let again = Recent::new(Some(kept.clone()));
        let list = again.list();
        assert_eq!((list.len(), &*list[0].name, list[0].bytes), (MOST, "7.wpilog", Some(5)));
        assert_eq!((&*list[1].name, list[1].bytes), ("44.wpilog", None));
        assert_eq!(again.path(&list[0].id).unwrap(), dir.path().join("7.wpilog"));
        assert_eq!((again.path("../7.wpilog"), again.path("")), (None, None));
        // A list that is no list is none.
        std::fs::write(&kept, "[{\"path\": 3}]").unwrap();
        assert!(Recent::new(Some(kept)).list().is_empty());
        // And one that is not kept lasts as long as the session.
        let own = Recent::new(None);
        own.add(&dir.path().join("7.wpilog"));
        assert_eq!(own.list().len(), 1);
    }
}

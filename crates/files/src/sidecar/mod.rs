//! What is kept of a log between one opening and the next.
//!
//! A sidecar is a memory of a file that may be another one by now, so nothing in it is believed before it is checked.
//! There are two for a log, of the same form ([`frame`]): the index, and how its series look from afar.

pub mod frame;
mod index;

use std::fs::{self, File, Metadata};
use std::hash::Hasher;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use logpose_core::FileDialect;
use memmap2::Mmap;
use twox_hash::XxHash3_64;

use crate::OpenOptions;
use crate::source;
use frame::{put, put_text};

/// Where the indexes of large logs are kept, and how their series look from afar.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Cache {
    /// Nowhere.
    #[default]
    Off,
    /// In a folder, which is kept below 2 GiB.
    Folder(PathBuf),
    /// Beside the log, under its name with `.lpx` and `.lpp` behind it.
    Beside,
}

/// The user's folder for indexes: what `LOGPOSE_CACHE` says, or `logpose` in the system's folder for such things.
#[must_use]
pub fn default_cache_folder() -> Option<PathBuf> {
    let folder_in = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = folder_in("LOGPOSE_CACHE") {
        return Some(folder);
    }
    if cfg!(windows) {
        folder_in("LOCALAPPDATA").map(|folder| folder.join("logpose").join("cache"))
    } else if cfg!(target_os = "macos") {
        folder_in("HOME").map(|home| home.join("Library").join("Caches").join("logpose"))
    } else {
        let folder = folder_in("XDG_CACHE_HOME").or_else(|| folder_in("HOME").map(|home| home.join(".cache")));
        folder.map(|folder| folder.join("logpose"))
    }
}

/// What the system says about a file: it is another after every change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    len: u64,
    modified: i128,
    /// The last change of any kind, and the file's number; zero where the system does not report them.
    changed: i128,
    inode: u64,
    device: u64,
}

impl Stamp {
    pub fn of(about: &Metadata) -> Self {
        let modified = about.modified().map_or(0, nanos);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec());
            Self { len: about.len(), modified, changed, inode: about.ino(), device: about.dev() }
        }
        #[cfg(not(unix))]
        Self { len: about.len(), modified, changed: 0, inode: 0, device: 0 }
    }

    /// Whether the file was left alone for so long. Within a tick of the file system's clock, a second change leaves
    /// the stamp as it is.
    fn is_settled(&self, after: Duration) -> bool {
        let last = if self.changed == 0 { self.modified } else { self.changed };
        after.is_zero() || i128::try_from(after.as_nanos()).is_ok_and(|after| nanos(SystemTime::now()) - last >= after)
    }
}

fn nanos(time: SystemTime) -> i128 {
    let positive = |length: Duration| i128::try_from(length.as_nanos()).unwrap_or(i128::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -positive(before.duration()), positive)
}

/// What a file holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The index.
    Index,
    /// How series look from afar.
    Pyramids,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Index, Self::Pyramids];

    fn extension(self) -> &'static str {
        match self {
            Self::Index => "lpx",
            Self::Pyramids => "lpp",
        }
    }
}

/// The place of what is known of one log.
#[derive(Debug)]
pub struct Sidecar {
    /// The files without their extensions.
    stem: PathBuf,
    /// Whether they lie in a folder of their kind, which must not grow for ever.
    in_folder: bool,
    log: PathBuf,
    stamp: Stamp,
    settled: bool,
    key: Vec<u8>,
}

impl Sidecar {
    /// The sidecar of a log, if it is one that has any.
    pub fn of(
        log: &Path,
        bytes: &[u8],
        stamp: Stamp,
        dialect: &dyn FileDialect,
        options: &OpenOptions,
    ) -> Option<Self> {
        if options.salvage || stamp.len < options.cache_from || stamp.len != bytes.len() as u64 {
            return None;
        }
        let mut how = Vec::new();
        put_text(&mut how, dialect.info().name);
        let limits = options.limits;
        put(&mut how, options.revision.map_or(u64::MAX, u64::from));
        put(&mut how, limits.record_len);
        put(&mut how, limits.channels.into());
        put(&mut how, limits.held_back as u64);
        let stem = match &options.cache {
            Cache::Off => return None,
            Cache::Folder(folder) => {
                let log = fs::canonicalize(log).ok()?;
                let mut name = XxHash3_64::new();
                name.write(log.as_os_str().as_encoded_bytes());
                name.write(&how);
                folder.join(format!("{:016x}", name.finish()))
            }
            Cache::Beside => log.with_file_name(log.file_name()?),
        };
        let mut key = Vec::new();
        put_text(&mut key, env!("CARGO_PKG_VERSION"));
        key.extend(how);
        put(&mut key, stamp.len);
        key.extend(stamp.modified.to_le_bytes());
        key.extend(stamp.changed.to_le_bytes());
        put(&mut key, stamp.inode);
        put(&mut key, stamp.device);
        put(&mut key, sampled(bytes));
        let in_folder = matches!(options.cache, Cache::Folder(_));
        let settled = stamp.is_settled(options.cache_after);
        Some(Self { stem, in_folder, log: log.to_owned(), stamp, settled, key })
    }

    /// One of the files of the log, mapped, if it is there.
    pub fn open(&self, kind: Kind) -> Option<(File, Arc<Mmap>)> {
        let file = File::open(self.file(kind)).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let map = source::map(&file).ok()?;
        Some((file, Arc::new(map)))
    }

    /// What the description in a file must begin with.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Where a file of the log is.
    pub fn file(&self, kind: Kind) -> PathBuf {
        let mut path = self.stem.clone().into_os_string();
        path.push(".");
        path.push(kind.extension());
        path.into()
    }

    /// Keeps what `write` puts into a file. Where that cannot be done, nothing is lost but the time of the next opening.
    pub fn keep(&self, kind: Kind, bytes: u64, write: impl FnOnce(&mut File) -> io::Result<()>) {
        // What was found says nothing about a file that is another one by now.
        let same = || fs::metadata(&self.log).is_ok_and(|about| Stamp::of(&about) == self.stamp);
        if bytes > FOLDER / 2 || !self.settled || !same() || self.try_keep(kind, write, same).is_err() {
            return;
        }
        if self.in_folder {
            let _ = self.evict();
        }
    }

    fn try_keep(
        &self,
        kind: Kind,
        write: impl FnOnce(&mut File) -> io::Result<()>,
        same: impl Fn() -> bool,
    ) -> io::Result<()> {
        let folder = self.stem.parent().unwrap_or(Path::new(""));
        if self.in_folder {
            fs::create_dir_all(folder)?;
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let suffix = format!(".{}", kind.extension());
        let mut file = tempfile::Builder::new().prefix(".").suffix(&suffix).tempfile_in(folder)?;
        write(file.as_file_mut())?;
        if same() {
            file.persist(self.file(kind))?;
        }
        Ok(())
    }

    /// Deletes the oldest of the folder until it is small enough.
    fn evict(&self) -> io::Result<()> {
        let Some(folder) = self.stem.parent() else { return Ok(()) };
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if Kind::ALL.iter().any(|kind| path.extension().is_some_and(|extension| extension == kind.extension())) {
                let about = entry.metadata()?;
                all.push((about.modified()?, about.len(), path));
            }
        }
        all.sort();
        let mut sum: u64 = all.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in all.iter().filter(|(.., path)| path.with_extension("") != self.stem) {
            if sum <= FOLDER {
                break;
            }
            // One that Windows keeps because another program reads it does not keep the rest.
            if fs::remove_file(path).is_ok() {
                sum -= len;
            }
        }
        Ok(())
    }
}

/// A hash of parts of a log: its beginning, its end, and pages all over it.
fn sampled(log: &[u8]) -> u64 {
    let mut hash = XxHash3_64::new();
    let mut add = |start: usize, len: usize| {
        hash.write(log.get(start..start.saturating_add(len).min(log.len())).unwrap_or_default());
    };
    add(0, ENDS);
    add(log.len().saturating_sub(ENDS), ENDS);
    let step = log.len() / PAGES;
    (0..PAGES).for_each(|page| add(page * step, PAGE));
    hash.finish()
}

/// Says that a file is in use: the oldest are deleted first, and one that is used is not old.
pub fn used(file: &File) {
    let _ = file.set_modified(SystemTime::now());
}

/// What a folder may hold.
const FOLDER: u64 = 2 << 30;
/// Bytes that are hashed at each end of a log, and of each page between.
const ENDS: usize = 64 << 10;
const PAGE: usize = 4 << 10;
const PAGES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_when_the_folder_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, age, len) in [("a.lpx", 30, 1 << 30), ("b.lpp", 20, 1 << 30), ("c.lpx", 10, 1), ("d.txt", 99, 1)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_len(len).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        let stamp = Stamp { len: 0, modified: 0, changed: 0, inode: 0, device: 0 };
        let (log, key) = (PathBuf::new(), Vec::new());
        let sidecar = Sidecar { stem: dir.path().join("c"), in_folder: true, log, stamp, settled: true, key };
        sidecar.evict().unwrap();
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["b.lpp", "c.lpx", "d.txt"]);
    }
}

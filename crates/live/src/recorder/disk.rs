//! What the recorder asks of a file system, so that a test can put a full one in its place.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// A file system.
pub(super) trait Disk: Send {
    /// Creates a file that is not there yet, to be written from its front.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Whether there is something of that name, and if so, whether it is a folder.
    fn is_folder(&self, path: &Path) -> Option<bool>;
    /// Whether files can be made in a folder.
    fn check_folder(&self, folder: &Path) -> io::Result<()>;
    /// The names of what is in a folder.
    fn names(&self, folder: &Path) -> io::Result<Vec<OsString>>;
    /// Gives a file another name; what had that name is gone.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Bytes that may still be written below a folder.
    fn free(&self, folder: &Path) -> io::Result<u64>;
    /// Makes sure that the names in a folder outlast a loss of power.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// An open file.
pub(super) trait DiskFile: Send {
    /// Writes all bytes at a place, or as many as there is room for. Between the end and a place behind it come zeros.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off what lies behind.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
    /// Makes sure that what was written outlasts a loss of power.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system of the machine.
pub(super) struct Real;

impl Disk for Real {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(File::options().write(true).create_new(true).open(path)?))
    }

    fn is_folder(&self, path: &Path) -> Option<bool> {
        fs::metadata(path).ok().map(|about| about.is_dir())
    }

    fn check_folder(&self, folder: &Path) -> io::Result<()> {
        // The only answer that holds on every system is to try it, with a file that has no name.
        tempfile::tempfile_in(folder).map(drop)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn free(&self, folder: &Path) -> io::Result<u64> {
        crate::free_space(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Windows opens no folders, and needs no such thing.
        if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
    }
}

impl DiskFile for File {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(at))?;
        self.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A disk in memory with as much room as a test gives it.
#[cfg(test)]
pub(super) mod memory {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex};

    use super::{Disk, DiskFile};

    /// One folder, which is everywhere.
    #[derive(Clone, Default)]
    pub(in crate::recorder) struct Memory(Arc<Mutex<State>>);

    #[derive(Default)]
    pub(in crate::recorder) struct State {
        pub(in crate::recorder) files: BTreeMap<PathBuf, Vec<u8>>,
        /// Bytes that can be written before it is full.
        pub(in crate::recorder) room: u64,
        /// What is said when more is to be written.
        pub(in crate::recorder) error: Option<io::ErrorKind>,
        /// What is said to be free.
        pub(in crate::recorder) free: u64,
        /// How often a file was made to outlast a loss of power.
        pub(in crate::recorder) syncs: usize,
        /// How often something was written.
        pub(in crate::recorder) writes: usize,
        /// The content of a file after each write, if it is to be kept.
        pub(in crate::recorder) keep_states: bool,
        pub(in crate::recorder) states: Vec<Vec<u8>>,
    }

    impl Memory {
        pub(in crate::recorder) fn with_room(room: u64) -> Self {
            let memory = Self::default();
            memory.change(|state| (state.room, state.free) = (room, u64::MAX));
            memory
        }

        pub(in crate::recorder) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
            change(&mut self.0.lock().unwrap())
        }
    }

    impl Disk for Memory {
        fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
            self.change(|state| match state.files.contains_key(path) {
                true => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
                false => {
                    state.files.insert(path.to_owned(), Vec::new());
                    Ok(())
                }
            })?;
            Ok(Box::new(MemoryFile { disk: self.clone(), path: path.to_owned(), hole: 0..0 }))
        }

        fn is_folder(&self, path: &Path) -> Option<bool> {
            if path == Path::new(".") {
                Some(true)
            } else {
                self.change(|s| s.files.contains_key(path).then_some(false))
            }
        }

        fn check_folder(&self, _: &Path) -> io::Result<()> {
            Ok(())
        }

        fn names(&self, _: &Path) -> io::Result<Vec<OsString>> {
            Ok(self.change(|state| state.files.keys().map(|path| path.clone().into_os_string()).collect()))
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.change(|state| {
                let file = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
                state.files.insert(to.to_owned(), file);
                Ok(())
            })
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            self.change(|state| state.files.remove(path).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into()))
        }

        fn free(&self, _: &Path) -> io::Result<u64> {
            Ok(self.change(|state| state.free))
        }

        fn sync_folder(&self, _: &Path) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// It is renamed only in tests that write no more to it.
    struct MemoryFile {
        disk: Memory,
        path: PathBuf,
        /// Bytes of the file that were skipped so far.
        hole: std::ops::Range<usize>,
    }

    impl DiskFile for MemoryFile {
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            self.disk.change(|state| {
                state.writes += 1;
                let file = state.files.get_mut(&self.path).ok_or(io::ErrorKind::NotFound)?;
                let at = usize::try_from(at).unwrap();
                if at > file.len() {
                    // What is skipped takes room only once something is written there.
                    self.hole = file.len()..at;
                    file.resize(at, 0);
                }
                for (place, byte) in (at..).zip(bytes) {
                    if place >= file.len() || self.hole.contains(&place) {
                        let full = state.error.unwrap_or(io::ErrorKind::StorageFull);
                        state.room = state.room.checked_sub(1).ok_or(full)?;
                    }
                    file.resize(file.len().max(place + 1), 0);
                    file[place] = *byte;
                }
                if at <= self.hole.start {
                    self.hole.start = self.hole.start.max(at + bytes.len());
                }
                if state.keep_states {
                    state.states.push(file.clone());
                }
                Ok(())
            })
        }

        fn truncate(&mut self, len: u64) -> io::Result<()> {
            self.disk.change(|state| {
                let file = state.files.get_mut(&self.path).ok_or(io::ErrorKind::NotFound)?;
                file.truncate(usize::try_from(len).unwrap());
                Ok(())
            })
        }

        fn sync(&mut self) -> io::Result<()> {
            self.disk.change(|state| state.syncs += 1);
            Ok(())
        }
    }
}

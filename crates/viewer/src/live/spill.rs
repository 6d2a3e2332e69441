use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fs4::available_space;

/// The nameless file with the samples before the newest ones. It vanishes with the process.
pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    end: AtomicU64,
    /// Bytes that it may have.
    limit: u64,
    /// Bytes that must stay free on the disk.
    keep_free: u64,
}

/// Why nothing more can be put away.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Full(pub(super) String);

/// When the free space was looked at, and what was found.
#[derive(Debug, Default)]
pub(super) struct Looked {
    at: Option<Instant>,
    full: Option<Full>,
}

impl Spill {
    pub(super) fn create(folder: &Path, limit: u64, keep_free: u64) -> io::Result<Self> {
        // A folder that cannot be written to is no reason to show nothing: the system has another one.
        let made = tempfile::tempfile_in(folder).map(|file| (file, folder.to_owned()));
        let (file, folder) = made.or_else(|_| tempfile::tempfile().map(|file| (file, std::env::temp_dir())))?;
        Ok(Self { file, folder, end: AtomicU64::new(0), limit, keep_free })
    }

    /// Puts bytes away; the answer is where they are. One thread at a time does this.
    pub(super) fn append(&self, bytes: &[u8], looked: &mut Looked) -> Result<u64, Full> {
        let at = self.end.load(Ordering::Acquire);
        self.look(at, looked)?;
        write_at(&self.file, bytes, at).map_err(|error| {
            let full = Full(format!("{}: {error}", self.folder.display()));
            *looked = Looked { at: Some(Instant::now()), full: Some(full.clone()) };
            full
        })?;
        self.end.store(at + bytes.len() as u64, Ordering::Release);
        Ok(at)
    }

    pub(super) fn read(&self, at: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        read_at(&self.file, &mut bytes, at)?;
        Ok(bytes)
    }

    /// Bytes that were put away.
    pub(super) fn len(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Whether there is room, by what was found in the last second.
    fn look(&self, len: u64, looked: &mut Looked) -> Result<(), Full> {
        if looked.at.is_none_or(|at| at.elapsed() > LOOK) {
            looked.at = Some(Instant::now());
            let amount = |bytes: u64| format!("{} MB", bytes / 1_000_000);
            let full = match available_space(&self.folder) {
                _ if len >= self.limit => Some(format!("limit of {} reached", amount(len))),
                Ok(free) if free < self.keep_free => Some(format!(
                    "{}: {} free, {} must stay free",
                    self.folder.display(),
                    amount(free),
                    amount(self.keep_free)
                )),
                _ => None,
            };
            looked.full = full.map(Full);
        }
        looked.full.clone().map_or(Ok(()), Err)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = bytes.get_mut(count..).unwrap_or_default();
        at += count as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = bytes.get(count..).unwrap_or_default();
        at += count as u64;
    }
    Ok(())
}

const LOOK: Duration = Duration::from_secs(1);

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use super::{known, unwritten};
use crate::api::FileQuery;
use crate::error::RequestError;

/// The files that were uploaded: in a folder that is deleted with the server, or by the next one if this one is killed.
pub(super) struct Uploads {
    parent: PathBuf,
    limit: u64,
    keep_free: u64,
    /// Made with the first upload.
    home: Mutex<Option<Arc<Home>>>,
    /// Folders of files that belong together, while they come.
    batches: Mutex<HashMap<u32, Weak<BatchFolder>>>,
    /// Files that lie there for one that follows.
    companions: Mutex<Vec<(u32, UploadedFile)>>,
}

/// The folder of all uploads of a server.
struct Home {
    folder: TempDir,
    /// Locked as long as the server runs.
    _lock: File,
    /// Bytes of all files in it, also of those that are on their way.
    bytes: AtomicU64,
}

/// The folder of files that belong together. Deleted when nobody needs them any more.
pub(crate) struct BatchFolder {
    folder: TempDir,
    /// Deleted after it.
    _home: Arc<Home>,
}

impl BatchFolder {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A file that was uploaded. It is deleted when nobody holds it any more.
pub(crate) struct UploadedFile {
    _folder: Arc<BatchFolder>,
    _claim: Option<Claim>,
    /// What lies beside it.
    companions: Vec<Self>,
}

/// Bytes that count towards the limit.
struct Claim {
    home: Arc<Home>,
    bytes: u64,
}

impl Claim {
    /// Claims room for some bytes if there is any.
    fn new(home: &Arc<Home>, bytes: u64, limit: u64) -> Option<Self> {
        let claimed = home.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |all| {
            all.checked_add(bytes).filter(|all| *all <= limit)
        });
        claimed.ok().map(|_| Self { home: Arc::clone(home), bytes })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.home.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A file that is being uploaded. If it is dropped before all of it came, what came is deleted.
pub struct Upload {
    file: File,
    path: PathBuf,
    size: u64,
    written: u64,
    kept: UploadedFile,
    batch: u32,
    companion: bool,
}

impl Upload {
    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// If they cannot be written, or are more than was said.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), RequestError> {
        self.written += bytes.len() as u64;
        if self.written > self.size {
            return Err(changed(&format!("more than its {} bytes came", self.size)));
        }
        self.file.write_all(bytes).map_err(|error| unwritten(&error))
    }

    /// All of it came.
    fn finish(mut self) -> Result<Self, RequestError> {
        if self.written < self.size {
            return Err(changed(&format!("only {} of {} bytes came", self.written, self.size)));
        }
        self.file.flush().map_err(|error| unwritten(&error))?;
        Ok(self)
    }
}

fn changed(what: &str) -> RequestError {
    RequestError::invalid("incomplete-upload", format!("the file changed while it was uploaded: {what}"))
        .with_help("add it again when it no longer changes, or follow it with `logpose open --follow FILE`")
}

impl Uploads {
    pub(super) fn new(parent: &Path, limit: u64, keep_free: u64) -> Self {
        let parent = parent.to_owned();
        Self {
            parent,
            limit,
            keep_free,
            home: Mutex::default(),
            batches: Mutex::default(),
            companions: Mutex::default(),
        }
    }

    /// Whether there is room for a file.
    pub(super) fn check(&self, file: &FileQuery) -> Result<(), RequestError> {
        check_name(&file.name)?;
        let used = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.as_ref().map_or(0, |home| home.bytes.load(Ordering::Relaxed));
        if used.saturating_add(file.size) > self.limit {
            return Err(self.full(file.size, used));
        }
        // Where the system does not say, writing does.
        let _ = fs::create_dir_all(&self.parent);
        let free = fs4::available_space(&self.parent).unwrap_or(u64::MAX);
        if file.size.saturating_add(self.keep_free) > free {
            let message = format!(
                "the disk is too full for a copy: the file has {} bytes, {free} are free and {} stay free",
                file.size, self.keep_free
            );
            return Err(RequestError::new(crate::error::RequestErrorKind::Storage, "disk-full", message)
                .with_help("open the file with `logpose open FILE`, which copies nothing"));
        }
        Ok(())
    }

    pub(super) fn begin(&self, file: &FileQuery) -> Result<Upload, RequestError> {
        self.check(file)?;
        let home = self.home()?;
        let claim = Claim::new(&home, file.size, self.limit)
            .ok_or_else(|| self.full(file.size, home.bytes.load(Ordering::Relaxed)))?;
        let folder = self.batch(file.batch, &file.name)?;
        let path = known::beside(folder.path(), &file.name).ok_or_else(|| invalid_name(&file.name))?;
        let out = OpenOptions::new().write(true).create_new(true).open(&path).map_err(|error| unwritten(&error))?;
        let kept = UploadedFile { _folder: folder, _claim: Some(claim), companions: Vec::new() };
        Ok(Upload { file: out, path, size: file.size, written: 0, kept, batch: file.batch, companion: file.companion })
    }

    /// A folder for files that count towards no limit.
    pub(super) fn folder(&self) -> Result<BatchFolder, RequestError> {
        let home = self.home()?;
        let folder = tempfile::Builder::new().prefix("").tempdir_in(home.folder.path());
        Ok(BatchFolder { folder: folder.map_err(|error| unwritten(&error))?, _home: home })
    }

    pub(super) fn keep(&self, folder: BatchFolder) -> UploadedFile {
        UploadedFile { _folder: Arc::new(folder), _claim: None, companions: Vec::new() }
    }

    /// All of a file came: its path, unless it only lies there for one that follows.
    pub(super) fn end(&self, upload: Upload) -> Result<Option<(PathBuf, UploadedFile)>, RequestError> {
        let Upload { path, mut kept, batch, companion, .. } = upload.finish()?;
        let mut companions = self.companions.lock().unwrap_or_else(PoisonError::into_inner);
        if companion {
            companions.push((batch, kept));
            return Ok(None);
        }
        let own = companions.extract_if(.., |(known, _)| *known == batch);
        kept.companions.extend(own.map(|(_, file)| file));
        Ok(Some((path, kept)))
    }

    pub(super) fn discard(&self) {
        if let Some(home) = self.home.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = fs::remove_dir_all(home.folder.path());
        }
    }

    /// The folder of a batch; another one if it has a file of this name already.
    fn batch(&self, batch: u32, name: &str) -> Result<Arc<BatchFolder>, RequestError> {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.retain(|_, folder| folder.strong_count() > 0);
        let known = batches.get(&batch).and_then(Weak::upgrade).filter(|folder| !folder.path().join(name).exists());
        if let Some(folder) = known {
            return Ok(folder);
        }
        let folder = Arc::new(self.folder()?);
        batches.insert(batch, Arc::downgrade(&folder));
        Ok(folder)
    }

    fn home(&self) -> Result<Arc<Home>, RequestError> {
        let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(home) = &*home {
            return Ok(Arc::clone(home));
        }
        let made = self.make().map_err(|error| unwritten(&error))?;
        Ok(Arc::clone(home.insert(Arc::new(made))))
    }

    fn make(&self) -> std::io::Result<Home> {
        fs::create_dir_all(&self.parent)?;
        sweep(&self.parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&self.parent)?;
        let lock = File::create(folder.path().join(LOCK))?;
        // Where files cannot be locked, another server may not sweep either.
        let _ = lock.try_lock();
        Ok(Home { folder, _lock: lock, bytes: AtomicU64::new(0) })
    }

    fn full(&self, size: u64, used: u64) -> RequestError {
        let message = format!(
            "the file is too large to be uploaded: it has {size} bytes, and {} of {} bytes are left",
            self.limit.saturating_sub(used),
            self.limit
        );
        RequestError::invalid("upload-too-large", message)
            .with_help("open it with `logpose open FILE`, which copies nothing, or raise --limit-upload")
    }
}

/// Deletes what servers left behind that were killed: folders that nobody has locked.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let lock = OpenOptions::new().write(true).open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn check_name(name: &str) -> Result<(), RequestError> {
    if name.len() > LONGEST_NAME {
        let message = format!("the name of the file is too long: {} bytes, at most {LONGEST_NAME}", name.len());
        return Err(RequestError::invalid("invalid-name", message).with_help("rename the file"));
    }
    let plain = known::beside(Path::new(""), name).is_some() && !name.contains(['\0', '\\', ':']);
    if plain { Ok(()) } else { Err(invalid_name(name)) }
}

fn invalid_name(name: &str) -> RequestError {
    RequestError::invalid("invalid-name", format!("{name:?} cannot be the name of a file")).with_help("rename the file")
}

const PREFIX: &str = "logpose-uploads-";
const LOCK: &str = ".lock";
/// What file systems take.
const LONGEST_NAME: usize = 255;

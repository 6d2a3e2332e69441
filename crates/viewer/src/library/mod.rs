//! Where logs come from that are added while a session is shown: recent files, demo logs, and what is uploaded.

mod known;
mod recent;
mod uploads;

use std::io;
use std::path::{Path, PathBuf};

use logpose::OpenOptions;

pub use self::uploads::Upload;
pub(crate) use self::uploads::UploadedFile;

use self::recent::Recent;
use self::uploads::Uploads;
use crate::api;
use crate::error::RequestError;

/// Where logs come from that are added to a session while it is shown, and what is allowed.
///
/// No request names a file by its path. What can be opened where it is are recent files, by a number, and files whose
/// content the request proves to know, in folders that logs were opened from before. Everything else is uploaded.
pub struct Library {
    options: LibraryOptions,
    recent: Recent,
    uploads: Uploads,
}

/// What is allowed, and where files are.
pub struct LibraryOptions {
    /// How logs are opened.
    pub open: OpenOptions,
    /// Where recent files are remembered; nothing if they are not.
    pub recent: Option<PathBuf>,
    /// Whether recent files can be opened where they are.
    pub local: bool,
    /// Whether files can be uploaded.
    pub upload: bool,
    /// The most bytes of all uploaded files together.
    pub upload_limit: u64,
    /// Bytes that must stay free on the disk.
    pub keep_free: u64,
    /// Where temporary files are.
    pub folder: PathBuf,
    /// Who makes demo logs.
    pub demos: Option<Box<dyn Demos>>,
    /// The lake whose logs can be opened.
    pub lake: Option<Box<dyn LakeLogs>>,
}

/// Takes logs out of a lake.
pub trait LakeLogs: Send + Sync {
    /// The names of the logs and a few words on each.
    fn list(&self) -> Vec<(String, String)>;
    /// What stands for the path of a log.
    fn path(&self, name: &str) -> PathBuf;
    /// Opens one of them. Nothing of the others is read.
    fn open(&self, name: &str) -> Result<logpose::Log, logpose::Error>;
}

/// Makes demo logs.
pub trait Demos: Send + Sync {
    /// The names of the logs and a few words on each.
    fn list(&self) -> Vec<(String, String)>;
    /// Writes one of them into a folder, with what belongs to it.
    fn write(&self, name: &str, folder: &Path) -> Result<PathBuf, logpose::Error>;
}

impl Library {
    /// A library of these files.
    #[must_use]
    pub fn new(options: LibraryOptions) -> Self {
        let uploads = Uploads::new(&options.folder, options.upload_limit, options.keep_free);
        Self { recent: Recent::new(options.recent.clone()), uploads, options }
    }

    /// Notes that a file was opened.
    pub fn remember(&self, path: &Path) {
        self.recent.add(path);
    }

    /// Deletes everything that was uploaded. Called when the server ends, whoever still reads.
    pub(crate) fn discard_uploads(&self) {
        self.uploads.discard();
    }

    pub(crate) fn options(&self) -> &LibraryOptions {
        &self.options
    }

    pub(crate) fn offers(&self) -> api::Adding {
        let LibraryOptions { upload, upload_limit, local, .. } = self.options;
        api::Adding { upload, upload_limit, local }
    }

    pub(crate) fn recent(&self) -> Vec<api::RecentFile> {
        if self.options.local { self.recent.list() } else { Vec::new() }
    }

    pub(crate) fn demos(&self) -> Vec<api::Demo> {
        let list = self.options.demos.as_ref().filter(|_| self.options.upload).map(|demos| demos.list());
        list.unwrap_or_default().into_iter().map(|(name, about)| api::Demo { name, about }).collect()
    }

    pub(crate) fn lake_logs(&self) -> Vec<api::LakeLog> {
        let list = self.options.lake.as_ref().map(|lake| lake.list()).unwrap_or_default();
        list.into_iter().map(|(name, about)| api::LakeLog { name, about }).collect()
    }

    /// The lake, if it has a log of that name.
    pub(crate) fn lake_with(&self, name: &str) -> Result<&dyn LakeLogs, RequestError> {
        let lake = self.options.lake.as_deref().filter(|lake| lake.list().iter().any(|(known, _)| known == name));
        lake.ok_or_else(|| RequestError::not_found("log-not-found", format!("there is no log {name:?} in the lake")))
    }

    /// The path of a recent file by its number.
    pub(crate) fn recent_path(&self, id: &str) -> Result<PathBuf, RequestError> {
        self.check_local()?;
        self.recent.path(id).ok_or_else(|| {
            RequestError::not_found("file-not-found", "this file is no longer among the recent files")
                .with_help("drop the file into the window or choose it")
        })
    }

    /// Writes a demo log and says where.
    pub(crate) fn demo(&self, name: &str) -> Result<(PathBuf, UploadedFile), RequestError> {
        self.check_upload()?;
        let demos = self.options.demos.as_ref().filter(|demos| demos.list().iter().any(|(known, _)| known == name));
        let demos =
            demos.ok_or_else(|| RequestError::not_found("file-not-found", format!("there is no demo log {name:?}")))?;
        let folder = self.uploads.folder()?;
        let path = demos.write(name, folder.path()).map_err(RequestError::from)?;
        Ok((path, self.uploads.keep(folder)))
    }

    /// The file on this computer that a browser describes, if it is where logs were opened from before.
    ///
    /// `samples` are the bytes of the file at [`known::blocks`]: who asks must have the file. So nothing is found out
    /// about files that somebody does not have.
    pub(crate) fn known(&self, file: &api::FileQuery, samples: &[u8]) -> Option<PathBuf> {
        if !self.options.local {
            return None;
        }
        let mut paths = self.recent.paths();
        let folders: Vec<PathBuf> = paths.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect();
        paths.retain(|path| path.file_name().is_some_and(|name| name.to_str() == Some(file.name.as_str())));
        let mut beside: Vec<PathBuf> =
            folders.into_iter().filter_map(|folder| known::beside(&folder, &file.name)).collect();
        beside.sort();
        beside.dedup();
        paths.into_iter().chain(beside).find(|path| known::is_same(path, file, samples))
    }

    /// Whether a file could be uploaded.
    pub(crate) fn check_file(&self, file: &api::FileQuery) -> Result<(), RequestError> {
        self.check_upload()?;
        self.uploads.check(file)
    }

    /// A place for a file that is about to be uploaded.
    pub(crate) fn begin_upload(&self, file: &api::FileQuery) -> Result<Upload, RequestError> {
        self.check_upload()?;
        self.uploads.begin(file)
    }

    /// All of a file came: its path, unless it only lies there for one that follows.
    pub(crate) fn end_upload(&self, upload: Upload) -> Result<Option<(PathBuf, UploadedFile)>, RequestError> {
        self.uploads.end(upload)
    }

    fn check_upload(&self) -> Result<(), RequestError> {
        if self.options.upload {
            return Ok(());
        }
        Err(RequestError::forbidden("uploads-not-allowed", "this server does not accept files from other computers")
            .with_help("start logpose with --allow-upload"))
    }

    pub(crate) fn check_local(&self) -> Result<(), RequestError> {
        if self.options.local {
            return Ok(());
        }
        let message = "only a viewer on localhost opens files of its computer and connects to robots";
        Err(RequestError::forbidden("localhost-only", message).with_help("start logpose without --bind"))
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").finish_non_exhaustive()
    }
}

/// The error of a file that could not be written.
fn unwritten(error: &io::Error) -> RequestError {
    let storage = |message: String| {
        RequestError::new(crate::error::RequestErrorKind::Storage, "io", message)
            .with_help("free some disk space, or open the file with `logpose open FILE`, which copies nothing")
    };
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            storage("the disk became full while the file was uploaded".to_owned())
        }
        _ => storage(format!("cannot write a temporary file: {error}")),
    }
}

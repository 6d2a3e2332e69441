//! Adds logs to the session while it is shown, and closes them.

use std::path::Path;
use std::sync::Arc;

use logpose::{Browse, Cache, Log, OpenOptions, Quiet};

use crate::api;
use crate::error::RequestError;
use crate::finished::FinishedLog;
use crate::library::{Library, Upload, UploadedFile};
use crate::live::LiveLog;
use crate::session::Session;
use crate::store::Store;
use crate::viewer::Viewer;

impl Viewer {
    /// What can be opened with a click. Kinds of live sources are up to who can connect to them.
    pub fn start(&self, sources: Vec<api::SourceKind>) -> Result<api::Start, RequestError> {
        let library = self.library()?;
        let sources = if library.offers().local { sources } else { Vec::new() };
        Ok(api::Start { recent: library.recent(), demos: library.demos(), lake: library.lake_logs(), sources })
    }

    /// Opens a recent file, a demo log or a log of the lake.
    pub fn open(&self, query: &api::OpenQuery) -> Result<api::Added, RequestError> {
        let library = self.library()?;
        match query {
            api::OpenQuery { recent: Some(id), demo: None, lake: None } => {
                self.add_file(&library, &library.recent_path(id)?)
            }
            api::OpenQuery { recent: None, demo: Some(name), lake: None } => {
                self.check_room()?;
                let (path, kept) = library.demo(name)?;
                self.add_upload(&library, &path, kept)
            }
            api::OpenQuery { recent: None, demo: None, lake: Some(name) } => self.add_lake_log(&library, name),
            _ => Err(RequestError::invalid("bad-request", "expected one of recent, demo and lake")),
        }
    }

    /// Opens the file that a browser describes where it is, if it is known; `samples` are bytes of it. An error says why
    /// it could not even be uploaded.
    pub fn open_known(&self, file: &api::FileQuery, samples: &[u8]) -> Result<api::Added, RequestError> {
        let library = self.library()?;
        if let Some(path) = library.known(file, samples) {
            return self.add_file(&library, &path);
        }
        self.check_room()?;
        library.check_file(file)?;
        Ok(api::Added { log: None, already: false })
    }

    /// Makes room for a file that is about to be uploaded.
    pub fn begin_upload(&self, file: &api::FileQuery) -> Result<Upload, RequestError> {
        self.check_room()?;
        self.library()?.begin_upload(file)
    }

    /// Opens a file that was uploaded.
    pub fn end_upload(&self, upload: Upload) -> Result<api::Added, RequestError> {
        let library = self.library()?;
        match library.end_upload(upload)? {
            Some((path, kept)) => self.add_upload(&library, &path, kept),
            None => Ok(api::Added { log: None, already: false }),
        }
    }

    /// Whether a live source may be added; the answer is whether others are open, so that it needs a common clock.
    pub fn check_live(&self) -> Result<bool, RequestError> {
        self.library()?.check_local()?;
        self.check_room()?;
        Ok(self.session().open().next().is_some())
    }

    /// Adds a live source.
    pub fn add_live(&self, log: &LiveLog) -> Result<api::Added, RequestError> {
        let store: Arc<dyn Store> = Arc::new(log.clone());
        let log = self.change(|session| Ok(session.place(Arc::clone(&store), None)))?;
        Ok(api::Added { log: Some(log), already: false })
    }

    /// Closes a log. What it needs in memory and on the disk is free when the last request about it has ended.
    pub fn close(&self, log: usize) -> Result<(), RequestError> {
        self.library()?;
        let closed = self.change(|session| session.close(log))?;
        self.changes().forget(log);
        if let Some(live) = closed.store.live() {
            live.close();
        }
        if let Some(sql) = self.session().sql() {
            sql.forget();
        }
        Ok(())
    }

    /// Deletes everything that was uploaded, because the server ends.
    pub fn discard_uploads(&self) {
        if let Some(library) = self.session().library() {
            library.discard_uploads();
        }
    }

    fn library(&self) -> Result<Arc<Library>, RequestError> {
        let session = self.session();
        session.library().cloned().ok_or_else(|| {
            RequestError::forbidden("adding-not-allowed", "this server only shows the logs it was started with")
                .with_help("start logpose with --allow-upload")
        })
    }

    fn add_file(&self, library: &Library, path: &Path) -> Result<api::Added, RequestError> {
        if let Some(log) = open_at(&self.session(), path) {
            return Ok(api::Added { log: Some(log), already: true });
        }
        self.check_room()?;
        let added = self.add(path, &library.options().open, None)?;
        library.remember(path);
        Ok(added)
    }

    fn add_lake_log(&self, library: &Library, name: &str) -> Result<api::Added, RequestError> {
        let lake = library.lake_with(name)?;
        let path = std::path::absolute(lake.path(name)).unwrap_or_else(|_| lake.path(name));
        if let Some(log) = open_at(&self.session(), &path) {
            return Ok(api::Added { log: Some(log), already: true });
        }
        self.check_room()?;
        self.show(lake.open(name)?, &path, None)
    }

    fn add_upload(&self, library: &Library, path: &Path, kept: UploadedFile) -> Result<api::Added, RequestError> {
        // The file will not come again.
        let options = OpenOptions { cache: Cache::Off, ..library.options().open.clone() };
        self.add(path, &options, Some(Arc::new(kept)))
    }

    fn add(
        &self,
        path: &Path,
        options: &OpenOptions,
        upload: Option<Arc<UploadedFile>>,
    ) -> Result<api::Added, RequestError> {
        // The viewer needs random access to every sample.
        let options = OpenOptions { light_from: u64::MAX, ..options.clone() };
        self.show(Log::open_recovered(path, &options, &Quiet)?, path, upload)
    }

    /// Adds an opened log; its path is absolute, to tell whether it was added meanwhile.
    fn show(&self, log: Log, path: &Path, upload: Option<Arc<UploadedFile>>) -> Result<api::Added, RequestError> {
        let store: Arc<dyn Store> = Arc::new(FinishedLog::new(Browse::new(Arc::new(log), &Quiet)?));
        // Asked for right away.
        drop((store.about(), store.findings()));
        self.change(|session| {
            if let Some(log) = open_at(session, path).filter(|_| upload.is_none()) {
                return Ok(api::Added { log: Some(log), already: true });
            }
            let log = session.place(Arc::clone(&store), upload);
            Ok(api::Added { log: Some(log), already: false })
        })
    }

    fn check_room(&self) -> Result<(), RequestError> {
        if self.session().open().count() < MOST_LOGS {
            return Ok(());
        }
        let message = format!("too many logs are open (max {MOST_LOGS})");
        Err(RequestError::invalid("too-many-logs", message).with_help("close some of them"))
    }
}

/// The open log of a file, also if the file is the companion of another.
fn open_at(session: &Session, path: &Path) -> Option<usize> {
    let same = |known: &Path| std::path::absolute(known).is_ok_and(|known| known == path);
    let found = session.open().find(|(_, member)| {
        member.upload.is_none()
            && member.store.log().is_some_and(|log| same(&log.path) || log.companion().is_some_and(same))
    });
    found.map(|(number, _)| number)
}

/// The most logs that are open at once.
const MOST_LOGS: usize = 256;

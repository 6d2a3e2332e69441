//! Where a lake is: a folder, seen through `object_store`. The only module that reads and writes its files.

use std::fmt;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use logpose::internal::Bytes as FileBytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use tokio::runtime::{Builder, Runtime};

use crate::Error;

/// The files of a lake, named by paths below its root.
pub(crate) struct Store {
    name: String,
    folder: PathBuf,
    files: Arc<dyn ObjectStore>,
    runtime: Runtime,
}

/// A file of the lake.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub path: String,
    pub bytes: u64,
    /// When it was written, in milliseconds since 1970.
    pub modified_ms: i64,
}

impl Store {
    /// The store at a place. `create` makes the folder, where there is none.
    pub(crate) fn open(place: &str, create: bool) -> Result<Self, Error> {
        if let Some((scheme, _)) = place.split_once("://") {
            let message = format!("{place}: {scheme}:// is not supported, expected a folder");
            return Err(Error::new("no-store", message));
        }
        let folder = PathBuf::from(place);
        let failed = |error: std::io::Error| Error::from(logpose::Error::writing(&folder, error));
        match fs::metadata(&folder) {
            Ok(about) if about.is_dir() => {}
            Ok(_) => {
                let message = format!("{place}: is a file, expected the folder of a lake");
                return Err(Error::new("not-a-lake", message).help("name a folder; `logpose ingest` creates it"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && create => {
                fs::create_dir_all(&folder).map_err(failed)?;
            }
            Err(error) => return Err(logpose::Error::reading(&folder, error).into()),
        }
        let files = LocalFileSystem::new_with_prefix(&folder).map_err(|error| failure(place, &error))?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::new("io", format!("cannot start a thread to reach {place}: {error}")))?;
        Ok(Self { name: place.trim_end_matches('/').to_owned(), folder, files: Arc::new(files), runtime })
    }

    /// What the user called it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What reads the files, for a query.
    pub(crate) fn files(&self) -> Arc<dyn ObjectStore> {
        self.files.clone()
    }

    /// The name of a file as messages have it.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// A whole small file; none if there is none of that name.
    pub(crate) fn get(&self, path: &str) -> Result<Option<Bytes>, Error> {
        self.runtime.block_on(self.fetch(path))
    }

    /// Whole small files, several at a time.
    pub(crate) fn get_many(&self, paths: &[String]) -> Result<Vec<Option<Bytes>>, Error> {
        let reads = futures::stream::iter(paths.iter().map(|path| self.fetch(path))).buffered(AT_ONCE);
        self.runtime.block_on(reads.try_collect())
    }

    async fn fetch(&self, path: &str) -> Result<Option<Bytes>, Error> {
        let at = self.at(path)?;
        let read = async { self.files.get(&at).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failure(&self.shown(path), &error)),
        }
    }

    /// A file of any size, mapped and not held in memory.
    pub(crate) fn read(&self, path: &str) -> Result<FileBytes, Error> {
        self.at(path)?;
        let file = self.folder.join(path);
        FileBytes::open(&file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::damaged(&self.shown(path), "the file is missing"),
            _ => logpose::Error::reading(&file, error).into(),
        })
    }

    /// Writes a small file, in the place of another one if there is any.
    pub(crate) fn put(&self, path: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let at = self.at(path)?;
        let put = self.files.put(&at, PutPayload::from(bytes));
        self.runtime.block_on(put).map(|_| ()).map_err(|error| failure(&self.shown(path), &error))
    }

    /// Writes a small file unless one of that name exists; says whether it did.
    pub(crate) fn put_new(&self, path: &str, bytes: Vec<u8>) -> Result<bool, Error> {
        let at = self.at(path)?;
        let put = self.files.put_opts(&at, PutPayload::from(bytes), PutMode::Create.into());
        match self.runtime.block_on(put) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(failure(&self.shown(path), &error)),
        }
    }

    /// Writes a file of any size as it is filled; returns what `fill` returns and how many bytes there are. Nobody knows
    /// of the file before a table names it, so it is written under its own name; a failure removes it.
    pub(crate) fn create<T>(
        &self,
        path: &str,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, Error>,
    ) -> Result<(T, u64), Error> {
        self.at(path)?;
        let file = self.folder.join(path);
        let failed = |error| Error::from(logpose::Error::writing(&file, error));
        file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        let mut out = BufWriter::new(fs::File::create_new(&file).map_err(failed)?);
        let filled = fill(&mut out).map_err(|error| match error.code {
            // The system does not say which file it was.
            "io" => Error { message: format!("{}: {}", file.display(), error.message), ..error },
            _ => error,
        });
        let done = filled.and_then(|filled| {
            out.flush().map_err(failed)?;
            Ok((filled, out.get_ref().metadata().map_err(failed)?.len()))
        });
        if done.is_err() {
            // What cannot be removed is an orphan, which `clean` removes.
            let _ = fs::remove_file(&file);
        }
        done
    }

    /// The folders at the root.
    pub(crate) fn folders(&self) -> Result<Vec<String>, Error> {
        let found = self.runtime.block_on(self.files.list_with_delimiter(None));
        let found = found.map_err(|error| failure(&self.name, &error))?;
        Ok(found.common_prefixes.into_iter().map(|path| path.to_string()).collect())
    }

    /// All files below a folder.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<Found>, Error> {
        let at = if folder.is_empty() { None } else { Some(self.at(folder)?) };
        let found = self.files.list(at.as_ref()).map(|found| {
            found.map(|meta| Found {
                path: meta.location.to_string(),
                bytes: meta.size,
                modified_ms: meta.last_modified.timestamp_millis(),
            })
        });
        self.runtime.block_on(found.try_collect()).map_err(|error| failure(&self.shown(folder), &error))
    }

    /// Removes a file; one that is gone already is no failure.
    pub(crate) fn delete(&self, path: &str) -> Result<(), Error> {
        let at = self.at(path)?;
        match self.runtime.block_on(self.files.delete(&at)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failure(&self.shown(path), &error)),
        }
    }

    /// A path below the root: names come out of the lake's own files, and those may be hostile.
    fn at(&self, path: &str) -> Result<Path, Error> {
        let parts = FilePath::new(path).components();
        let stays = parts.into_iter().all(|part| matches!(part, std::path::Component::Normal(_)));
        Path::parse(path).ok().filter(|_| stays).ok_or_else(|| {
            Error::damaged(&self.name, format_args!("a file is named {path:?}, which is outside the lake"))
        })
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).finish_non_exhaustive()
    }
}

fn failure(path: &str, error: &object_store::Error) -> Error {
    // The sentence of the system stands at the end of the chain; those before it repeat the path.
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Error::new("io", format!("{path}: {cause}"))
}

/// Requests that are under way at a time.
const AT_ONCE: usize = 16;

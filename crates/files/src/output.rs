use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use logpose_core::SinkError;
use tempfile::TempPath;

use crate::convert::sink_error;
use crate::error::USE_FORCE;
use crate::wrapper::Wrapping;
use crate::{Error, ErrorKind, Wrapper};

/// Where results go.
///
/// A file appears under a temporary name in the same folder and gets its own when it is whole: a failure
/// leaves nothing behind and an older file of that name as it was.
pub enum Output<'a> {
    /// A file.
    File {
        /// Its name.
        path: &'a Path,
        /// Whether a file of that name may be replaced.
        force: bool,
        /// The compression around it.
        wrapper: Option<Wrapper>,
    },
    /// Anything else that takes bytes.
    Stream(&'a mut (dyn Write + Send)),
}

impl<'a> Output<'a> {
    /// A new file without compression; an existing one is not replaced.
    #[must_use]
    pub fn file(path: &'a Path) -> Self {
        Self::File { path, force: false, wrapper: None }
    }

    /// Writes a result that was made in memory.
    pub fn write_all(self, bytes: &[u8]) -> Result<(), Error> {
        let path = match &self {
            Self::File { path, .. } => Some(path.to_path_buf()),
            Self::Stream(_) => None,
        };
        self.fill(|out| out.write_all(bytes).map_err(|error| sink_error(SinkError::Io(error), path.as_deref())))
    }

    /// Opens it, lets `fill` write to it, and keeps it if that went well.
    pub fn fill<T, E: From<Error>>(
        self,
        fill: impl FnOnce(&mut (dyn Write + Send + 'a)) -> Result<T, E>,
    ) -> Result<T, E> {
        let path = match &self {
            Self::File { path, .. } => Some(path.to_path_buf()),
            Self::Stream(_) => None,
        };
        let mut opened = self.open()?;
        let done = fill(&mut opened)?;
        let whole = opened.finish().map_err(|error| sink_error(SinkError::Io(error), path.as_deref()))?;
        whole.keep()?;
        Ok(done)
    }

    /// Opens it. Nothing is to be seen of it until [`Opened::keep`].
    pub(crate) fn open(self) -> Result<Opened<'a>, Error> {
        let (path, force, wrapper) = match self {
            Self::Stream(stream) => {
                return Ok(Opened { writer: Wrapping::Plain(Box::new(stream)), place: Place::Stream, written: 0 });
            }
            Self::File { path, force, wrapper } => (path, force, wrapper),
        };
        Error::check_name(path)?;
        let failed = |error| Error::writing(path, error);
        let (file, place) = match std::fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                return Err(Error::new(ErrorKind::Directory).in_file(path).with_help("use a file in it"));
            }
            // Devices and pipes have no content that could be destroyed, and no name to be given.
            Ok(about) if !about.is_file() => (File::options().write(true).open(path).map_err(failed)?, Place::Stream),
            Ok(_) if !force => return Err(Error::new(ErrorKind::Exists).in_file(path).with_help(USE_FORCE)),
            found => {
                let replaces = found.is_ok();
                let (file, temporary) = temporary(path).map_err(failed)?;
                let kept = file.try_clone().map_err(failed)?;
                (file, Place::File { file: kept, temporary, path: path.to_owned(), force, replaces })
            }
        };
        let file: Box<dyn Write + Send + 'a> = Box::new(file);
        let writer = match wrapper {
            Some(wrapper) => wrapper.writer(file).map_err(failed)?,
            None => Wrapping::Plain(file),
        };
        Ok(Opened { writer, place, written: 0 })
    }
}

/// An output that is being written.
pub(crate) struct Opened<'a> {
    writer: Wrapping<'a>,
    place: Place,
    written: u64,
}

/// An output that is whole, but not yet under its name.
pub(crate) struct FinishedOutput {
    place: Place,
    /// Bytes before compression.
    pub(crate) bytes: u64,
}

enum Place {
    Stream,
    File { file: File, temporary: TempPath, path: PathBuf, force: bool, replaces: bool },
}

impl Opened<'_> {
    /// Writes the last bytes.
    pub(crate) fn finish(self) -> io::Result<FinishedOutput> {
        self.writer.finish()?;
        Ok(FinishedOutput { place: self.place, bytes: self.written })
    }
}

impl Write for Opened<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.writer.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl FinishedOutput {
    /// Where the content can be read before it is kept.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Stream => None,
            Place::File { temporary, .. } => Some(temporary),
        }
    }

    /// Gives the file its name.
    pub(crate) fn keep(self) -> Result<(), Error> {
        let Place::File { file, temporary, path, force, replaces } = self.place else { return Ok(()) };
        if replaces {
            // Renaming is safe against a crash only once the new content is on the disk.
            file.sync_data().map_err(|error| Error::writing(&path, error))?;
        }
        let kept = if force { temporary.persist(&path) } else { temporary.persist_noclobber(&path) };
        let failed = if replaces { Error::replacing } else { Error::writing };
        kept.map_err(|error| failed(&path, error.error))
    }
}

fn temporary(path: &Path) -> io::Result<(File, TempPath)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".part");
    // Like any new file; without this only the owner could read the result.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.tempfile_in(folder)?.into_parts())
}

//! The file that a recording is fetched into. At every instant it has all blocks that came, so that whatever happens to us
//! the next one goes on with it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use logpose_refloat::rfrec::{HEAD, Head, Kind, MAGIC, Recording, TimeRef, WriteError, Writer};
use logpose_refloat::session::PartialRecording;
use serde_json::{Map, Value};

use super::error::FetchError;

/// A file that is written in place, block by block.
#[derive(Debug)]
pub(super) struct Target {
    path: PathBuf,
    file: File,
    state: State,
    /// Whether there was no such file before.
    is_new: bool,
    /// How many samples are there, and how many there should be.
    held: Option<(u32, u32)>,
    out: Vec<u8>,
}

#[derive(Debug)]
enum State {
    /// Nothing was written yet: the old bytes stay until the board has something else.
    Fresh,
    /// A part is there, of this length.
    Partial(Writer, u64),
    /// It is written to.
    Open(Writer),
}

impl Target {
    /// Opens a file, and reads what it has of a recording. Nothing of it is changed before there is something to write.
    pub(super) fn open(path: &Path, force: bool) -> Result<(Self, Option<PartialRecording>), FetchError> {
        let io = |error| FetchError::io(path, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let (mut file, is_new) = match options.clone().create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (options.open(path).map_err(io)?, false),
            Err(error) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                return Err(match folder.filter(|folder| !folder.exists()) {
                    Some(folder) => FetchError::NoFolder { folder: folder.to_owned() },
                    None => io(error),
                });
            }
        };
        // Where files cannot be locked, nobody is kept out.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(FetchError::InUse { path: path.to_owned() });
        }
        let mut target = Self {
            path: path.to_owned(),
            file: file.try_clone().map_err(io)?,
            state: State::Fresh,
            is_new,
            held: None,
            out: Vec::new(),
        };
        if is_new || force {
            return Ok((target, None));
        }
        let mut bytes = Vec::new();
        (&file).take(HEAD as u64).read_to_end(&mut bytes).map_err(io)?;
        // Somebody was killed before the first block.
        if bytes.len() < HEAD && MAGIC.starts_with(bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default()) {
            return Ok((target, None));
        }
        let other = |error| FetchError::NoRecording { path: path.to_owned(), error };
        Head::parse(&bytes).map_err(other)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        let (recording, whole) = Recording::resumable(&bytes).map_err(other)?;
        if recording.complete {
            return Err(FetchError::Complete { path: path.to_owned() });
        }
        let Some(header) = recording.payload(Kind::Header) else { return Ok((target, None)) };
        let samples = recording.runs().iter().map(|run| (run.index, recording.bytes(run).to_vec())).collect();
        target.held = Some((recording.held(), recording.size()));
        target.state = State::Partial(Writer::resume(&recording), whole);
        Ok((target, Some(PartialRecording { header: header.to_vec(), samples })))
    }

    /// How many samples are there, and how many there should be, if there is something of a recording.
    pub(super) fn held(&self) -> Option<(u32, u32)> {
        self.held
    }

    /// Begins a recording, unless a part of it is there.
    pub(super) fn begin(&mut self, front: &Front<'_>, size: u32) -> Result<(), FetchError> {
        if !matches!(self.state, State::Fresh) {
            return Ok(());
        }
        let mut writer = Writer::begin(&mut self.out);
        writer.meta(&front.meta, &mut self.out);
        if let Some(info) = front.info {
            writer.info(info, &mut self.out);
        }
        if let Some(status) = front.status {
            writer.status(status, &mut self.out);
        }
        writer.header(front.header, &mut self.out).map_err(|error| self.refused(error))?;
        self.cut(0)?;
        self.state = State::Open(writer);
        self.held = Some((0, size));
        self.write()
    }

    /// Appends samples.
    pub(super) fn samples(&mut self, index: u32, bytes: &[u8], count: u32) -> Result<(), FetchError> {
        self.append(|writer, out| writer.samples(index, bytes, out))?;
        if let Some((held, _)) = &mut self.held {
            *held = held.saturating_add(count);
        }
        Ok(())
    }

    /// Appends when a tick of the board was.
    pub(super) fn timeref(&mut self, timeref: &TimeRef) -> Result<(), FetchError> {
        self.append(|writer, out| {
            writer.timeref(timeref, out);
            Ok(())
        })
    }

    /// All samples are there: ends the file, and has the disk keep it.
    pub(super) fn complete(&mut self) -> Result<(), FetchError> {
        self.append(|writer, out| writer.end(out))?;
        self.sync()
    }

    /// Syncs the written bytes to disk.
    pub(super) fn sync(&self) -> Result<(), FetchError> {
        self.file.sync_all().map_err(|error| FetchError::io(&self.path, error))?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Also the name, where folders can be synced.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Removes a file that nothing came into.
    pub(super) fn discard_if_empty(&self) {
        if self.is_new && matches!(self.state, State::Fresh) {
            let _ = fs::remove_file(&self.path);
        }
    }

    fn append(
        &mut self,
        block: impl FnOnce(&mut Writer, &mut Vec<u8>) -> Result<(), WriteError>,
    ) -> Result<(), FetchError> {
        if let State::Partial(_, whole) = self.state {
            // A block that was not written to its end is written again.
            self.cut(whole)?;
        }
        let mut writer = match std::mem::replace(&mut self.state, State::Fresh) {
            State::Open(writer) | State::Partial(writer, _) => writer,
            State::Fresh => return Err(self.refused(WriteError::NoHeader)),
        };
        let result = block(&mut writer, &mut self.out).map_err(|error| self.refused(error));
        self.state = State::Open(writer);
        result.and_then(|()| self.write())
    }

    fn cut(&mut self, length: u64) -> Result<(), FetchError> {
        let io = |error| FetchError::io(&self.path, error);
        if self.file.metadata().map_err(io)?.len() != length {
            self.file.set_len(length).map_err(io)?;
        }
        self.file.seek(SeekFrom::Start(length)).map(|_| ()).map_err(io)
    }

    /// Gives the file what is to be in it.
    fn write(&mut self) -> Result<(), FetchError> {
        let written = self.file.write_all(&self.out);
        self.out.clear();
        written.map_err(|error| FetchError::io(&self.path, error))
    }

    fn refused(&self, error: WriteError) -> FetchError {
        FetchError::Write { path: self.path.clone(), error }
    }
}

/// What stands in front of the samples.
#[derive(Debug)]
pub(super) struct Front<'a> {
    pub(super) meta: Map<String, Value>,
    pub(super) info: Option<&'a [u8]>,
    pub(super) status: Option<&'a [u8]>,
    pub(super) header: &'a [u8],
}

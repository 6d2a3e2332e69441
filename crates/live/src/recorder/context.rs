use std::io;
use std::path::{Path, PathBuf};

use logpose_core::Time;

use super::disk::Disk;
use super::encoding::SegmentFormat;
use super::names::Names;
use super::segment::Segment;
use super::stats::RecordWatch;
use crate::{Batch, OutputError};

/// The settings and handles that all files of a recording share.
pub(super) struct Context {
    pub(super) disk: Box<dyn Disk>,
    pub(super) names: Names,
    pub(super) format: SegmentFormat,
    /// Whether files get a channel with the wall-clock time.
    pub(super) system_time: bool,
    pub(super) watch: RecordWatch,
    pub(super) flush_ns: i64,
    pub(super) sync_ns: i64,
    pub(super) keep_free: u64,
    /// What to add to a time of the log to get Unix nanoseconds, as far as it is known.
    pub(super) epoch_ns: Option<i64>,
}

/// One way in which what happens becomes files.
pub(super) trait Track: Send {
    /// Takes what happened.
    fn take(&mut self, context: &Context, batch: &Batch, now: Time) -> Result<(), OutputError>;
    /// Time went by.
    fn tick(&mut self, context: &Context, now: Time) -> Result<(), OutputError>;
    /// Closes its files whole. Doing it twice does nothing.
    fn finish(&mut self, context: &Context, now: Time) -> Result<(), OutputError>;
}

impl Context {
    /// A new file with this name.
    pub(super) fn create(&self, path: PathBuf) -> io::Result<Segment> {
        let file = self.disk.create(&path)?;
        self.watch.added(&path);
        Ok(Segment::new(path, None, file, self.system_time))
    }

    /// A new file that will take the place of `path` once it has samples.
    pub(super) fn create_instead(&self, path: &Path) -> io::Result<Segment> {
        let mut attempt = 0;
        loop {
            let hidden = self.names.hidden(attempt);
            match self.disk.create(&hidden) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
                file => {
                    let file = file?;
                    self.watch.added(&hidden);
                    return Ok(Segment::new(hidden, Some(path.to_owned()), file, self.system_time));
                }
            }
        }
    }

    /// A new file with the first free one of these names, from `number` on, which becomes the number taken.
    pub(super) fn create_free(&self, number: &mut u32, name: impl Fn(u32) -> PathBuf) -> Result<Segment, OutputError> {
        let first = *number;
        loop {
            let path = name(*number);
            match self.create(path.clone()) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && *number - first < ATTEMPTS => {
                    *number += 1
                }
                made => return made.map_err(|error| self.failed(&path, error)),
            }
        }
    }

    /// What to say when the disk took no more.
    pub(super) fn failed(&self, path: &Path, error: io::Error) -> OutputError {
        let saved = self.watch.bytes();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OutputError::NoSpace {
                folder: self.names.folder().to_owned(),
                free: self.disk.free(self.names.folder()).unwrap_or(0),
                keep: self.keep_free,
                saved,
            },
            _ => OutputError::Disk { path: path.to_owned(), error, saved },
        }
    }
}

/// Whether something that is to be done `after` nanoseconds after `since` must be done now, because the next chance may
/// come too late.
pub(super) fn is_due(since: Time, after: i64, now: Time) -> bool {
    now.since(since) > after.saturating_sub(TICK_NS)
}

/// At most so much time is between two calls.
const TICK_NS: i64 = 50_000_000;
/// So many names are tried before something else must be wrong.
const ATTEMPTS: u32 = 100_000;

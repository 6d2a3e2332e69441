//! Recordings that are whole at every instant.
//!
//! Samples are encoded as they come and given to the system in whole records, at once, every 250 ms; every second the
//! disk is made to keep them. So after `kill -9` or a full disk a file opens and lacks at most the flush interval, after
//! a loss of power the sync interval.
//!
//! A file is written in place, under its own name, which must not exist. To replace one, the new file has a hidden name
//! until its first samples are on the disk, and only then takes the place of the old one: there is no instant without
//! a whole file of that name. A recording that gets no sample replaces nothing.

mod context;
mod disk;
mod encoding;
mod error;
mod events;
mod last_values;
mod names;
mod plain;
mod queue;
mod restart;
mod ring;
mod segment;
mod stats;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::Path;

use logpose::ConvertOptions;
use logpose::bridges::mcap::McapOptions;
use logpose_core::{EncodeOptions, Problem, Severity, Time};

use crate::source_clock::SourceClock;
use crate::{Batch, Output, OutputError, Trigger};
use context::{Context, Track};
use disk::{Disk, Real};
use encoding::SegmentFormat;
use events::Events;
use names::Names;
use plain::Plain;
use ring::Ring;
use segment::Segment;

pub use error::RecordError;
pub use restart::Restarts;
pub use stats::{RecordStats, RecordWatch};

/// How to record.
///
/// With neither a ring nor a trigger there is one recording, split if so wished; with a ring there are segments, with a
/// trigger files of events, with both both.
pub struct RecordOptions {
    /// Whether an existing file may be replaced. Further files never replace any: they take the next free number.
    pub force: bool,
    /// Nanoseconds after which what came is in the file.
    pub flush_ns: i64,
    /// Nanoseconds after which what is in the file is on the disk.
    pub sync_ns: i64,
    /// Bytes that must stay free on the disk; below, the recording ends.
    pub keep_free: u64,
    /// When another file is begun.
    pub split: Option<SplitBy>,
    /// Nanoseconds of which segments are kept: `match.ring-0001.wpilog` and so on, each a tenth of it long.
    pub ring_ns: Option<i64>,
    /// What begins the file of an event: `match_event-001.wpilog` and so on.
    pub trigger: Option<Box<dyn Trigger>>,
    /// Nanoseconds before an event that go into its file.
    pub pre_ns: i64,
    /// Nanoseconds after an event that go into its file. Another event within them prolongs it.
    pub post_ns: i64,
    /// Bytes of memory for what may be asked for by an event to come.
    pub memory: usize,
    /// Which wall-clock time the times of samples are.
    pub epoch: Epoch,
    /// The settings of the encoder of a dialect.
    pub encode: EncodeOptions,
    /// How MCAP is written.
    pub mcap: McapOptions,
}

/// When another file is begun, besides when the robot was switched off and on. It begins with all channels and the last value of each, so that it stands alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SplitBy {
    /// When the file has about so many bytes: `match_002.wpilog`.
    Size(u64),
    /// After so many nanoseconds, as batches are received: `match_002.wpilog`.
    Time(i64),
    /// When the robot learns that it plays another match: `match_Q12.wpilog`.
    Match,
}

/// Which wall-clock time the times of samples are. WPILOG and MCAP can store it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Epoch {
    /// Nobody knows.
    #[default]
    Unknown,
    /// What to add to a time to get Unix nanoseconds.
    Known(i64),
    /// Reckoned from when samples are received, or from what the session knows. WPILOG repeats it every five seconds,
    /// as WPILib's own logs are; MCAP has what was known at the front of the file.
    Received,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            force: false,
            flush_ns: 250_000_000,
            sync_ns: SECOND,
            keep_free: 200_000_000,
            split: None,
            ring_ns: None,
            trigger: None,
            pre_ns: 5 * SECOND,
            post_ns: 5 * SECOND,
            memory: 64 << 20,
            epoch: Epoch::Unknown,
            encode: EncodeOptions::default(),
            mcap: McapOptions::default(),
        }
    }
}

impl fmt::Debug for RecordOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordOptions")
            .field("split", &self.split)
            .field("ring_ns", &self.ring_ns)
            .finish_non_exhaustive()
    }
}

/// Writes what happens to files. It blocks on the disk and on nothing else, and reads no clock: time is an argument.
///
/// Dropped without [`Output::finish`] it closes its files all the same; only nobody hears of errors.
pub struct Recorder {
    context: Context,
    tracks: Vec<Box<dyn Track>>,
    epoch: Epoch,
    /// How far the clock of the samples is from the wall clock, if nobody says.
    clock: SourceClock,
    /// What came before the epoch was known, where it stands in front of everything else.
    waiting: Vec<Batch>,
    now: Time,
    /// When the free space was looked at.
    looked: Option<Time>,
    over: bool,
}

impl Recorder {
    /// Begins a recording; the extension of `path` names the format.
    pub fn create(path: &Path, options: RecordOptions) -> Result<Self, RecordError> {
        Self::create_on(Box::new(Real), path, options)
    }

    fn create_on(disk: Box<dyn Disk>, path: &Path, options: RecordOptions) -> Result<Self, RecordError> {
        check(&options)?;
        let names = Names::new(path);
        let convert = ConvertOptions { encode: options.encode, mcap: options.mcap, ..ConvertOptions::default() };
        let format = SegmentFormat::of(path, convert)?;
        let is_plain = options.ring_ns.is_none() && options.trigger.is_none();
        let exists = check_place(&*disk, &names)?;
        if exists && is_plain && !options.force {
            return Err(RecordError::Exists { path: path.to_owned() });
        }
        let context = Context {
            disk,
            names,
            system_time: format.has_system_time() && options.epoch != Epoch::Unknown,
            format,
            watch: RecordWatch::default(),
            flush_ns: options.flush_ns,
            sync_ns: options.sync_ns,
            keep_free: options.keep_free,
            epoch_ns: match options.epoch {
                Epoch::Known(epoch_ns) => Some(epoch_ns),
                Epoch::Unknown | Epoch::Received => None,
            },
        };
        let (folder, keep) = (context.names.folder(), context.keep_free);
        match context.disk.free(folder) {
            Ok(free) if free < keep => return Err(RecordError::NoSpace { folder: folder.to_owned(), free, keep }),
            Ok(_) => {}
            Err(error) => {
                let message = format!("{}: {error}; nobody looks whether the disk gets full", folder.display());
                context.watch.problem(Problem::general(Severity::Note, "free-space-unknown", message));
            }
        }
        let lazy = context.format.begins_with_epoch() && options.epoch == Epoch::Received;
        let begin = |segment: &mut Segment| {
            let begun =
                if lazy { Ok(()) } else { segment.begin(&context).and_then(|()| segment.flush(&context, Time::ZERO)) };
            begun.map_err(|error| not_begun(path, error))
        };
        let mut tracks: Vec<Box<dyn Track>> = Vec::new();
        if is_plain {
            let created = if exists { context.create_instead(path) } else { context.create(path.to_owned()) };
            let mut segment = created.map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => RecordError::Exists { path: path.to_owned() },
                _ => RecordError::Io { path: path.to_owned(), error },
            })?;
            begin(&mut segment)?;
            tracks.push(Box::new(Plain::new(segment, options.split)));
        }
        if let Some(ring_ns) = options.ring_ns {
            let mut ring = Ring::new(&context, ring_ns).map_err(|error| not_begun(path, error))?;
            begin(ring.segment())?;
            tracks.push(Box::new(ring));
        }
        if let Some(trigger) = options.trigger {
            tracks.push(Box::new(Events::new(trigger, options.pre_ns, options.post_ns, options.memory)));
        }
        let (waiting, epoch) = (Vec::new(), options.epoch);
        Ok(Self {
            context,
            tracks,
            epoch,
            clock: SourceClock::default(),
            waiting,
            now: Time::MIN,
            looked: None,
            over: false,
        })
    }

    /// The facts of the recording, which stay readable from elsewhere while it goes on and after.
    #[must_use]
    pub fn watch(&self) -> RecordWatch {
        self.context.watch.clone()
    }

    fn record(&mut self, batch: &Batch) -> Result<(), OutputError> {
        let last = batch.channels().map(|(id, _)| u64::from(id) + 1).max();
        last.into_iter().for_each(|count| self.context.watch.channels(count));
        if self.epoch == Epoch::Received {
            let reckoned = batch.newest().map(|newest| self.clock.offset(newest, batch.received));
            self.context.epoch_ns = batch.clock_offset.or(reckoned).or(self.context.epoch_ns);
            if self.context.epoch_ns.is_none() && self.context.format.begins_with_epoch() {
                self.waiting.push(batch.clone());
                return Ok(());
            }
        }
        for waited in std::mem::take(&mut self.waiting) {
            self.tracks.iter_mut().try_for_each(|track| track.take(&self.context, &waited, self.now))?;
        }
        self.tracks.iter_mut().try_for_each(|track| track.take(&self.context, batch, self.now))
    }

    /// Ends the recording while there is still room to end it well.
    fn look_at_space(&mut self) -> Result<(), OutputError> {
        if self.looked.is_some_and(|looked| self.now.since(looked) < SECOND) {
            return Ok(());
        }
        self.looked = Some(self.now);
        let (folder, keep) = (self.context.names.folder().to_owned(), self.context.keep_free);
        match self.context.disk.free(&folder) {
            Ok(free) if free < keep => {
                self.close()?;
                Err(OutputError::NoSpace { folder, free, keep, saved: self.context.watch.bytes() })
            }
            _ => Ok(()),
        }
    }

    /// Closes all files, also those behind one that cannot be closed well.
    fn close(&mut self) -> Result<(), OutputError> {
        self.over = true;
        let mut first = Ok(());
        for waited in std::mem::take(&mut self.waiting) {
            let done = self.tracks.iter_mut().try_for_each(|track| track.take(&self.context, &waited, self.now));
            first = first.and(done);
        }
        for track in &mut self.tracks {
            let done = track.finish(&self.context, self.now);
            first = first.and(done);
        }
        first
    }

    /// After an error nothing more is written.
    fn settle(&mut self, done: Result<(), OutputError>) -> Result<(), OutputError> {
        if done.is_err() && !self.over {
            // The error that came first is the one to report.
            let _ = self.close();
        }
        done
    }
}

impl Output for Recorder {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        if self.over || batch.is_empty() {
            return Ok(());
        }
        self.now = self.now.max(batch.received);
        let done = self.record(batch).and_then(|()| self.look_at_space());
        self.settle(done)
    }

    fn tick(&mut self, now: Time) -> Result<(), OutputError> {
        if self.over {
            return Ok(());
        }
        self.now = self.now.max(now);
        let ticked = self.tracks.iter_mut().try_for_each(|track| track.tick(&self.context, self.now));
        let done = ticked.and_then(|()| self.look_at_space());
        self.settle(done)
    }

    fn finish(mut self: Box<Self>) -> Result<(), OutputError> {
        if self.over { Ok(()) } else { self.close() }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.close();
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("path", &self.context.names.path())
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

fn check(options: &RecordOptions) -> Result<(), RecordError> {
    let is_plain = options.ring_ns.is_none() && options.trigger.is_none();
    if options.split.is_some() && !is_plain {
        return Err(RecordError::Usage("segments and files of events are not split; leave the split or those away"));
    }
    if matches!(options.split, Some(SplitBy::Size(0))) {
        return Err(RecordError::Usage("a file cannot be split every 0 bytes"));
    }
    if matches!(options.split, Some(SplitBy::Time(..=0))) || options.ring_ns.is_some_and(|ns| ns <= 0) {
        return Err(RecordError::Usage("the time of a file or a ring must be greater than 0"));
    }
    if options.flush_ns < 0 || options.sync_ns < 0 || options.pre_ns < 0 || options.post_ns < 0 {
        return Err(RecordError::Usage("a length of time cannot be negative"));
    }
    Ok(())
}

/// Whether there is a file of that name, in a folder that can take one.
fn check_place(disk: &dyn Disk, names: &Names) -> Result<bool, RecordError> {
    let name = names.path().file_name().unwrap_or_default().to_string_lossy();
    if cfg!(windows) && logpose::bridges::is_reserved(&name) {
        return Err(RecordError::Reserved { path: names.path().to_owned() });
    }
    let folder = names.folder();
    match disk.is_folder(names.path()) {
        Some(true) => return Err(RecordError::Directory { path: names.path().to_owned() }),
        None if disk.is_folder(folder) != Some(true) => {
            return Err(RecordError::NoFolder { folder: folder.to_owned() });
        }
        _ => {}
    }
    disk.check_folder(folder).map_err(|error| RecordError::Io { path: folder.to_owned(), error })?;
    Ok(disk.is_folder(names.path()).is_some())
}

fn not_begun(path: &Path, error: OutputError) -> RecordError {
    match error {
        OutputError::NoSpace { folder, free, keep, .. } => RecordError::NoSpace { folder, free, keep },
        OutputError::Io(error) | OutputError::Disk { error, .. } => RecordError::Io { path: path.to_owned(), error },
        other => RecordError::Format { path: path.to_owned(), reason: other.to_string() },
    }
}

const SECOND: i64 = 1_000_000_000;

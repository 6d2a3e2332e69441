//! One file of a recording, from its first byte to its last.

use std::path::{Path, PathBuf};

use logpose::frc::{SYSTEM_TIME, SYSTEM_TIME_METADATA};
use logpose_core::{
    Channel, ChannelId, EncodeError, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Value,
};

use super::disk::DiskFile;
use super::form::Form;
use super::held::Held;
use super::kit::{Kit, is_due};
use super::queue::{Queue, What};
use crate::{Batch, OutputError};

/// A file that is being written. Bytes go to it only at a flush, and then whole records at once.
pub(super) struct Segment {
    path: PathBuf,
    /// The name that the file gets with its first samples, where it is to replace another one.
    replaces: Option<PathBuf>,
    /// `None` once it is closed.
    file: Option<Box<dyn DiskFile>>,
    /// `None` before the first byte.
    form: Option<Form>,
    writing: Writing,
    /// Bytes in the file, all of them whole records.
    whole: u64,
    /// Samples in the file, without those that it began with.
    samples: u64,
    /// When the first of what is pending came.
    oldest: Option<Time>,
    /// Since when something is in the file that would not outlast a loss of power.
    unsynced: Option<Time>,
    /// Whether the name of the file would.
    name_synced: bool,
}

impl Segment {
    /// An empty file. Nothing is written to it before [`Segment::begin`].
    pub(super) fn new(path: PathBuf, replaces: Option<PathBuf>, file: Box<dyn DiskFile>, system_time: bool) -> Self {
        let own = if system_time { Own::Waiting } else { Own::None };
        Self {
            path,
            replaces,
            file: Some(file),
            form: None,
            writing: Writing { own, ..Writing::default() },
            whole: 0,
            samples: 0,
            oldest: None,
            unsynced: None,
            name_synced: false,
        }
    }

    /// The name that the file has now.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Samples in it and on the way to it.
    pub(super) fn samples(&self) -> u64 {
        self.samples + self.writing.samples
    }

    /// Bytes in it and on the way to it, about.
    pub(super) fn size(&self) -> u64 {
        self.whole + self.writing.size() as u64
    }

    /// Makes what stands before everything else.
    pub(super) fn begin(&mut self, kit: &Kit) -> Result<(), OutputError> {
        if self.form.is_none() {
            let mut form = kit.forms.make(kit.epoch_ns)?;
            form.begin(&mut self.writing.pending);
            self.writing.queue = form.needs_time_order().then(Queue::default);
            self.form = Some(form);
        }
        Ok(())
    }

    /// Begins in the middle of things: with all channels and their values.
    pub(super) fn begin_with(&mut self, held: &Held, kit: &Kit) -> Result<(), OutputError> {
        self.play(kit, |sink| held.play(sink))?;
        self.writing.samples = 0;
        let missing = held.missing();
        if missing > 0 {
            let message = format!("{missing} channels have values too large to repeat at the start of the next file");
            kit.watch.problem(Problem::general(Severity::Warning, "not-repeated", message));
        }
        Ok(())
    }

    /// Takes what happened; it stays in memory until the next flush.
    pub(super) fn take(&mut self, batch: &Batch, kit: &Kit, now: Time) -> Result<(), OutputError> {
        self.oldest.get_or_insert(now);
        self.play(kit, |sink| batch.play(sink))
    }

    fn play(
        &mut self,
        kit: &Kit,
        play: impl FnOnce(&mut dyn Sink) -> Result<(), SinkError>,
    ) -> Result<(), OutputError> {
        self.begin(kit)?;
        let Some(form) = &mut self.form else { return Ok(()) };
        self.writing.epoch_ns = kit.epoch_ns;
        Ok(play(&mut Into { form, writing: &mut self.writing })?)
    }

    /// Flushes and syncs what it is time for.
    pub(super) fn tick(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        if self.oldest.is_some_and(|oldest| is_due(oldest, kit.flush_ns, now)) || self.writing.size() >= PENDING {
            self.flush(kit, now)?;
        }
        if self.unsynced.is_some_and(|since| is_due(since, kit.sync_ns, now)) {
            self.sync(kit)?;
        }
        Ok(())
    }

    /// Writes everything that is pending, at once. If that fails, the file is cut back to what it was, and closed.
    pub(super) fn flush(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        self.oldest = None;
        if let Some(form) = &mut self.form {
            self.writing.seal(form)?;
        }
        kit.watch.problems(std::mem::take(&mut self.writing.problems));
        kit.watch.late(std::mem::take(&mut self.writing.new_late));
        let samples = std::mem::take(&mut self.writing.samples);
        let Some(file) = self.file.as_mut().filter(|_| !self.writing.pending.is_empty()) else { return Ok(()) };
        if let Err(error) = file.write_all(&self.writing.pending) {
            self.cut_back(kit);
            return Err(kit.failed(&self.path, error));
        }
        let bytes = self.writing.pending.len() as u64;
        self.writing.pending.clear();
        self.writing.pending.shrink_to(2 * PENDING);
        self.whole += bytes;
        self.samples += samples;
        self.unsynced.get_or_insert(now);
        kit.watch.wrote(bytes, samples, now);
        if samples > 0 && self.replaces.is_some() {
            self.replace(kit)?;
        }
        Ok(())
    }

    /// Takes the place of the file that is to be replaced.
    ///
    /// Renaming is safe against a loss of power only once the new content is on the disk.
    fn replace(&mut self, kit: &Kit) -> Result<(), OutputError> {
        self.sync(kit)?;
        let Some(path) = self.replaces.take() else { return Ok(()) };
        if let Err(error) = kit.disk.rename(&self.path, &path) {
            let error = kit.failed(&path, error);
            self.file = None;
            return Err(error);
        }
        kit.watch.renamed(&self.path, &path);
        self.path = path;
        self.name_synced = false;
        self.sync_name(kit);
        Ok(())
    }

    fn sync(&mut self, kit: &Kit) -> Result<(), OutputError> {
        self.unsynced = None;
        let Some(file) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.sync() {
            self.file = None;
            return Err(kit.failed(&self.path, error));
        }
        self.sync_name(kit);
        Ok(())
    }

    /// Not every file system can do this, and none is worse for it.
    fn sync_name(&mut self, kit: &Kit) {
        if !std::mem::replace(&mut self.name_synced, true) {
            let _ = kit.disk.sync_folder(kit.names.folder());
        }
    }

    /// After a write that was not whole.
    fn cut_back(&mut self, kit: &Kit) {
        let Some(mut file) = self.file.take() else { return };
        if self.whole == 0 || self.replaces.is_some() {
            // It holds nothing that anybody would miss.
            drop(file);
            self.remove(kit);
            return;
        }
        if let Err(error) = file.truncate(self.whole).and_then(|()| file.sync()) {
            let path = self.path.display();
            let message = format!("{path}: could not cut off an incomplete record at the end: {error}");
            kit.watch.problem(Problem::general(Severity::Warning, "cut-tail", message));
        }
    }

    fn remove(&mut self, kit: &Kit) {
        if kit.disk.remove(&self.path).is_ok() {
            kit.watch.removed(&self.path, self.whole);
        }
    }

    /// Writes what stands at the end, and closes the file. Doing it twice does nothing.
    pub(super) fn finish(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        if self.file.is_none() {
            return Ok(());
        }
        if self.replaces.is_some() && self.samples() == 0 {
            // Nothing came: the file of before is worth more than an empty one.
            self.file = None;
            self.remove(kit);
            let message = "nothing was recorded; the existing file was kept";
            kit.watch.problem(Problem::general(Severity::Note, "not-replaced", message));
            return Ok(());
        }
        self.begin(kit)?;
        self.flush(kit, now)?;
        if let Some(form) = self.form.take() {
            let problems = form.finish(&mut self.writing.pending)?;
            problems.into_iter().for_each(|problem| kit.watch.problem(problem));
        }
        let late = self.writing.late;
        if late > 0 {
            let message = format!("{late} samples arrived after later ones were written and got their timestamps");
            kit.watch.problem(Problem::general(Severity::Warning, "late", message));
        }
        self.flush(kit, now)?;
        self.sync(kit)?;
        self.file = None;
        Ok(())
    }
}

/// What is on its way into a file.
#[derive(Default)]
struct Writing {
    /// Bytes of whole records.
    pending: Vec<u8>,
    /// What waits to be put in order, where the format needs that.
    queue: Option<Queue>,
    /// By channel, whether the file knows it.
    declared: Vec<bool>,
    samples: u64,
    /// The latest time that was encoded, where the format needs the order of time.
    last: Option<Time>,
    late: u64,
    new_late: u64,
    problems: Problems,
    own: Own,
    epoch_ns: Option<i64>,
    /// When the wall-clock time was told last.
    told: Option<Time>,
}

/// The state of the channel that tells the wall-clock time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Own {
    /// The format has none.
    #[default]
    None,
    /// It is to come before the first sample.
    Waiting,
    /// It is there.
    Written,
    /// A source has a channel of that name.
    Ceded,
}

impl Writing {
    fn size(&self) -> usize {
        self.pending.len() + self.queue.as_ref().map_or(0, Queue::size)
    }

    /// The number that the file knows a channel by: one of our own may stand in front.
    fn id(&self, id: ChannelId) -> ChannelId {
        if self.own == Own::None { id } else { id.saturating_add(1) }
    }

    /// Puts in order what has to be, and makes bytes of everything.
    fn seal(&mut self, form: &mut Form) -> Result<(), SinkError> {
        if let Some(mut queue) = self.queue.take() {
            let mut last = self.last;
            let done = queue.drain(&mut last, |what| match what {
                What::Samples(samples) => self.encode(form, samples),
                What::Metadata(channel, time, text) => form.metadata(channel, time, text, &mut self.pending),
                What::End(channel, time) => form.end(channel, time, &mut self.pending),
            });
            self.last = last;
            self.queue = Some(queue);
            self.new_late = done?;
            self.late += self.new_late;
        }
        form.seal(&mut self.pending)
    }

    /// Makes bytes of samples. What the format cannot represent is left out and reported; only what makes it impossible
    /// to go on is an error.
    fn encode(&mut self, form: &mut Form, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let mut pending = std::mem::take(&mut self.pending);
        let done = form.samples(samples, &mut pending, &mut |error| {
            self.samples = self.samples.saturating_sub(1);
            self.refused(&error);
        });
        self.pending = pending;
        done
    }

    fn refused(&mut self, error: &EncodeError) {
        let message = format!("{error}; skipped");
        self.problems.push(Problem::general(Severity::Damage, "refused", message));
    }
}

/// A sink that leads into a file.
struct Into<'a> {
    form: &'a mut Form,
    writing: &'a mut Writing,
}

impl Into<'_> {
    /// Tells the wall-clock time of a moment, as DataLogManager does.
    fn system_time(&mut self, time: Time) -> Result<(), SinkError> {
        let Some(epoch_ns) = self.writing.epoch_ns else { return Ok(()) };
        if self.writing.own == Own::Waiting {
            self.writing.own = Own::Written;
            let metadata = SYSTEM_TIME_METADATA.to_owned();
            let channel = Channel { metadata, ..Channel::new(SYSTEM_TIME, "int64") };
            self.form.channel(OWN, &channel, &mut self.writing.pending)?;
        }
        self.writing.told = Some(time);
        let value = Value::Int64(time.plus(epoch_ns).micros());
        // A number is never refused.
        self.form.samples(&[Sample { channel: OWN, time, value }], &mut self.writing.pending, &mut |_| {})
    }

    fn cede(&mut self) -> Result<(), SinkError> {
        let before = std::mem::replace(&mut self.writing.own, Own::Ceded);
        if before == Own::Written {
            let time = self.writing.last.unwrap_or_default();
            self.form.end(OWN, time, &mut self.writing.pending)?;
        }
        Ok(())
    }
}

impl Sink for Into<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        if channel.name == SYSTEM_TIME && matches!(self.writing.own, Own::Waiting | Own::Written) {
            self.cede()?;
        }
        let place = id as usize;
        if self.writing.declared.len() <= place {
            self.writing.declared.resize(place + 1, false);
        }
        let known = self.writing.declared.get_mut(place).is_some_and(|known| std::mem::replace(known, true));
        if known {
            // A source that came back. The encoder would take it for another channel of the same name.
            return self.metadata(id, self.writing.last.unwrap_or_default(), &channel.metadata);
        }
        let id = self.writing.id(id);
        match self.form.channel(id, channel, &mut self.writing.pending) {
            Err(SinkError::Refused(error)) => {
                self.writing.declared.get_mut(place).into_iter().for_each(|known| *known = false);
                self.writing.refused(&error);
                Ok(())
            }
            done => done,
        }
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        if let Some(newest) = samples.iter().map(|sample| sample.time).max() {
            match self.writing.own {
                Own::Waiting => self.system_time(newest)?,
                // A clock that stepped back is told of at once.
                Own::Written if self.writing.told.is_none_or(|told| newest.since(told).abs() >= TELL_EVERY) => {
                    self.system_time(newest)?;
                }
                _ => {}
            }
        }
        let mut taken = Vec::with_capacity(samples.len());
        for sample in samples {
            if !self.writing.declared.get(sample.channel as usize).is_some_and(|known| *known) {
                let message = "skipped a sample of a channel that was not declared or was rejected";
                self.writing.problems.push(Problem::general(Severity::Damage, "undeclared", message));
                continue;
            }
            taken.push(Sample { channel: self.writing.id(sample.channel), ..*sample });
        }
        self.writing.samples += taken.len() as u64;
        match &mut self.writing.queue {
            Some(queue) => taken.iter().for_each(|sample| queue.sample(sample)),
            None => {
                self.writing.last = self.writing.last.max(taken.iter().map(|sample| sample.time).max());
                self.writing.encode(self.form, &taken)?;
            }
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let id = self.writing.id(id);
        match &mut self.writing.queue {
            Some(queue) => queue.metadata(id, time, metadata),
            None => self.form.metadata(id, time, metadata, &mut self.writing.pending)?,
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let id = self.writing.id(id);
        match &mut self.writing.queue {
            Some(queue) => queue.end(id, time),
            None => self.form.end(id, time, &mut self.writing.pending)?,
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `Live` collects the problems of its sources, for all outputs.
    }
}

/// How often the wall-clock time is told, in nanoseconds: as often as DataLogManager does.
const TELL_EVERY: i64 = 5_000_000_000;
/// The number of our own channel.
const OWN: ChannelId = 0;
/// So many pending bytes are written at once, whatever the flush interval.
const PENDING: usize = 1 << 20;

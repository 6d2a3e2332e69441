//! One file of a recording, from its first byte to its last.

use std::io;
use std::path::{Path, PathBuf};

use logpose::frc::{SYSTEM_TIME, SYSTEM_TIME_METADATA};
use logpose_core::{
    Channel, ChannelId, Encode, EncodeError, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Value,
};

use super::context::{Context, is_due};
use super::disk::DiskFile;
use super::last_values::LastValues;
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
    encoder: Option<Box<dyn Encode>>,
    writing: Writing,
    /// Bytes in the file, all of them whole records, without those of an end that is not the last.
    whole: u64,
    /// Bytes in the file with such an end.
    length: u64,
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
            encoder: None,
            writing: Writing { own, ..Writing::default() },
            whole: 0,
            length: 0,
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
    pub(super) fn begin(&mut self, context: &Context) -> Result<(), OutputError> {
        if self.encoder.is_none() {
            let mut encoder = context.format.make(context.epoch_ns)?;
            encoder.begin(&mut self.writing.pending);
            self.writing.queue = encoder.needs_time_order().then(Queue::default);
            self.encoder = Some(encoder);
        }
        Ok(())
    }

    /// Begins in the middle of things: with all channels and their values.
    pub(super) fn begin_with(&mut self, last: &LastValues, context: &Context) -> Result<(), OutputError> {
        self.play(context, |sink| last.play(sink))?;
        self.writing.samples = 0;
        let missing = last.missing();
        if missing > 0 {
            let message = format!("{missing} channels have values too large to repeat at the start of the next file");
            context.watch.problem(Problem::general(Severity::Warning, "not-repeated", message));
        }
        Ok(())
    }

    /// Takes what happened; it stays in memory until the next flush.
    pub(super) fn take(&mut self, batch: &Batch, context: &Context, now: Time) -> Result<(), OutputError> {
        self.oldest.get_or_insert(now);
        self.play(context, |sink| batch.play(sink))
    }

    fn play(
        &mut self,
        context: &Context,
        play: impl FnOnce(&mut dyn Sink) -> Result<(), SinkError>,
    ) -> Result<(), OutputError> {
        self.begin(context)?;
        let Some(encoder) = &mut self.encoder else { return Ok(()) };
        self.writing.epoch_ns = context.epoch_ns;
        Ok(play(&mut SegmentSink { encoder: &mut **encoder, writing: &mut self.writing })?)
    }

    /// Flushes and syncs what it is time for.
    pub(super) fn tick(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        if self.oldest.is_some_and(|oldest| is_due(oldest, context.flush_ns, now)) || self.writing.size() >= PENDING {
            self.flush(context, now)?;
        }
        if self.unsynced.is_some_and(|since| is_due(since, context.sync_ns, now)) {
            self.sync(context)?;
        }
        Ok(())
    }

    /// Writes everything that is pending, at once. If that fails, the file is cut back to what it was, and closed.
    pub(super) fn flush(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.oldest = None;
        if let Some(encoder) = &mut self.encoder {
            self.writing.seal(&mut **encoder)?;
        }
        context.watch.problems(std::mem::take(&mut self.writing.problems));
        context.watch.late(std::mem::take(&mut self.writing.new_late));
        let samples = std::mem::take(&mut self.writing.samples);
        if self.file.is_none() || self.writing.pending.is_empty() {
            return Ok(());
        }
        let bytes = self.writing.pending.len() as u64;
        if let Err(error) = self.append(context) {
            self.cut_back(context);
            return Err(context.failed(&self.path, error));
        }
        let length = self.whole + self.writing.pending.len() as u64;
        self.writing.pending.clear();
        self.writing.pending.shrink_to(2 * PENDING);
        self.whole += bytes;
        self.samples += samples;
        self.unsynced.get_or_insert(now);
        context.watch.wrote(length.saturating_sub(self.length), samples, now);
        self.length = length;
        if samples > 0 && self.replaces.is_some() {
            self.replace(context)?;
        }
        Ok(())
    }

    /// Writes what is pending behind what the file has, with an end behind it where the format needs one.
    ///
    /// A file that has an end has one at every moment: what is written first is the new one, with room in front of it.
    /// The old one, in the middle now, stays until all that follows it is there, and goes in one small write.
    fn append(&mut self, context: &Context) -> io::Result<()> {
        let Self { file: Some(file), writing, whole, encoder, length, .. } = self else { return Ok(()) };
        let (front, back) = context.format.end();
        // Without an encoder this is the last of the file, with an end of its own.
        if encoder.is_some() {
            writing.pending.extend_from_slice(front);
            writing.pending.extend_from_slice(back);
        }
        let old = usize::try_from(length.saturating_sub(*whole)).unwrap_or(usize::MAX);
        let parts = writing.pending.split_at_checked(writing.pending.len().saturating_sub(back.len()));
        let parts = parts.and_then(|(body, end)| Some((body.split_at_checked(old)?, end)));
        let Some(((first, rest), end)) = parts.filter(|_| old > 0) else {
            return file.write_at(*whole, &writing.pending);
        };
        let (behind, last) = (*length, *whole + (first.len() + rest.len()) as u64);
        file.write_at(last, back)?;
        file.write_at(behind, rest)?;
        file.write_at(*whole, first)?;
        if end == back { Ok(()) } else { file.write_at(last, end) }
    }

    /// Takes the place of the file that is to be replaced.
    ///
    /// Renaming is safe against a loss of power only once the new content is on the disk.
    fn replace(&mut self, context: &Context) -> Result<(), OutputError> {
        self.sync(context)?;
        let Some(path) = self.replaces.take() else { return Ok(()) };
        if let Err(error) = context.disk.rename(&self.path, &path) {
            let error = context.failed(&path, error);
            self.file = None;
            return Err(error);
        }
        context.watch.renamed(&self.path, &path);
        self.path = path;
        self.name_synced = false;
        self.sync_name(context);
        Ok(())
    }

    fn sync(&mut self, context: &Context) -> Result<(), OutputError> {
        self.unsynced = None;
        let Some(file) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.sync() {
            self.file = None;
            return Err(context.failed(&self.path, error));
        }
        self.sync_name(context);
        Ok(())
    }

    /// Not every file system can do this, and none is worse for it.
    fn sync_name(&mut self, context: &Context) {
        if !std::mem::replace(&mut self.name_synced, true) {
            let _ = context.disk.sync_folder(context.names.folder());
        }
    }

    /// After a write that was not whole.
    fn cut_back(&mut self, context: &Context) {
        let Some(mut file) = self.file.take() else { return };
        if self.whole == 0 || self.replaces.is_some() {
            // It holds nothing that anybody would miss.
            drop(file);
            self.remove(context);
            return;
        }
        let (front, back) = context.format.end();
        let end = if self.length > self.whole { [front, back].concat() } else { Vec::new() };
        let restored = file.write_at(self.whole, &end).and_then(|()| file.truncate(self.length));
        if let Err(error) = restored.and_then(|()| file.sync()) {
            let path = self.path.display();
            let message = format!("{path}: could not cut off an incomplete record at the end: {error}");
            context.watch.problem(Problem::general(Severity::Warning, "cut-tail", message));
        }
    }

    fn remove(&mut self, context: &Context) {
        if context.disk.remove(&self.path).is_ok() {
            context.watch.removed(&self.path, self.length);
        }
    }

    /// Writes what stands at the end, and closes the file. Doing it twice does nothing.
    pub(super) fn finish(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        if self.file.is_none() {
            return Ok(());
        }
        if self.replaces.is_some() && self.samples() == 0 {
            // Nothing came: the file of before is worth more than an empty one.
            self.file = None;
            self.remove(context);
            let message = "nothing was recorded; the existing file was kept";
            context.watch.problem(Problem::general(Severity::Note, "not-replaced", message));
            return Ok(());
        }
        self.begin(context)?;
        self.flush(context, now)?;
        if let Some(mut encoder) = self.encoder.take() {
            let problems = encoder.finish(&mut self.writing.pending);
            problems.into_iter().for_each(|problem| context.watch.problem(problem));
        }
        let late = self.writing.late;
        if late > 0 {
            let message = format!("{late} samples arrived after later ones were written and got their timestamps");
            context.watch.problem(Problem::general(Severity::Warning, "late", message));
        }
        self.flush(context, now)?;
        self.sync(context)?;
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
    /// When the wall-clock time was written last.
    wall_written: Option<Time>,
}

/// The state of the channel of the wall-clock time.
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
    fn seal(&mut self, encoder: &mut dyn Encode) -> Result<(), SinkError> {
        if let Some(mut queue) = self.queue.take() {
            let mut last = self.last;
            let done = queue.drain(&mut last, |what| match what {
                What::Samples(samples) => self.encode(encoder, samples),
                What::Metadata(channel, time, text) => Ok(encoder.metadata(channel, time, text, &mut self.pending)?),
                What::End(channel, time) => Ok(encoder.end(channel, time, &mut self.pending)?),
            });
            self.last = last;
            self.queue = Some(queue);
            self.new_late = done?;
            self.late += self.new_late;
        }
        Ok(encoder.seal(&mut self.pending)?)
    }

    /// Makes bytes of samples. What the format cannot represent is left out and reported; only what makes it impossible
    /// to go on is an error.
    fn encode(&mut self, encoder: &mut dyn Encode, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let mut rest = samples;
        while let Err(error) = encoder.samples(rest, &mut self.pending) {
            let Some(place) = error.sample else { return Err(error.into()) };
            self.samples = self.samples.saturating_sub(1);
            self.refused(&error);
            rest = rest.get(place + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn refused(&mut self, error: &EncodeError) {
        let message = format!("{error}; skipped");
        self.problems.push(Problem::general(Severity::Damage, "refused", message));
    }
}

/// Writes a batch into a segment.
struct SegmentSink<'a> {
    encoder: &'a mut dyn Encode,
    writing: &'a mut Writing,
}

impl SegmentSink<'_> {
    /// Writes the wall-clock time of `time`, as DataLogManager does.
    fn system_time(&mut self, time: Time) -> Result<(), SinkError> {
        let Some(epoch_ns) = self.writing.epoch_ns else { return Ok(()) };
        if self.writing.own == Own::Waiting {
            self.writing.own = Own::Written;
            let metadata = SYSTEM_TIME_METADATA.to_owned();
            let channel = Channel { metadata, ..Channel::new(SYSTEM_TIME, "int64") };
            self.encoder.channel(OWN, &channel, &mut self.writing.pending)?;
        }
        self.writing.wall_written = Some(time);
        let value = Value::Int64(time.plus(epoch_ns).micros());
        Ok(self.encoder.samples(&[Sample { channel: OWN, time, value }], &mut self.writing.pending)?)
    }

    fn cede(&mut self) -> Result<(), SinkError> {
        let before = std::mem::replace(&mut self.writing.own, Own::Ceded);
        if before == Own::Written {
            let time = self.writing.last.unwrap_or_default();
            self.encoder.end(OWN, time, &mut self.writing.pending)?;
        }
        Ok(())
    }
}

impl Sink for SegmentSink<'_> {
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
        if let Err(error) = self.encoder.channel(id, channel, &mut self.writing.pending) {
            self.writing.declared.get_mut(place).into_iter().for_each(|known| *known = false);
            self.writing.refused(&error);
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        if let Some(newest) = samples.iter().map(|sample| sample.time).max() {
            match self.writing.own {
                Own::Waiting => self.system_time(newest)?,
                // A clock that stepped back is written at once.
                Own::Written
                    if self.writing.wall_written.is_none_or(|last| newest.since(last).abs() >= WRITE_EVERY) =>
                {
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
                self.writing.encode(self.encoder, &taken)?;
            }
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let id = self.writing.id(id);
        match &mut self.writing.queue {
            Some(queue) => queue.metadata(id, time, metadata),
            None => self.encoder.metadata(id, time, metadata, &mut self.writing.pending)?,
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let id = self.writing.id(id);
        match &mut self.writing.queue {
            Some(queue) => queue.end(id, time),
            None => self.encoder.end(id, time, &mut self.writing.pending)?,
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `Live` collects the problems of its sources, for all outputs.
    }
}

/// How often the wall-clock time is written, in nanoseconds: as often as DataLogManager does.
const WRITE_EVERY: i64 = 5_000_000_000;
/// The number of our own channel.
const OWN: ChannelId = 0;
/// So many pending bytes are written at once, whatever the flush interval.
const PENDING: usize = 1 << 20;

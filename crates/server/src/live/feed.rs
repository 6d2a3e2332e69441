use std::sync::Arc;
use std::time::Instant;

use logpose::frc::Role;
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Problem, Sample, Severity, Sink, SinkError, Time, Type, Value};
use logpose_live::{Batch, Output, OutputError};

use super::story::Watched;
use super::timing::Timing;
use super::{Book, Inner, lock};

/// Takes in what a source tells.
pub(super) struct Feed {
    inner: Arc<Inner>,
    timing: Timing,
    /// By the numbers of the source.
    known: Vec<Option<Known>>,
}

/// A channel that is kept.
#[derive(Clone, Copy)]
struct Known {
    id: ChannelId,
    ty: Type,
    is_schema: bool,
    role: Option<Role>,
    watched: Option<Watched>,
}

impl Feed {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        let timing = Timing::new(inner.options.clock);
        Self { inner, timing, known: Vec::new() }
    }
}

impl Output for Feed {
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError> {
        let inner = Arc::clone(&self.inner);
        let restarted = self.timing.begin(batch);
        let mut playing = Playing { feed: self, inner: &inner, batch, restarted, newest: None };
        // It refuses nothing.
        let _ = batch.play(&mut playing);
        let newest = playing.newest;
        self.timing.end(newest, batch.received);
        let mut book = lock(&inner.book);
        book.newest = self.timing.newest();
        book.epoch_ns = self.timing.epoch_ns();
        if book.begun.is_none() || batch.clock_offset.is_some() {
            book.begun = self.timing.begun().or(book.begun);
        }
        if let Some((newest, _)) = book.newest {
            book.story.reach(newest);
        }
        Ok(())
    }

    fn tick(&mut self, _: Time) -> Result<(), OutputError> {
        // A mode is known also when nothing else comes.
        let mut book = lock(&self.inner.book);
        if let Some(now) = book.now(Instant::now()) {
            book.story.reach(now);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), OutputError> {
        lock(&self.inner.book).story.finish();
        Ok(())
    }
}

/// One batch that is taken in.
struct Playing<'p> {
    feed: &'p mut Feed,
    inner: &'p Inner,
    batch: &'p Batch,
    restarted: bool,
    newest: Option<Time>,
}

impl Playing<'_> {
    fn known(&self, own: ChannelId) -> Option<Known> {
        self.feed.known.get(own as usize).copied().flatten()
    }
}

impl Sink for Playing<'_> {
    fn channel(&mut self, own: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = own as usize;
        if place >= MOST_NUMBERS {
            return Ok(());
        }
        let known = &mut self.feed.known;
        if known.len() <= place {
            known.resize(place + 1, None);
        }
        let mut book = lock(&self.inner.book);
        let declared = book.declare(&self.inner.tape, channel);
        let found = declared.map(|id| Known {
            id,
            ty: channel.ty(),
            is_schema: Registry::is_schema(&channel.name, &channel.type_name),
            role: book.story.role(channel),
            watched: book.story.watch(id, channel),
        });
        if let Some(known) = known.get_mut(place) {
            *known = found;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let mut kept: Vec<(ChannelId, Time, Value<'_>)> = Vec::with_capacity(samples.len());
        let mut watched: Vec<(Known, Time, Value<'_>)> = Vec::new();
        let mut misfits = 0_u64;
        for cycle in samples.chunk_by(|a, b| a.time == b.time) {
            let Some(own) = cycle.first().map(|sample| sample.time) else { continue };
            let time = self.feed.timing.time(own, self.batch);
            for sample in cycle {
                let Some(known) = self.known(sample.channel) else { continue };
                if known.ty != sample.value.ty() {
                    misfits += 1;
                    continue;
                }
                self.newest = self.newest.max(Some(time));
                kept.push((known.id, time, sample.value));
                if known.is_schema || known.role.is_some() || known.watched.is_some() {
                    watched.push((known, time, sample.value));
                }
            }
        }
        // Schemas first: who sees a value in the log can then read it.
        if !watched.is_empty() || misfits > 0 || self.restarted {
            let mut book = lock(&self.inner.book);
            if std::mem::take(&mut self.restarted)
                && let Some((_, time, _)) = kept.first()
            {
                book.story.restart(*time);
            }
            for (known, _, value) in watched.iter().filter(|(known, ..)| known.is_schema) {
                if let Value::String(payload) | Value::Bytes(payload) = value {
                    book.explain(known.id, payload);
                }
            }
            book.settle();
            watched.iter().for_each(|(known, time, value)| book.heed(known, *time, value));
            if misfits > 0 {
                let message = format!("{misfits} values are not of the type of their channel");
                book.problems.push(Problem::general(Severity::Damage, "misfit", message));
            }
        }
        self.inner.tape.write(kept.into_iter());
        Ok(())
    }

    fn metadata(&mut self, own: ChannelId, _: Time, metadata: &str) -> Result<(), SinkError> {
        if let Some(known) = self.known(own) {
            lock(&self.inner.book).describe(known.id, metadata);
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        lock(&self.inner.book).problems.push(problem);
    }
}

impl Book {
    /// Takes in a sample that means more than a point on a line.
    fn heed(&mut self, known: &Known, time: Time, value: &Value<'_>) {
        if let Some(role) = known.role {
            self.story.mode(role, time, value, self.explained.registry());
        }
        if let Some(watched) = known.watched {
            let name = self.channels.get(known.id as usize).map_or("", |channel| &channel.name);
            self.story.heed(watched, known.id, name, time, value);
        }
    }
}

/// No source counts its channels further.
const MOST_NUMBERS: usize = 1 << 20;

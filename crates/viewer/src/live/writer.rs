use std::sync::Arc;
use std::time::Instant;

use logpose::frc::{Level, Role};
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Problem, Sample, Severity, Sink, SinkError, Time, Type, Value};

use super::tracker::WatchedChannel;
use super::{Inner, LiveLog, LiveState, lock};
use crate::findings::Finding;

/// Adds what a source sends to a live log, batch by batch.
pub struct LiveWriter {
    inner: Arc<Inner>,
    /// By the numbers of the source.
    known: Vec<Option<Known>>,
}

/// Where the clock of a source stands after a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchClock {
    /// The latest time on the clock of the log, and when it came.
    pub newest: Option<(Time, Instant)>,
    /// What to add to a time of the log to get Unix nanoseconds.
    pub epoch_ns: Option<i64>,
    /// The time of the log at which listening began.
    pub begun: Option<Time>,
    /// Whether the source itself said how its clock relates to ours, so that `begun` may change once more.
    pub is_exact: bool,
}

/// A channel that is kept.
#[derive(Clone, Copy)]
struct Known {
    id: ChannelId,
    ty: Type,
    is_schema: bool,
    role: Option<Role>,
    watched: Option<WatchedChannel>,
}

impl LiveWriter {
    pub(super) fn new(log: &LiveLog) -> Self {
        Self { inner: Arc::clone(&log.inner), known: Vec::new() }
    }

    /// Whether its log was closed, so that nothing needs to be written any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.closed.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Begins a batch: a sink for its channels and samples. `time` puts a time of the source on the clock of the log;
    /// `restarted` says that the clock of the source started again before this batch.
    pub fn batch<'w>(&'w mut self, time: &'w mut dyn FnMut(Time) -> Time, restarted: bool) -> LiveBatch<'w> {
        LiveBatch { writer: self, time, restarted, newest: None }
    }

    /// Ends a batch.
    pub fn end_batch(&mut self, clock: &BatchClock) {
        let mut state = lock(&self.inner.state);
        state.newest = clock.newest;
        state.epoch_ns = clock.epoch_ns;
        if state.begun.is_none() || clock.is_exact {
            state.begun = clock.begun.or(state.begun);
        }
        if let Some((newest, _)) = state.newest {
            state.tracker.reach(newest);
        }
    }

    /// Time goes on. To be called now and then: a mode is known also when nothing else comes.
    pub fn tick(&mut self) {
        let mut state = lock(&self.inner.state);
        if let Some(now) = state.now(Instant::now()) {
            state.tracker.reach(now);
        }
    }

    /// Something happened to the source, at the latest time of the log. Before the first sample there is no time for it.
    pub(super) fn note(&mut self, level: Level, text: impl Into<String>) {
        let mut state = lock(&self.inner.state);
        if let Some((newest, _)) = state.newest {
            state.tracker.happen(Finding::new(newest, "link", level, text));
        }
    }

    /// The source sends no more.
    pub fn finish(self) {
        lock(&self.inner.state).tracker.finish();
    }
}

/// One batch of a live log that is being written.
pub struct LiveBatch<'w> {
    writer: &'w mut LiveWriter,
    time: &'w mut dyn FnMut(Time) -> Time,
    restarted: bool,
    newest: Option<Time>,
}

impl LiveBatch<'_> {
    /// The latest time of the batch so far, on the clock of the log.
    #[must_use]
    pub fn newest(&self) -> Option<Time> {
        self.newest
    }

    fn known(&self, own: ChannelId) -> Option<Known> {
        self.writer.known.get(own as usize).copied().flatten()
    }
}

impl Sink for LiveBatch<'_> {
    fn channel(&mut self, own: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = own as usize;
        if place >= MOST_NUMBERS {
            return Ok(());
        }
        let LiveWriter { inner, known } = &mut *self.writer;
        if known.len() <= place {
            known.resize(place + 1, None);
        }
        let mut state = lock(&inner.state);
        let declared = state.declare(&inner.tape, channel);
        let found = declared.map(|id| Known {
            id,
            ty: channel.ty(),
            is_schema: Registry::is_schema(&channel.name, &channel.type_name),
            role: state.tracker.role(channel),
            watched: state.tracker.watch(id, channel),
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
            let time = (self.time)(own);
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
            let mut state = lock(&self.writer.inner.state);
            if std::mem::take(&mut self.restarted)
                && let Some((_, time, _)) = kept.first()
            {
                state.tracker.restart(*time);
            }
            for (known, _, value) in watched.iter().filter(|(known, ..)| known.is_schema) {
                if let Value::String(payload) | Value::Bytes(payload) = value {
                    state.explain(known.id, payload);
                }
            }
            state.settle();
            watched.iter().for_each(|(known, time, value)| state.heed(known, *time, value));
            if misfits > 0 {
                let message = format!("{misfits} values have another type than their channel");
                state.problems.push(Problem::general(Severity::Damage, "misfit", message));
            }
        }
        self.writer.inner.tape.write(kept.into_iter());
        Ok(())
    }

    fn metadata(&mut self, own: ChannelId, _: Time, metadata: &str) -> Result<(), SinkError> {
        if let Some(known) = self.known(own) {
            lock(&self.writer.inner.state).describe(known.id, metadata);
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        lock(&self.writer.inner.state).problems.push(problem);
    }
}

impl LiveState {
    /// Takes in a sample that means more than a point on a line.
    fn heed(&mut self, known: &Known, time: Time, value: &Value<'_>) {
        if let Some(role) = known.role {
            self.tracker.mode(role, time, value, self.explained.registry());
        }
        if let Some(watched) = known.watched {
            let name = self.channels.get(known.id as usize).map_or("", |channel| &channel.name);
            self.tracker.heed(watched, known.id, name, time, value);
        }
    }
}

/// No source counts its channels further.
const MOST_NUMBERS: usize = 1 << 20;

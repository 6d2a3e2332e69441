use std::collections::VecDeque;
use std::path::PathBuf;

use logpose_core::{Problem, Severity, Time};

use super::context::{Context, Track};
use super::last_values::LastValues;
use super::restart::Restarts;
use super::segment::Segment;
use crate::{Batch, OutputError};

/// Segments of which the oldest are removed: the last minutes of a recording without end.
pub(super) struct Ring {
    segment: Segment,
    last_values: LastValues,
    restarts: Restarts,
    /// Finished segments, the oldest first.
    done: VecDeque<Done>,
    begun: Option<Time>,
    number: u32,
    ring_ns: i64,
}

struct Done {
    path: PathBuf,
    begun: Time,
    bytes: u64,
}

impl Ring {
    /// Begins the first segment. Those of an earlier recording stay, and the numbers go on behind theirs.
    pub(super) fn new(context: &Context, ring_ns: i64) -> Result<Self, OutputError> {
        let names = context.disk.names(context.names.folder()).unwrap_or_default();
        let earlier: Vec<u32> = names.iter().filter_map(|name| context.names.number(name, RING)).collect();
        let mut number = earlier.iter().max().map_or(1, |last| last.saturating_add(1));
        if !earlier.is_empty() {
            let message = format!(
                "keeping {} segments of an earlier recording; remove them when you no longer need them",
                earlier.len()
            );
            context.watch.problem(Problem::general(Severity::Note, "earlier-segments", message));
        }
        let segment = create(context, &mut number)?;
        Ok(Self {
            segment,
            last_values: LastValues::default(),
            restarts: Restarts::default(),
            done: VecDeque::new(),
            begun: None,
            number,
            ring_ns,
        })
    }

    pub(super) fn segment(&mut self) -> &mut Segment {
        &mut self.segment
    }

    fn turn(&mut self, context: &Context, begun: Time, now: Time) -> Result<(), OutputError> {
        self.segment.finish(context, now)?;
        self.done.push_back(Done { path: self.segment.path().to_owned(), begun, bytes: self.segment.size() });
        self.number = self.number.saturating_add(1);
        let mut segment = create(context, &mut self.number)?;
        segment.begin_with(&self.last_values, context)?;
        segment.flush(context, now)?;
        self.segment = segment;
        self.begun = Some(now);
        self.prune(context, now);
        Ok(())
    }

    /// Removes the oldest while the others cover all that is to be kept.
    fn prune(&mut self, context: &Context, now: Time) {
        while let Some(oldest) = self.done.front() {
            let next = self.done.get(1).map_or(self.begun.unwrap_or(now), |next| next.begun);
            if now.since(next) < self.ring_ns {
                return;
            }
            match context.disk.remove(&oldest.path) {
                Ok(()) => context.watch.removed(&oldest.path, oldest.bytes),
                Err(error) => {
                    let message = format!("{}: {error}; keeping it", oldest.path.display());
                    context.watch.problem(Problem::general(Severity::Warning, "segment-stays", message));
                }
            }
            self.done.pop_front();
        }
    }
}

impl Track for Ring {
    fn take(&mut self, context: &Context, batch: &Batch, now: Time) -> Result<(), OutputError> {
        // Only when something comes: in silence the last minutes are those before it.
        let begun = *self.begun.get_or_insert(now);
        let restarted = self.restarts.take(batch);
        if restarted {
            self.last_values.forget();
        }
        if (restarted || now.since(begun) >= self.ring_ns / SEGMENTS) && self.segment.samples() > 0 {
            self.turn(context, begun, now)?;
        }
        self.segment.take(batch, context, now)?;
        // It refuses nothing.
        let _ = batch.play(&mut self.last_values);
        self.segment.tick(context, now)
    }

    fn tick(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.segment.tick(context, now)
    }

    fn finish(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.segment.finish(context, now)
    }
}

fn create(context: &Context, number: &mut u32) -> Result<Segment, OutputError> {
    context.create_free(number, |number| context.names.with(&format!("{RING}{number:04}")))
}

/// What stands before the number of a segment.
const RING: &str = ".ring-";
/// In so many segments is what is kept.
const SEGMENTS: i64 = 10;

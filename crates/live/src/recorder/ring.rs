use std::collections::VecDeque;
use std::path::PathBuf;

use logpose_core::{Problem, Severity, Time};

use super::held::Held;
use super::kit::{Kit, Track};
use super::restart::Restarts;
use super::segment::Segment;
use crate::{Batch, OutputError};

/// Segments of which the oldest are removed: the last minutes of a recording without end.
pub(super) struct Ring {
    segment: Segment,
    held: Held,
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
    pub(super) fn new(kit: &Kit, ring_ns: i64) -> Result<Self, OutputError> {
        let names = kit.disk.names(kit.names.folder()).unwrap_or_default();
        let earlier: Vec<u32> = names.iter().filter_map(|name| kit.names.number(name, RING)).collect();
        let mut number = earlier.iter().max().map_or(1, |last| last.saturating_add(1));
        if !earlier.is_empty() {
            let message = format!(
                "keeping {} segments of an earlier recording; remove them when you no longer need them",
                earlier.len()
            );
            kit.watch.problem(Problem::general(Severity::Note, "earlier-segments", message));
        }
        let segment = create(kit, &mut number)?;
        Ok(Self {
            segment,
            held: Held::default(),
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

    fn turn(&mut self, kit: &Kit, begun: Time, now: Time) -> Result<(), OutputError> {
        self.segment.finish(kit, now)?;
        self.done.push_back(Done { path: self.segment.path().to_owned(), begun, bytes: self.segment.size() });
        self.number = self.number.saturating_add(1);
        let mut segment = create(kit, &mut self.number)?;
        segment.begin_with(&self.held, kit)?;
        segment.flush(kit, now)?;
        self.segment = segment;
        self.begun = Some(now);
        self.prune(kit, now);
        Ok(())
    }

    /// Removes the oldest while the others cover all that is to be kept.
    fn prune(&mut self, kit: &Kit, now: Time) {
        while let Some(oldest) = self.done.front() {
            let next = self.done.get(1).map_or(self.begun.unwrap_or(now), |next| next.begun);
            if now.since(next) < self.ring_ns {
                return;
            }
            match kit.disk.remove(&oldest.path) {
                Ok(()) => kit.watch.removed(&oldest.path, oldest.bytes),
                Err(error) => {
                    let message = format!("{}: {error}; keeping it", oldest.path.display());
                    kit.watch.problem(Problem::general(Severity::Warning, "segment-stays", message));
                }
            }
            self.done.pop_front();
        }
    }
}

impl Track for Ring {
    fn take(&mut self, kit: &Kit, batch: &Batch, now: Time) -> Result<(), OutputError> {
        // Only when something comes: in silence the last minutes are those before it.
        let begun = *self.begun.get_or_insert(now);
        let restarted = self.restarts.take(batch);
        if restarted {
            self.held.forget();
        }
        if (restarted || now.since(begun) >= self.ring_ns / SEGMENTS) && self.segment.samples() > 0 {
            self.turn(kit, begun, now)?;
        }
        self.segment.take(batch, kit, now)?;
        // It refuses nothing.
        let _ = batch.play(&mut self.held);
        self.segment.tick(kit, now)
    }

    fn tick(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        self.segment.tick(kit, now)
    }

    fn finish(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        self.segment.finish(kit, now)
    }
}

fn create(kit: &Kit, number: &mut u32) -> Result<Segment, OutputError> {
    kit.create_free(number, |number| kit.names.with(&format!("{RING}{number:04}")))
}

/// What stands before the number of a segment.
const RING: &str = ".ring-";
/// In so many segments is what is kept.
const SEGMENTS: i64 = 10;

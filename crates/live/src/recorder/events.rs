use std::collections::VecDeque;

use logpose_core::{Problem, Severity, Time};

use super::held::Held;
use super::kit::{Kit, Track};
use super::segment::Segment;
use crate::{Batch, OutputError, Trigger};

/// A file for each event, with what was before and after it.
pub(super) struct Events {
    trigger: Box<dyn Trigger>,
    pre_ns: i64,
    post_ns: i64,
    /// What came last, as long as an event may ask for it.
    recent: VecDeque<Batch>,
    /// How all was before that.
    before: Held,
    /// Memory that the batches take, and may take.
    size: usize,
    memory: usize,
    /// Until when, as batches are received, what came before is known to be incomplete.
    cut: Option<Time>,
    /// The file of an event that is not over, and when it will be.
    open: Option<(Segment, Time)>,
    number: u32,
}

impl Events {
    pub(super) fn new(trigger: Box<dyn Trigger>, pre_ns: i64, post_ns: i64, memory: usize) -> Self {
        Self {
            trigger,
            pre_ns,
            post_ns,
            recent: VecDeque::new(),
            before: Held::default(),
            size: 0,
            memory,
            cut: None,
            open: None,
            number: 1,
        }
    }

    /// Begins the file of an event that happened at `since`.
    fn begin(&mut self, kit: &Kit, since: Time, now: Time) -> Result<(), OutputError> {
        let from = since.plus(self.pre_ns.saturating_neg());
        while self.recent.front().is_some_and(|batch| batch.received < from) {
            self.forget();
        }
        if self.cut.is_some_and(|cut| cut >= from) {
            let kept = self.recent.front().map_or(0, |batch| since.since(batch.received).max(0));
            let message = format!(
                "only {} s from before an event fit in memory; raise the limit or lower --pre",
                Time::from_nanos(kept)
            );
            kit.watch.problem(Problem::general(Severity::Warning, "event-cut", message));
        }
        let mut segment = kit.create_free(&mut self.number, |number| kit.names.with(&format!("_event-{number:03}")))?;
        self.number = self.number.saturating_add(1);
        segment.begin_with(&self.before, kit)?;
        for batch in &self.recent {
            segment.take(batch, kit, now)?;
            // What was kept for so long is not to be in memory twice.
            segment.tick(kit, now)?;
        }
        segment.flush(kit, now)?;
        self.open = Some((segment, since.plus(self.post_ns)));
        Ok(())
    }

    /// The oldest batch becomes part of how all was before.
    fn forget(&mut self) {
        if let Some(batch) = self.recent.pop_front() {
            self.size -= batch.size();
            // It refuses nothing.
            let _ = batch.play(&mut self.before);
        }
    }

    fn close(&mut self, kit: &Kit, now: Time, over: impl FnOnce(Time) -> bool) -> Result<(), OutputError> {
        if let Some((_, until)) = &self.open
            && over(*until)
            && let Some((mut segment, _)) = self.open.take()
        {
            segment.finish(kit, now)?;
        }
        Ok(())
    }
}

impl Track for Events {
    fn take(&mut self, kit: &Kit, batch: &Batch, now: Time) -> Result<(), OutputError> {
        self.close(kit, now, |until| now > until)?;
        let since = self.trigger.take(batch).map(|moment| {
            // The moment is on the clock of the samples; what is kept is known by when it came.
            let ago = batch.newest().map_or(0, |newest| newest.since(moment)).clamp(0, LAG_NS);
            now.plus(-ago)
        });
        self.size += batch.size();
        self.recent.push_back(batch.clone());
        match (&mut self.open, since) {
            (Some((segment, until)), since) => {
                if let Some(since) = since {
                    *until = (*until).max(since.plus(self.post_ns));
                }
                segment.take(batch, kit, now)?;
                segment.tick(kit, now)?;
            }
            (None, Some(since)) => self.begin(kit, since, now)?,
            (None, None) => {}
        }
        let from = now.plus(self.pre_ns.saturating_add(LAG_NS).saturating_neg());
        while self.recent.front().is_some_and(|batch| batch.received < from) {
            self.forget();
        }
        while self.size > self.memory
            && let Some(oldest) = self.recent.front()
        {
            self.cut = self.cut.max(Some(oldest.received));
            self.forget();
        }
        Ok(())
    }

    fn tick(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        self.close(kit, now, |until| now > until)?;
        self.open.as_mut().map_or(Ok(()), |(segment, _)| segment.tick(kit, now))
    }

    fn finish(&mut self, kit: &Kit, now: Time) -> Result<(), OutputError> {
        if let Some(doubt) = self.trigger.doubt() {
            let message = format!("the trigger was never evaluated: {doubt}");
            kit.watch.problem(Problem::general(Severity::Warning, "trigger", message));
        }
        self.close(kit, now, |_| true)
    }
}

/// An expression may tell this much later that it held.
const LAG_NS: i64 = 1_000_000_000;

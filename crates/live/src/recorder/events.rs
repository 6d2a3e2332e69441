use std::collections::VecDeque;

use logpose_core::{Problem, Severity, Time};

use super::context::{Context, Track};
use super::last_values::LastValues;
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
    before: LastValues,
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
            before: LastValues::default(),
            size: 0,
            memory,
            cut: None,
            open: None,
            number: 1,
        }
    }

    /// Begins the file of an event that happened at `since`.
    fn begin(&mut self, context: &Context, since: Time, now: Time) -> Result<(), OutputError> {
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
            context.watch.problem(Problem::general(Severity::Warning, "event-cut", message));
        }
        let mut segment =
            context.create_free(&mut self.number, |number| context.names.with(&format!("_event-{number:03}")))?;
        self.number = self.number.saturating_add(1);
        segment.begin_with(&self.before, context)?;
        for batch in &self.recent {
            segment.take(batch, context, now)?;
            // What was kept for so long is not to be in memory twice.
            segment.tick(context, now)?;
        }
        segment.flush(context, now)?;
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

    fn close(&mut self, context: &Context, now: Time, over: impl FnOnce(Time) -> bool) -> Result<(), OutputError> {
        if let Some((_, until)) = &self.open
            && over(*until)
            && let Some((mut segment, _)) = self.open.take()
        {
            segment.finish(context, now)?;
        }
        Ok(())
    }
}

impl Track for Events {
    fn take(&mut self, context: &Context, batch: &Batch, now: Time) -> Result<(), OutputError> {
        self.close(context, now, |until| now > until)?;
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
                segment.take(batch, context, now)?;
                segment.tick(context, now)?;
            }
            (None, Some(since)) => self.begin(context, since, now)?,
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

    fn tick(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.close(context, now, |until| now > until)?;
        self.open.as_mut().map_or(Ok(()), |(segment, _)| segment.tick(context, now))
    }

    fn finish(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        if let Some(doubt) = self.trigger.doubt() {
            let message = format!("the trigger was never evaluated: {doubt}");
            context.watch.problem(Problem::general(Severity::Warning, "trigger", message));
        }
        self.close(context, now, |_| true)
    }
}

/// An expression may report this much later that it held.
const LAG_NS: i64 = 1_000_000_000;

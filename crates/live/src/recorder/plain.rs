use logpose::frc::{Match, MatchWatch};
use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time};

use super::SplitBy;
use super::context::{Context, Track};
use super::last_values::LastValues;
use super::restart::Restarts;
use super::segment::Segment;
use crate::{Batch, OutputError};

/// One file, or one after the other.
pub(super) struct Plain {
    segment: Segment,
    split: Option<SplitBy>,
    last_values: LastValues,
    restarts: Restarts,
    matches: Matches,
    /// What came since a match may have begun: it belongs to that match, if there is one.
    waiting: Vec<Batch>,
    /// When the file got its first batch.
    begun: Option<Time>,
    number: u32,
}

impl Plain {
    pub(super) fn new(segment: Segment, split: Option<SplitBy>) -> Self {
        Self {
            segment,
            split,
            last_values: LastValues::default(),
            restarts: Restarts::default(),
            matches: Matches::default(),
            waiting: Vec::new(),
            begun: None,
            number: 2,
        }
    }

    /// Goes on in another file.
    fn split(&mut self, context: &Context, now: Time, tail: Option<String>) -> Result<(), OutputError> {
        self.segment.finish(context, now)?;
        let mut segment = match tail {
            None => context.create_free(&mut self.number, |number| context.names.with(&format!("_{number:03}")))?,
            // The same match can come twice: it is played again, or its number was set wrong before.
            Some(tail) => context.create_free(&mut 1, |number| match number {
                1 => context.names.with(&tail),
                _ => context.names.with(&format!("{tail}_{number:03}")),
            })?,
        };
        segment.begin_with(&self.last_values, context)?;
        segment.flush(context, now)?;
        self.segment = segment;
        self.begun = Some(now);
        Ok(())
    }

    /// Flushes, and splits where it is time for it after what was taken.
    fn look(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.segment.tick(context, now)?;
        match self.split {
            Some(SplitBy::Size(bytes)) if self.segment.size() >= bytes && self.segment.samples() > 0 => {
                self.split(context, now, None)
            }
            Some(SplitBy::Match) => {
                if let Some(tail) = self.matches.begun(now, context.flush_ns) {
                    self.split(context, now, Some(tail))?;
                }
                if self.matches.next.is_none() { self.release(context) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Writes what waited.
    fn release(&mut self, context: &Context) -> Result<(), OutputError> {
        for batch in std::mem::take(&mut self.waiting) {
            self.write(context, &batch, batch.received)?;
        }
        Ok(())
    }

    fn write(&mut self, context: &Context, batch: &Batch, now: Time) -> Result<(), OutputError> {
        self.segment.take(batch, context, now)?;
        // It refuses nothing.
        let _ = batch.play(&mut self.last_values);
        Ok(())
    }
}

impl Track for Plain {
    fn take(&mut self, context: &Context, batch: &Batch, now: Time) -> Result<(), OutputError> {
        if self.restarts.take(batch) {
            self.release(context)?;
            self.last_values.forget();
            self.split(context, now, None)?;
        }
        // Only when something comes: silence makes no files.
        if let (Some(SplitBy::Time(ns)), Some(begun)) = (self.split, self.begun)
            && now.since(begun) >= ns
            && self.segment.samples() > 0
        {
            self.split(context, now, None)?;
        }
        self.begun.get_or_insert(now);
        if self.split == Some(SplitBy::Match) {
            // It refuses nothing.
            let _ = batch.play(&mut self.matches);
            self.matches.look(now);
        }
        if self.matches.next.is_some() {
            self.waiting.push(batch.clone());
        } else {
            self.release(context)?;
            self.write(context, batch, now)?;
        }
        self.look(context, now)
    }

    fn tick(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.look(context, now)
    }

    fn finish(&mut self, context: &Context, now: Time) -> Result<(), OutputError> {
        self.release(context)?;
        self.segment.finish(context, now)
    }
}

/// Tells when another match begins.
#[derive(Default)]
struct Matches {
    watch: MatchWatch,
    current: Option<Match>,
    /// What may be the next one.
    next: Option<Next>,
}

struct Next {
    found: Match,
    /// Since when it is this one.
    since: Time,
    /// Since when it is another one than the current.
    first: Time,
}

impl Matches {
    fn look(&mut self, now: Time) {
        let Some(found) = self.watch.current() else {
            self.next = None;
            return;
        };
        match &mut self.current {
            Some(current) if !found.differs(current) => {
                current.event = found.event.or(current.event.take());
                self.next = None;
            }
            _ => match &mut self.next {
                Some(next) if next.found == found => {}
                Some(next) => *next = Next { found, since: now, first: next.first },
                next => *next = Some(Next { found, since: now, first: now }),
            },
        }
    }

    /// What the file of a match that has begun is called. Its kind, number and event come one after the other, so it
    /// counts only when they have stayed the same for a while, or when the flush interval lets nobody wait longer.
    fn begun(&mut self, now: Time, flush_ns: i64) -> Option<String> {
        let settled_ns = SETTLED_NS.min(flush_ns / 2);
        let over = |next: &mut Next| now.since(next.since) >= settled_ns || now.since(next.first) >= flush_ns / 2;
        let next = self.next.take_if(over)?.found;
        let tail = format!("_{}{}", next.kind.letter()?, next.number?);
        self.current = Some(next);
        Some(tail)
    }
}

impl Sink for Matches {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.watch.channel(id, channel);
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        samples.iter().for_each(|sample| self.watch.sample(sample));
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `Live` collects the problems of its sources, for all outputs.
    }
}

/// A robot program publishes what it knows of a match within a few of its cycles of 20 ms.
const SETTLED_NS: i64 = 100_000_000;

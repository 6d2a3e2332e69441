use std::collections::VecDeque;

use logpose::Timeline;
use logpose_core::{Sample, Sink, SinkError, Time};

use crate::Batch;

/// What is to be given next, decoded some way ahead.
pub(super) struct Ahead<'t, 'a> {
    timeline: &'t mut Timeline<'a>,
    items: VecDeque<Item>,
    /// Samples and about bytes in the items.
    samples: usize,
    bytes: usize,
    range: (Time, Time),
    looped: bool,
    /// What is added to times of the log, so that times given out never step back.
    shift: i64,
    end: bool,
    /// Why it ended before the log did.
    failed: Option<SinkError>,
    /// Whether the declaration of the channels was fetched.
    declared: bool,
}

/// Something that is given in one go.
pub(super) struct Item {
    /// When, on the clock of the log.
    pub(super) at: Time,
    /// When, on the clock of those who get it.
    pub(super) given: Time,
    pub(super) what: What,
    pub(super) samples: usize,
    pub(super) batch: Batch,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum What {
    /// The values at a moment that was gone to.
    State,
    /// The same, because the end was reached and it begins again.
    Turn,
    /// Samples of one time.
    Group,
}

impl<'t, 'a> Ahead<'t, 'a> {
    /// Begins at a moment, with the declaration of all channels.
    pub(super) fn new(timeline: &'t mut Timeline<'a>, range: (Time, Time), looped: bool) -> Self {
        let looped = looped && range.0 < range.1;
        let mut ahead = Self {
            timeline,
            items: VecDeque::new(),
            samples: 0,
            bytes: 0,
            range,
            looped,
            shift: 0,
            end: false,
            failed: None,
            declared: false,
        };
        ahead.go(range.0, None, What::State);
        ahead
    }

    /// Goes to a moment. What was decoded is forgotten. `from` is where it was until now if that is behind the moment:
    /// channels that had a value there and have none at the moment end.
    pub(super) fn seek(&mut self, to: Time, shift: i64, from: Option<Time>) {
        self.items.clear();
        (self.samples, self.bytes) = (0, 0);
        self.shift = shift;
        self.go(to, from, What::State);
    }

    fn go(&mut self, to: Time, from: Option<Time>, what: What) {
        let mut batch = Batch::default();
        // A batch takes everything.
        if !self.declared && what == What::State {
            for (id, channel) in (0..).zip(self.timeline.channels()) {
                let _ = batch.channel(id, channel);
            }
        }
        let given = to.plus(self.shift);
        let ids = 0..u32::try_from(self.timeline.channels().len()).unwrap_or(u32::MAX);
        let gone = |first: Time| first > to && from.is_some_and(|from| first <= from);
        for id in ids.filter(|id| !self.timeline.is_schema(*id)) {
            if self.timeline.first(id).is_some_and(gone) {
                let _ = batch.end(id, given);
            }
        }
        let mut samples = 0;
        let held = self.timeline.held(to, &mut |held| {
            samples += held.len();
            batch.push_at(given, held);
            Ok(())
        });
        self.timeline.seek(to);
        self.end = held.is_err();
        self.failed = held.err();
        self.push(Item { at: to, given, what, samples, batch });
    }

    fn push(&mut self, item: Item) {
        self.samples += item.samples;
        self.bytes += item.batch.size();
        self.items.push_back(item);
    }

    /// The next thing to be given; decodes if need be.
    pub(super) fn next(&mut self) -> Option<&Item> {
        while self.items.is_empty() && !self.end {
            self.fill();
        }
        self.items.front()
    }

    /// Takes the next thing away.
    pub(super) fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.declared = true;
        self.samples -= item.samples;
        self.bytes -= item.batch.size();
        Some(item)
    }

    /// Whether it is worth while to decode more when there is time.
    pub(super) fn is_short(&self) -> bool {
        !self.end && self.samples < AHEAD && self.bytes < AHEAD_BYTES
    }

    /// Decodes some more.
    pub(super) fn fill(&mut self) {
        let next = self.timeline.peek().filter(|time| *time <= self.range.1);
        let Some(next) = next else { return self.turn() };
        self.read(PORTION, self.range.1);
        if self.end {
            return;
        }
        // The last group may not be whole. One that is too large for that is given in parts.
        let last = self.items.back().map_or(next, |item| item.at);
        self.read(LARGEST, last);
    }

    /// Decodes at most so many samples, up to a moment.
    fn read(&mut self, most: usize, until: Time) {
        let Self { timeline, items, samples, bytes, shift, .. } = self;
        let mut group = |part: &[Sample<'_>]| {
            let Some(at) = part.first().map(|first| first.time) else { return };
            let given = at.plus(*shift);
            if !items.back().is_some_and(|item| item.what == What::Group && item.given == given) {
                items.push_back(Item { at, given, what: What::Group, samples: 0, batch: Batch::default() });
            }
            if let Some(item) = items.back_mut() {
                let before = item.batch.size();
                item.batch.push_at(given, part);
                item.samples += part.len();
                *samples += part.len();
                *bytes += item.batch.size() - before;
            }
        };
        let read = timeline.read(most, until, &mut |found| {
            found.chunk_by(|a, b| a.time == b.time).for_each(&mut group);
            Ok(())
        });
        if let Err(error) = read {
            self.end = true;
            self.failed = Some(error);
        }
    }

    /// Why it ended before the log did, if so.
    pub(super) fn failed(&mut self) -> Option<SinkError> {
        self.failed.take()
    }

    /// The end was reached.
    fn turn(&mut self) {
        if !self.looped {
            self.end = true;
            return;
        }
        let (start, end) = self.range;
        self.shift = end.plus(self.shift).plus(JUMP_NS).since(start);
        self.go(start, Some(end), What::Turn);
    }

    /// The latest time of any sample before a moment, but not before the start.
    pub(super) fn before(&mut self, moment: Time) -> Option<Time> {
        self.timeline.before(moment).filter(|time| *time >= self.range.0)
    }

    pub(super) fn range(&self) -> (Time, Time) {
        self.range
    }
}

/// What comes behind a jump back is so much later than what came before it: the finest time that WPILOG and
/// NetworkTables have.
pub(super) const JUMP_NS: i64 = 1_000;
/// So many samples are decoded in one go, and so many at most wait.
const PORTION: usize = 256;
const AHEAD: usize = 4096;
const AHEAD_BYTES: usize = 8 << 20;
/// More samples of one time are no group any more.
const LARGEST: usize = 1 << 16;

//! Walks through a log and tells when an expression holds.

use logpose_core::{Channel, ChannelId, Lookup, Sample, Sink, SinkError, Time};

use super::bind::{Bound, Source};
use super::eval::{Eval, State};
use crate::frc::ModeSpan;
use crate::{Error, ErrorKind, Log, Part, Parts, merge};

/// Tells every stretch of time in which the expression holds: start, end, and whether it was cut off by the end.
pub(super) fn run(
    bound: &Bound,
    log: &Log,
    lookup: &Lookup,
    each: &mut dyn FnMut(Time, Time, bool),
) -> Result<(), Error> {
    let mut wanted = Lookup { channels: vec![false; log.index.channels.len()], ..Lookup::default() };
    let mut readers: Vec<Vec<Reader>> = log.index.channels.iter().map(|_| Vec::new()).collect();
    let mut uses_modes = false;
    for (place, slot) in bound.slots.iter().enumerate() {
        let Source::Channel(id) = slot.source else {
            uses_modes = true;
            continue;
        };
        let id = id as usize;
        let (Some(want), Some(readers), Some(found)) =
            (wanted.channels.get_mut(id), readers.get_mut(id), log.index.channels.get(id))
        else {
            continue;
        };
        *want = true;
        readers.push(Reader { slot: place, parts: Parts::of(&found.channel, log.schemas().registry()) });
    }
    let range = log.robust_range();
    let last = range.map_or(Time::ZERO, |(_, last)| last);
    let mut watch = Watch {
        bound,
        readers,
        states: bound.slots.iter().map(|_| State::default()).collect(),
        modes: if uses_modes { &log.frc().modes } else { &[] },
        // What needs no sample holds from the start; samples of a wildly earlier clock count as if they stood there.
        at: range.map(|(first, _)| first),
        open: None,
        bounds: (lookup.start.unwrap_or(Time::MIN), lookup.end.unwrap_or(Time::MAX)),
        each,
    };
    match merge::run(&[merge::Input::new(log, &wanted, &[])], &mut watch) {
        Ok(()) | Err(SinkError::Stopped) => {}
        Err(SinkError::Io(error)) => return Err(Error::new(ErrorKind::Io(error)).in_file(&log.path)),
        Err(other) => return Err(Error::usage(other.to_string()).in_file(&log.path)),
    }
    watch.finish(last);
    Ok(())
}

/// What reads a slot's value out of a channel's.
struct Reader {
    slot: usize,
    parts: Parts,
}

struct Watch<'w> {
    bound: &'w Bound,
    /// By channel.
    readers: Vec<Vec<Reader>>,
    states: Vec<State>,
    /// The modes that have not begun yet.
    modes: &'w [ModeSpan],
    /// The moment whose samples are being taken in.
    at: Option<Time>,
    /// Since when the expression holds.
    open: Option<Time>,
    bounds: (Time, Time),
    each: &'w mut dyn FnMut(Time, Time, bool),
}

impl Watch<'_> {
    /// Moves on to a moment, with the modes that begin on the way.
    fn reach(&mut self, time: Time) {
        while let Some((span, rest)) = self.modes.split_first().filter(|(span, _)| span.start <= time) {
            self.modes = rest;
            self.settle(span.start);
            for (slot, state) in self.bound.slots.iter().zip(&mut self.states) {
                match slot.source {
                    Source::Mode => {
                        state.push(span.start, Some(Part::Text(span.mode.name().as_bytes().into())));
                    }
                    Source::Enabled => state.push(span.start, Some(Part::Boolean(span.mode.is_enabled()))),
                    Source::Channel(_) => {}
                }
            }
        }
        self.settle(time);
    }

    /// Evaluates from the moment at hand up to another one, which becomes the moment at hand.
    fn settle(&mut self, until: Time) {
        let Some(mut now) = self.at.replace(until).filter(|at| *at < until) else { return };
        if self.bound.uses_changed && self.states.iter().any(|state| state.changed) {
            let holds = self.evaluate(now, until).0;
            self.holds(now, holds);
            self.states.iter_mut().for_each(|state| state.changed = false);
        }
        while now < until {
            let (holds, next) = self.evaluate(now, until);
            self.holds(now, holds);
            now = next;
        }
    }

    /// Whether the expression holds, and until when that is so.
    fn evaluate(&self, now: Time, horizon: Time) -> (bool, Time) {
        let mut eval = Eval { states: &self.states, horizon, until: horizon };
        let holds = eval.holds(self.bound, now);
        (holds, eval.until)
    }

    fn holds(&mut self, now: Time, holds: bool) {
        match (self.open, holds) {
            (None, true) => self.open = Some(now),
            (Some(start), false) => {
                self.open = None;
                self.tell(start, now, false);
            }
            _ => {}
        }
    }

    /// Cuts a stretch to the wanted times and tells it.
    fn tell(&mut self, start: Time, end: Time, open: bool) {
        let (first, last) = self.bounds;
        let inside = (start.max(first), end.min(last));
        // A stretch that only touches the wanted times is not in them; a moment may lie on their edge.
        let touches = inside.0 > inside.1 || (inside.0 == inside.1 && start < end);
        if !touches {
            (self.each)(inside.0, inside.1, open || end > last);
        }
    }

    fn finish(&mut self, last: Time) {
        let end = self.at.map_or(last, |at| at.max(last)).min(self.bounds.1.max(self.at.unwrap_or(last)));
        // One nanosecond further, so that what comes at the very end is looked at.
        self.reach(end.plus(1));
        if let Some(start) = self.open.take() {
            self.tell(start, end, true);
        }
    }
}

impl Sink for Watch<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if self.at.is_none_or(|at| at < sample.time) {
                if sample.time > self.bounds.1 {
                    return Err(SinkError::Stopped);
                }
                self.reach(sample.time);
            }
            let Some(readers) = self.readers.get(sample.channel as usize) else { continue };
            for reader in readers {
                let part =
                    self.bound.slots.get(reader.slot).and_then(|slot| reader.parts.at(&sample.value, &slot.steps));
                if let Some(state) = self.states.get_mut(reader.slot) {
                    state.push(sample.time, part.map(Part::into_owned));
                }
            }
        }
        Ok(())
    }
}

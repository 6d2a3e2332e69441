//! Tells when an expression holds, from what its slots are given in the order of time.

use logpose_core::Time;

use super::bind::Bound;
use super::eval::{Eval, State};
use logpose_files::ScalarValue;

/// What a watch reports.
#[derive(Clone, Copy, Debug)]
pub(super) enum WatchEvent {
    /// It holds from this moment on.
    Begins(Time),
    /// It held from the first moment to the second, which is not included.
    Held(Time, Time),
}

/// An expression with the last values of its slots.
pub(super) struct Watch {
    pub(super) bound: Bound,
    states: Vec<State>,
    /// The moment whose samples are being taken in.
    at: Option<Time>,
    /// Since when the expression holds.
    open: Option<Time>,
}

impl Watch {
    /// An expression at its first moment, before which nothing holds; without one, that of the first sample.
    pub(super) fn new(bound: Bound, at: Option<Time>) -> Self {
        let states = bound.slots.iter().map(|_| State::default()).collect();
        Self { bound, states, at, open: None }
    }

    /// The same with the expression bound anew: slots that mean what one meant before keep its values.
    pub(super) fn rebound(&mut self, bound: Bound) {
        let mut old: Vec<_> = std::mem::take(&mut self.bound.slots).into_iter().zip(self.states.drain(..)).collect();
        let mut states = Vec::with_capacity(bound.slots.len());
        for slot in &bound.slots {
            let same = old.iter().position(|(known, _)| known == slot);
            states.push(same.map_or_else(State::default, |place| old.swap_remove(place).1));
        }
        (self.states, self.bound) = (states, bound);
    }

    /// The moment whose samples are being taken in.
    pub(super) fn at(&self) -> Option<Time> {
        self.at
    }

    /// Since when the expression holds.
    pub(super) fn open(&self) -> Option<Time> {
        self.open
    }

    /// A slot has another value. The moment was reached before.
    pub(super) fn push(&mut self, slot: usize, time: Time, part: Option<ScalarValue<'static>>) {
        if let Some(state) = self.states.get_mut(slot) {
            state.push(time, part);
        }
    }

    /// Evaluates from the moment at hand up to another one, which becomes the moment at hand. Times that step back
    /// change nothing.
    pub(super) fn reach(&mut self, until: Time, report: &mut dyn FnMut(WatchEvent)) {
        if self.at.is_some_and(|at| at >= until) {
            return;
        }
        let Some(mut now) = self.at.replace(until) else { return };
        if self.bound.uses_changed && self.states.iter().any(|state| state.changed) {
            let holds = self.evaluate(now, until).0;
            self.holds(now, holds, report);
            self.states.iter_mut().for_each(|state| state.changed = false);
        }
        while now < until {
            let (holds, next) = self.evaluate(now, until);
            self.holds(now, holds, report);
            now = next;
        }
    }

    /// The clock has begun anew and is there. All values stay, and none is of a later time.
    pub(super) fn step_back(&mut self, to: Time) {
        self.at = Some(to);
        for state in &mut self.states {
            state.time = state.time.map(|time| time.min(to));
            state.time_before = None;
        }
    }

    /// Nothing comes behind a moment; what comes at it is looked at. The answer is since when it still holds.
    pub(super) fn finish(&mut self, end: Time, report: &mut dyn FnMut(WatchEvent)) -> Option<Time> {
        // One nanosecond further, so that what comes at the very end is looked at.
        self.reach(end.plus(1), report);
        self.open.take()
    }

    /// Whether the expression holds, and until when that is so.
    fn evaluate(&self, now: Time, horizon: Time) -> (bool, Time) {
        let mut eval = Eval { states: &self.states, horizon, until: horizon };
        let holds = eval.holds(&self.bound, now);
        (holds, eval.until)
    }

    fn holds(&mut self, now: Time, holds: bool, report: &mut dyn FnMut(WatchEvent)) {
        match (self.open, holds) {
            (None, true) => {
                self.open = Some(now);
                report(WatchEvent::Begins(now));
            }
            (Some(start), false) => {
                self.open = None;
                report(WatchEvent::Held(start, now));
            }
            _ => {}
        }
    }
}

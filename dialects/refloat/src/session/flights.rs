//! Requests for samples that are on their way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use logpose_core::Time;

use super::options::ClientOptions;
use super::store::Store;
use super::timing::{Trips, Window, duration, nanos};

/// A request that so many later ones have overtaken was lost, without waiting for its time-out.
const OVERTAKEN: u32 = 3;
/// A stretch is given up after so many times the tries of other requests, even if others are answered.
const STUBBORN: u32 = 20;

#[derive(Clone, Debug)]
pub(super) struct Flights {
    flying: BTreeMap<u32, Flight>,
    trips: Trips,
    window: Window,
    /// How many were sent.
    sent: u64,
    /// When samples came last, and how many requests were in vain since.
    heard: Time,
    vain: u32,
    tries: u32,
    patience: i64,
    longest: i64,
}

#[derive(Clone, Debug)]
struct Flight {
    end: u32,
    /// Its place among all that were sent.
    number: u64,
    sent: Time,
    deadline: Time,
    tries: u32,
    overtaken: u32,
}

/// Nobody answers any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silence {
    pub(super) at: u32,
    pub(super) tries: u32,
    pub(super) after: Duration,
}

impl Flights {
    pub(super) fn new(options: &ClientOptions, most: usize, now: Time) -> Self {
        Self {
            flying: BTreeMap::new(),
            trips: Trips::new(options.timeout, options.least_timeout, options.timeout),
            window: Window::new(most),
            sent: 0,
            heard: now,
            vain: 0,
            tries: options.tries,
            patience: nanos(options.patience),
            longest: nanos(options.timeout).max(1),
        }
    }

    /// Sends a request for the next samples that are neither there nor on their way, if one more may be.
    pub(super) fn send(&mut self, now: Time, store: &Store, chunk: u32) -> Option<u32> {
        if self.flying.len() >= self.window.size() {
            return None;
        }
        let range = self.next(store, chunk)?;
        if self.flying.is_empty() && self.vain == 0 {
            // The silence before it was not one of the board.
            self.heard = now;
        }
        let flight = Flight {
            end: range.end,
            number: self.sent,
            sent: now,
            deadline: now.plus(self.wait(self.flying.len())),
            tries: 1,
            overtaken: 0,
        };
        self.sent += 1;
        self.flying.insert(range.start, flight);
        Some(range.start)
    }

    /// How long to wait for a reply before which so many others come.
    fn wait(&self, ahead: usize) -> i64 {
        let each = self.trips.shortest().unwrap_or(0);
        let ahead = each.saturating_mul(i64::try_from(ahead).unwrap_or(i64::MAX));
        self.trips.timeout().saturating_add(ahead).min(self.longest)
    }

    fn next(&self, store: &Store, chunk: u32) -> Option<Range<u32>> {
        let mut from = 0;
        loop {
            let gap = store.gap(from)?;
            let before = self.flying.range(..=gap.start).next_back().filter(|(_, flight)| flight.end > gap.start);
            if let Some((_, flight)) = before {
                from = flight.end;
                continue;
            }
            let behind = self.flying.range(gap.start..).next().map_or(u32::MAX, |(start, _)| *start);
            return Some(gap.start..gap.start.saturating_add(chunk.max(1)).min(gap.end).min(behind));
        }
    }

    /// Whether samples from there on were asked for.
    pub(super) fn expects(&self, offset: u32) -> bool {
        self.flying.contains_key(&offset)
    }

    /// Samples came that begin at `offset`. Returns whether they had been asked for.
    pub(super) fn answered(&mut self, now: Time, offset: u32, store: &Store) -> bool {
        self.heard = now;
        self.vain = 0;
        let own = self.flying.remove(&offset);
        if let Some(flight) = &own {
            if flight.tries == 1 {
                let trip = now.since(flight.sent);
                self.trips.measured(trip);
                self.window.answered(trip, self.trips.shortest().unwrap_or(trip));
            }
            for other in self.flying.values_mut().filter(|other| other.number < flight.number) {
                other.overtaken += 1;
                if other.overtaken == OVERTAKEN {
                    other.deadline = other.deadline.min(now);
                }
            }
        }
        self.flying.retain(|start, flight| !store.covers(&(*start..flight.end)));
        own.is_some()
    }

    /// What is overdue is to be sent again, as far as the window permits; the rest is so many and comes later.
    pub(super) fn overdue(&mut self, now: Time) -> Result<(Vec<u32>, u64), Silence> {
        let late: Vec<u32> =
            self.flying.iter().filter(|(_, flight)| flight.deadline <= now).map(|(start, _)| *start).collect();
        if let Some(sent) = late.iter().filter_map(|start| self.flying.get(start)).map(|flight| flight.sent).max() {
            self.window.lost(now, sent);
            self.trips.timed_out();
            self.vain = self.vain.saturating_add(1);
        }
        let silent = self.vain >= self.tries && now.since(self.heard) >= self.patience;
        let (mut again, mut later) = (Vec::new(), 0);
        for start in late {
            let wait = self.wait(again.len());
            let Some(flight) = self.flying.get_mut(&start) else { continue };
            if silent || flight.tries >= self.tries.saturating_mul(STUBBORN) {
                let after = duration(now.since(self.heard));
                return Err(Silence { at: start, tries: flight.tries.max(self.vain), after });
            }
            if again.len() >= self.window.size() {
                self.flying.remove(&start);
                later += 1;
                continue;
            }
            flight.tries += 1;
            flight.number = self.sent;
            flight.sent = now;
            flight.deadline = now.plus(wait);
            flight.overtaken = 0;
            self.sent += 1;
            again.push(start);
        }
        Ok((again, later))
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.flying.values().map(|flight| flight.deadline).min()
    }

    pub(super) fn window(&self) -> usize {
        self.window.size()
    }

    pub(super) fn median(&self) -> Option<Duration> {
        self.trips.median()
    }
}

//! The download of a recording, step by step.

use std::collections::VecDeque;

use super::ask::{Ask, Step};
use super::client::{Client, Next, Work};
use super::event::{Change, Event, TimeRef};
use super::failure::Failure;
use super::fetch::{Fetch, Stage, ids};
use super::flights::Flights;
use super::job::Task;
use crate::wire::{Control, Data, Header, Request};

/// The default number of requests in flight.
const WINDOW: usize = 8;
/// How often a board may contradict itself before its recording is given up.
const DOUBTS: u32 = 8;
/// The length of a tick, and some more, in nanoseconds.
const TICK: i64 = 150_000;

impl Client {
    pub(super) fn next_of_fetch(&mut self) -> Next {
        if let Some(missing) = self.known.missing() {
            self.fail(missing);
            return Next::Again;
        }
        let full = self.is_full();
        let Some(Work::Fetch(fetch)) = &mut self.work else { return Next::Wait };
        match fetch.stage {
            Stage::Status => Next::Ask(Step::Status),
            Stage::Protect => {
                // From here on it may have been taken, whatever is heard of it.
                fetch.owed = true;
                Next::Ask(Step::Control(Control::Autostart(false)))
            }
            Stage::Header => Next::Ask(Step::Header),
            Stage::Check | Stage::Verify => match fetch.checks.front() {
                Some(offset) => Next::Ask(Step::Check { offset: *offset }),
                None => {
                    fetch.stage = if fetch.stage == Stage::Check { Stage::Samples } else { Stage::Time };
                    Next::Again
                }
            },
            Stage::Samples if fetch.store.is_complete() => {
                fetch.land();
                fetch.checks = if fetch.fresh { fetch.suspects() } else { VecDeque::new() };
                fetch.stage = Stage::Verify;
                Next::Again
            }
            Stage::Samples if full => Next::Wait,
            Stage::Samples => {
                self.send_flights();
                Next::Wait
            }
            Stage::Time if !fetch.is_marked() => Next::Ask(Step::Time),
            Stage::Time => {
                let best = fetch.marks.iter().min_by_key(|mark| mark.uncertainty_us).copied();
                fetch.stage = Stage::Restore;
                best.into_iter().for_each(|mark| self.event(Event::Time(mark)));
                Next::Again
            }
            Stage::Restore if fetch.owed => Next::Ask(Step::Control(Control::Autostart(true))),
            Stage::Restore => {
                self.fetch_ended();
                Next::Again
            }
        }
    }

    fn send_flights(&mut self) {
        let now = self.now;
        let most = self.options.window.unwrap_or(if self.known.can.is_some() { 1 } else { WINDOW });
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let flights = fetch.flights.get_or_insert_with(|| Flights::new(&self.options, most, now));
        let mut offsets = Vec::new();
        while let Some(offset) = flights.send(now, &fetch.store, fetch.chunk) {
            offsets.push(offset);
        }
        fetch.counts.requests += offsets.len() as u64;
        fetch.rate.reached(now, fetch.counts.bytes);
        for offset in offsets {
            self.send_request(Request::Data { offset }, false);
        }
    }

    /// Requests for samples were not answered in time.
    pub(super) fn flights_overdue(&mut self) {
        let now = self.now;
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let Some(flights) = &mut fetch.flights else { return };
        match flights.overdue(now) {
            Ok((again, later)) => {
                fetch.counts.requests += again.len() as u64;
                fetch.counts.retries += again.len() as u64 + later;
                for offset in again {
                    self.send_request(Request::Data { offset }, true);
                }
            }
            Err(silence) => {
                let what = format!("sample {}", silence.at);
                self.fail(Failure::Silent { what, tries: silence.tries, after: silence.after });
            }
        }
    }

    /// The recorder has reported its state, or that it has taken a change.
    pub(super) fn fetch_recorder_is(&mut self, step: Step) {
        let state = self.recorder;
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        if step == Step::Control(Control::Autostart(true)) {
            fetch.owed = false;
            return self.event(Event::Restored);
        }
        if step == Step::Control(Control::Autostart(false)) && !fetch.protected {
            fetch.protected = true;
            self.event(Event::Protected);
        }
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        if state.recording == Some(true) && fetch.ids.is_some() {
            return self.fail(Failure::Changed(Change::Recording));
        }
        if state.recording == Some(true) && !fetch.may_stop {
            return self.fail(Failure::Recording);
        }
        let unprotected = step == Step::Status && fetch.protect && state.autostart == Some(true);
        fetch.stage = if unprotected { Stage::Protect } else { Stage::Header };
    }

    pub(super) fn header_is(&mut self, payload: &[u8], header: &Header<'_>) {
        if self.answered(|step| *step == Step::Header).is_none() {
            return;
        }
        // Whatever it did before, this has stopped it.
        self.recorder.recording = Some(false);
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let before = fetch.store.size();
        let change = match &fetch.ids {
            None => None,
            Some(_) if before != header.size => Some(Change::Size { before, now: header.size }),
            Some(before) if *before != ids(payload) => Some(Change::Ids),
            Some(_) => None,
        };
        if let Some(change) = change {
            return self.fail(Failure::Changed(change));
        }
        if fetch.ids.is_none() {
            if let Err(failure) = fetch.keep(payload, header) {
                return self.fail(failure);
            }
            self.event(Event::Header { payload: payload.to_vec() });
        }
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        fetch.checks = fetch.ends();
        fetch.fresh = false;
        fetch.stage = Stage::Check;
    }

    pub(super) fn data_are(&mut self, data: &Data<'_>) {
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let Some(bytes) = fetch.fits(data) else {
            fetch.counts.rejected += 1;
            return;
        };
        match fetch.stage {
            Stage::Check | Stage::Verify => self.data_checked(data.offset, bytes),
            Stage::Samples => self.data_taken(data.offset, bytes),
            _ => fetch.counts.rejected += 1,
        }
    }

    /// A sample that is there came again.
    fn data_checked(&mut self, offset: u32, bytes: &[u8]) {
        let Some(Work::Fetch(fetch)) = &self.work else { return };
        let (size, length) = (fetch.store.size(), fetch.store.sample_len());
        if fetch.checks.front() != Some(&offset) || self.answered(|step| *step == Step::Check { offset }).is_none() {
            return;
        }
        let now = self.now;
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let Some(sample) = bytes.get(..length) else { return self.fail(Failure::Missing { size, at: offset }) };
        fetch.checks.pop_front();
        if fetch.store.get(&(offset..offset + 1)) != Some(sample) {
            return self.fail(Failure::Changed(Change::Sample { index: offset }));
        }
        // Only what comes after the last check is known to be of this recording.
        if !fetch.checks.is_empty() {
            return;
        }
        match fetch.insert(now, offset, bytes) {
            Ok(events) => events.into_iter().for_each(|event| self.event(event)),
            Err(change) => self.fail(Failure::Changed(change)),
        }
    }

    /// Samples came, asked for or not.
    fn data_taken(&mut self, offset: u32, bytes: &[u8]) {
        let (now, full) = (self.now, self.is_full());
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        let size = fetch.store.size();
        // While nobody takes the waiting samples, no new ones are accepted.
        if full && !fetch.flights.as_ref().is_some_and(|flights| flights.expects(offset)) {
            fetch.counts.rejected += 1;
            return;
        }
        if bytes.is_empty() {
            fetch.counts.rejected += 1;
            return self.doubt(Failure::Missing { size, at: offset });
        }
        match fetch.insert(now, offset, bytes) {
            Ok(events) => {
                let asked = match &mut fetch.flights {
                    Some(flights) => flights.answered(now, offset, &fetch.store),
                    None => false,
                };
                fetch.counts.duplicates += u64::from(events.is_empty());
                fetch.counts.foreign += u64::from(!asked && !events.is_empty());
                events.into_iter().for_each(|event| self.event(event));
            }
            Err(change) => {
                fetch.counts.rejected += 1;
                self.doubt(Failure::Changed(change));
            }
        }
    }

    /// What came cannot be true if the recording is what it was: it is looked at again.
    fn doubt(&mut self, failure: Failure) {
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        fetch.doubts += 1;
        fetch.land();
        fetch.stage = Stage::Status;
        if fetch.doubts > DOUBTS {
            self.fail(failure);
        }
    }

    /// A live reply came: it is a mark of time if it was asked for as one. Returns whether it is a new one.
    pub(super) fn marks_time(&mut self, tick: u32, is: impl FnOnce(&Step) -> bool) -> bool {
        // A repeated reply does not show the current time. On a fast link two may have one tick.
        let before = self.tick.replace((tick, self.now));
        if before.is_some_and(|(before, at)| before == tick && self.now.since(at) > TICK) {
            return false;
        }
        if let Some(ask) = self.answered(is) {
            let mark = self.mark(tick, &ask);
            if let Some(Work::Fetch(fetch)) = &mut self.work {
                fetch.marks.push(mark);
            }
        }
        true
    }

    /// The board has said its tick at some time since it was first asked.
    fn mark(&self, tick: u32, ask: &Ask) -> TimeRef {
        let half = self.now.since(ask.first) / 2;
        // A reply that comes sooner than any before was one to somebody else, and may be older than the question.
        let uncertainty = half.max(self.trips.shortest().unwrap_or(0) / 2);
        let host = ask.first.plus(half).plus(self.options.epoch_ns).micros();
        TimeRef {
            tick,
            host_us: u64::try_from(host).unwrap_or(0),
            uncertainty_us: u32::try_from(uncertainty / 1000 + 1).unwrap_or(u32::MAX),
        }
    }

    /// Goes on without an answer.
    pub(super) fn fetch_without(&mut self) {
        let Some(Work::Fetch(fetch)) = &mut self.work else { return };
        match fetch.stage {
            Stage::Restore => self.fetch_ended(),
            _ => {
                let best = fetch.marks.iter().min_by_key(|mark| mark.uncertainty_us).copied();
                fetch.stage = Stage::Restore;
                best.into_iter().for_each(|mark| self.event(Event::Time(mark)));
            }
        }
    }

    /// It cannot go on: what was changed is restored first, where that is possible.
    pub(super) fn fetch_failed(&mut self, mut fetch: Box<Fetch>, failure: Failure) {
        fetch.failure.get_or_insert(failure);
        fetch.land();
        let restores = fetch.owed && fetch.stage != Stage::Restore && self.is_open();
        fetch.stage = Stage::Restore;
        self.work = Some(Work::Fetch(fetch));
        if !restores {
            self.fetch_ended();
        }
    }

    fn fetch_ended(&mut self) {
        if !matches!(self.work, Some(Work::Fetch(_))) {
            return;
        }
        let Some(Work::Fetch(fetch)) = self.work.take() else { return };
        self.progress = Some(fetch.progress(self.now));
        if fetch.owed {
            self.event(Event::NotRestored);
        }
        match fetch.failure {
            None => {
                self.event(Event::Complete { samples: fetch.store.count() });
                self.event(Event::Done(Task::Fetch));
            }
            Some(failure) => {
                if let Failure::Changed(change) = failure {
                    self.event(Event::Changed(change));
                }
                self.event(Event::Failed { task: Task::Fetch, failure });
            }
        }
    }
}

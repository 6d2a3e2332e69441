//! The client as whoever drives it sees it.

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};

use super::client::{Client, Work};
use super::event::Event;
use crate::wire::{Control, Request};

/// How often a board is asked to restore what was changed when there is no time to wait for its answer.
const FAREWELLS: usize = 3;
/// How soon it is looked again whether events still wait, in nanoseconds.
const FULL_FOR: i64 = 20_000_000;

impl Session for Client {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.reach(now);
        if self.link.is_some() {
            return;
        }
        self.link = Some(link);
        self.deframer.clear();
        self.skipped = self.deframer.skipped();
        self.frames = 0;
        self.heard = self.now;
        self.pump();
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.reach(now);
        if self.link != Some(link) {
            return Ok(());
        }
        self.heard = self.now;
        let polled = self.poll_samples(sink);
        self.deframer.push(bytes);
        polled.and(self.take_all(sink))
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.reach(now);
        if self.link != Some(link) {
            return;
        }
        self.link = None;
        self.deframer.clear();
        self.transmit.clear();
        self.ask = None;
        self.pause = None;
        self.search_again();
        if let Some(Work::Fetch(fetch)) = &mut self.work {
            fetch.interrupted();
        }
        if self.work.is_some() {
            self.event(Event::Interrupted);
        }
        if let Some(live) = &mut self.live {
            live.interrupted();
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.reach(now);
        let overdue = |client: &Self| client.ask.as_ref().is_some_and(|ask| ask.deadline <= client.now);
        let late = |client: &Self| match &client.work {
            Some(Work::Fetch(fetch)) => fetch.deadline().is_some_and(|deadline| deadline <= client.now),
            _ => false,
        };
        if overdue(self) || late(self) {
            // The reply may lie behind noise that looked like the beginning of a frame.
            self.expire();
        }
        if overdue(self) {
            self.overdue();
        }
        if late(self) {
            self.flights_overdue();
        }
        self.pump();
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.link?;
        let fetch = match &self.work {
            Some(Work::Fetch(fetch)) => fetch.deadline(),
            _ => None,
        };
        let live = match (&self.live, &self.work, &self.ask, self.pause) {
            (Some(live), None, None, None) if self.discovery.is_done() => live.due(),
            _ => None,
        };
        // Whoever takes the events need not say so.
        let full = (self.is_full() && self.work.is_some()).then(|| self.now.plus(FULL_FOR));
        [self.ask.as_ref().map(|ask| ask.deadline), self.pause, fetch, live, full].into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        None
    }

    fn handle_end(&mut self, now: Time) {
        self.reach(now);
        let owed = matches!(&self.work, Some(Work::Fetch(fetch)) if fetch.is_owed());
        if owed && self.link.is_some() {
            for _ in 0..FAREWELLS {
                self.send_request(Request::Control(Control::Autostart(true)), false);
            }
        }
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if let Some(live) = &mut self.live {
            live.notes.drain(..).for_each(|note| sink.problem(note));
        }
        if self.found.is_empty() { Ok(()) } else { std::mem::take(&mut self.found).play(sink) }
    }

    fn clock_offset(&self) -> Option<i64> {
        self.live.as_ref()?.clock_offset()
    }
}

//! The loop that runs a session over links: it carries events in, and what the session wants out.

use std::collections::HashMap;
use std::future::pending;

use logpose_core::{Link, Session, Sink, SinkError, To, Transmit};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::Clock;
use crate::alarm::Alarm;
use crate::links::{Event, OpenLink, Outgoing, Wire};
use crate::stats::LinkStats;

/// A session with its open links.
pub(crate) struct Driver<'s, S: Session + ?Sized> {
    pub(crate) session: &'s mut S,
    pub(crate) clock: Clock,
    links: HashMap<Link, OpenLink>,
    next: u32,
    events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    queue_bytes: usize,
    stats: &'s LinkStats,
    /// For sessions whose time-outs must be met to better than a millisecond.
    alarm: Option<Alarm>,
}

impl<'s, S: Session + ?Sized> Driver<'s, S> {
    pub(crate) fn new(session: &'s mut S, clock: Clock, queue_bytes: usize, stats: &'s LinkStats) -> Self {
        let (sender, events) = mpsc::channel(EVENTS);
        Self { session, clock, links: HashMap::new(), next: 0, events, sender, queue_bytes, stats, alarm: None }
    }

    /// Meets time-outs to a fraction of a millisecond from now on.
    pub(crate) fn be_precise(&mut self) {
        // Without its thread it is as precise as it was.
        self.alarm = Alarm::start().ok();
    }

    /// Takes a link that is open.
    pub(crate) fn open(&mut self, wire: Wire) -> Link {
        self.next = self.next.wrapping_add(1);
        let link = Link(self.next);
        self.links.insert(link, OpenLink::start(link, wire, self.sender.clone(), self.queue_bytes));
        self.stats.opened();
        self.session.handle_open(self.clock.micros(), link);
        self.carry();
        link
    }

    /// Whether a link is still open.
    pub(crate) fn is_open(&self, link: Link) -> bool {
        self.links.contains_key(&link)
    }

    /// How many links are open.
    pub(crate) fn links(&self) -> usize {
        self.links.len()
    }

    /// The next thing that happens on a link, or the session's next time-out.
    pub(crate) async fn wait(&mut self) -> Option<Event> {
        let due = self.session.poll_timeout().map(|at| Instant::from_std(self.clock.instant(at)));
        let alarm = &mut self.alarm;
        let timer = async {
            match (due, alarm) {
                (Some(due), Some(alarm)) => alarm.until(due.into_std()).await,
                (Some(due), None) => sleep_until(due).await,
                (None, _) => pending().await,
            }
        };
        tokio::select! {
            event = self.events.recv() => event,
            () = timer => None,
        }
    }

    /// Gives what happened to the session, and what that held to the sink. `None` is a time-out.
    pub(crate) fn handle(&mut self, event: Option<Event>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let now = self.clock.micros();
        let mut result = Ok(());
        match event {
            Some(Event::Input(link, bytes)) if self.links.contains_key(&link) => {
                self.stats.received(bytes.len());
                result = self.session.handle_input(now, link, &bytes, sink);
            }
            Some(Event::Closed(link, reason)) => self.closed(link, reason),
            Some(Event::Input(..)) | None => {}
        }
        // Whatever happened, its time-out may have come meanwhile.
        self.session.handle_timeout(now);
        let polled = self.session.poll_samples(sink);
        self.carry();
        result.and(polled)
    }

    /// Carries out what the session wants.
    pub(crate) fn carry(&mut self) {
        loop {
            while let Some(transmit) = self.session.poll_transmit() {
                self.transmit(transmit);
            }
            let Some(link) = self.session.poll_close() else { return };
            // It is the session that closed it, so it need not be informed.
            if self.links.remove(&link).is_some() {
                self.stats.closed("disconnected: no data, or invalid data".to_owned());
            }
        }
    }

    fn transmit(&mut self, Transmit { to, bytes, text }: Transmit) {
        let outgoing = Outgoing { bytes, text };
        let size = outgoing.bytes.len();
        let mut full = Vec::new();
        match to {
            To::One(link) => {
                if let Some(open) = self.links.get_mut(&link)
                    && open.queue.push(outgoing).is_err()
                {
                    full.push(link);
                }
                self.stats.sent(size);
            }
            To::All => {
                for (link, open) in &mut self.links {
                    if open.queue.push(outgoing.clone()).is_err() {
                        full.push(*link);
                    }
                }
                self.stats.sent(size * self.links.len());
            }
        }
        for link in full {
            self.stats.cut_off();
            self.closed(link, "it reads too slowly".to_owned());
        }
    }

    /// A link was closed from outside of the session.
    pub(crate) fn closed(&mut self, link: Link, reason: String) {
        if self.links.remove(&link).is_some() {
            self.stats.closed(reason);
            self.session.handle_close(self.clock.micros(), link);
        }
    }

    /// Closes what is still open: without the link that ended it is of no use.
    pub(crate) fn close_all(&mut self) {
        let links: Vec<Link> = self.links.keys().copied().collect();
        links.into_iter().for_each(|link| self.closed(link, "the connection was closed".to_owned()));
    }

    /// Sends what is left and closes all links.
    pub(crate) async fn finish(mut self) {
        self.carry();
        let (links, stats) = (&mut self.links, self.stats);
        futures::future::join_all(links.drain().map(|(_, open)| open.finish()))
            .await
            .iter()
            .for_each(|()| stats.ended());
    }
}

/// Events that may wait. A reader that finds no place waits itself, and so does the one who sends to it.
const EVENTS: usize = 256;

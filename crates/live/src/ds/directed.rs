use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};
use logpose_driverstation::script::Action;
use logpose_driverstation::session::{Event, Refused};

use super::agenda::{Agenda, Begins};

/// A session that can be told what to do.
pub(super) trait Actor: Session {
    /// Whether the other side is there.
    fn is_heard(&self) -> bool;
    /// Whether the robot is enabled.
    fn is_enabled(&self) -> bool;
    fn act(&mut self, now: Time, action: Action) -> Result<(), Refused>;
    fn poll_event(&mut self) -> Option<Event>;
}

/// A session that follows its agendas.
#[derive(Debug)]
pub(super) struct Directed<A> {
    pub(super) actor: A,
    agendas: Vec<Agenda>,
    news: VecDeque<News>,
    over: bool,
}

/// What happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum News {
    /// With the link.
    Event(Event),
    /// A line of the script was not obeyed.
    Refused {
        /// The line, from 1.
        line: Option<usize>,
        /// Why.
        why: Refused,
    },
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Refused { line: Some(line), why } => write!(f, "line {line} of the script: {why}"),
            Self::Refused { line: None, why } => why.fmt(f),
        }
    }
}

/// A session that one task drives and another one tells what to do. Nobody holds it for long.
pub(super) struct Shared<A>(Arc<Mutex<Directed<A>>>);

impl<A: Actor> Directed<A> {
    fn new(actor: A, agendas: Vec<Agenda>) -> Self {
        Self { actor, agendas, news: VecDeque::new(), over: false }
    }

    /// Does what is due.
    fn advance(&mut self, now: Time) {
        for agenda in &mut self.agendas {
            let begins = match agenda.begins {
                Begins::Heard => self.actor.is_heard(),
                Begins::Enabled => self.actor.is_enabled(),
            };
            if begins {
                agenda.begin(now);
            }
            while let Some((line, action)) = agenda.due(now) {
                if action == Action::End {
                    self.over = true;
                    continue;
                }
                if let Err(why) = self.actor.act(now, action) {
                    push(&mut self.news, News::Refused { line, why });
                }
            }
        }
        while let Some(event) = self.actor.poll_event() {
            push(&mut self.news, News::Event(event));
        }
    }

    /// The next piece of news.
    pub(super) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// Whether a script has said that this is the end.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }
}

fn push(news: &mut VecDeque<News>, one: News) {
    if news.len() >= NEWS {
        news.pop_front();
    }
    news.push_back(one);
}

impl<A: Actor> Shared<A> {
    pub(super) fn new(actor: A, agendas: Vec<Agenda>) -> Self {
        Self(Arc::new(Mutex::new(Directed::new(actor, agendas))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Directed<A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What tells whether anybody still has it.
    pub(super) fn watch(&self) -> std::sync::Weak<Mutex<Directed<A>>> {
        Arc::downgrade(&self.0)
    }
}

impl<A> Clone for Shared<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: Actor> Session for Shared<A> {
    fn handle_open(&mut self, now: Time, link: Link) {
        let mut it = self.lock();
        it.actor.handle_open(now, link);
        it.advance(now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut it = self.lock();
        let done = it.actor.handle_input(now, link, bytes, sink);
        it.advance(now);
        done
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        let mut it = self.lock();
        it.actor.handle_close(now, link);
        it.advance(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        let mut it = self.lock();
        // What is due goes out with the packet that is.
        it.advance(now);
        it.actor.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let it = self.lock();
        it.agendas.iter().filter_map(Agenda::next).chain(it.actor.poll_timeout()).min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.lock().actor.poll_transmit()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.lock().actor.poll_close()
    }

    fn handle_end(&mut self, now: Time) {
        let mut it = self.lock();
        it.actor.handle_end(now);
        it.advance(now);
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.lock().actor.poll_samples(sink)
    }
}

/// News that are kept for whoever asks.
const NEWS: usize = 256;

use std::collections::VecDeque;
use std::fmt;

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};
use logpose_driverstation::script::Action;
use logpose_driverstation::session::{Event, Refused};

use super::agenda::{Agenda, Begins};

/// A session that takes commands.
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

impl<A: Actor> Directed<A> {
    pub(super) fn new(actor: A, agendas: Vec<Agenda>) -> Self {
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

impl<A: Actor> Session for Directed<A> {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.actor.handle_open(now, link);
        self.advance(now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let done = self.actor.handle_input(now, link, bytes, sink);
        self.advance(now);
        done
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.actor.handle_close(now, link);
        self.advance(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        // What is due goes out with the packet that is.
        self.advance(now);
        self.actor.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.agendas.iter().filter_map(Agenda::next).chain(self.actor.poll_timeout()).min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.actor.poll_transmit()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.actor.poll_close()
    }

    fn handle_end(&mut self, now: Time) {
        self.actor.handle_end(now);
        self.advance(now);
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.actor.poll_samples(sink)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.actor.clock_offset()
    }
}

/// News that are kept for whoever asks.
const NEWS: usize = 256;

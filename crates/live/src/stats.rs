use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use logpose_core::{EncodeError, Problem};

/// What goes on on the links of one session, for whoever wants to look.
#[derive(Debug, Default)]
pub struct LinkStats {
    open: AtomicU64,
    opened: AtomicU64,
    cut_off: AtomicU64,
    turned_away: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
    refused: AtomicU64,
    problems: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    peer: Option<String>,
    trouble: Option<String>,
    refusal: Option<String>,
    problem: Option<String>,
}

/// [`LinkStats`] at one moment.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LinkFigures {
    /// Links that are open.
    pub open: u64,
    /// Links that were opened.
    pub opened: u64,
    /// Links that were closed because the other side did not read.
    pub cut_off: u64,
    /// Clients that were not let in because there were too many, or that did not speak the protocol.
    pub turned_away: u64,
    /// Bytes that came in.
    pub received: u64,
    /// Bytes that were sent, counted for each link.
    pub sent: u64,
    /// How often the dialect could not say something.
    pub refused: u64,
    /// The first thing that it could not say.
    pub refusal: Option<String>,
    /// How many problems a server's session had with its clients.
    pub problems: u64,
    /// The first of them.
    pub problem: Option<String>,
    /// What it is connected to, for clients.
    pub peer: Option<String>,
    /// Why there is no connection, or why the last one ended.
    pub trouble: Option<String>,
}

impl LinkStats {
    /// What they are now.
    #[must_use]
    pub fn figures(&self) -> LinkFigures {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        LinkFigures {
            open: count(&self.open),
            opened: count(&self.opened),
            cut_off: count(&self.cut_off),
            turned_away: count(&self.turned_away),
            received: count(&self.received),
            sent: count(&self.sent),
            refused: count(&self.refused),
            refusal: state.refusal.clone(),
            problems: count(&self.problems),
            problem: state.problem.clone(),
            peer: state.peer.clone(),
            trouble: state.trouble.clone(),
        }
    }

    pub(crate) fn opened(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected_to(&self, peer: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.peer, state.trouble) = (Some(peer), None);
    }

    /// A link was closed. What is left of a connection is still one.
    pub(crate) fn closed(&self, reason: String) {
        if self.open.fetch_sub(1, Ordering::Relaxed) <= 1 {
            self.trouble(reason);
        }
    }

    pub(crate) fn ended(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn trouble(&self, reason: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.peer, state.trouble) = (None, Some(reason));
    }

    pub(crate) fn cut_off(&self) {
        self.cut_off.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, error: &EncodeError) {
        if self.refused.fetch_add(1, Ordering::Relaxed) == 0 {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).refusal = Some(error.to_string());
        }
    }

    pub(crate) fn problem(&self, problem: &Problem) {
        if self.problems.fetch_add(1, Ordering::Relaxed) == 0 {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).problem = Some(problem.to_string());
        }
    }

    pub(crate) fn turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

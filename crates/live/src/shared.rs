use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};
use tokio::sync::Notify;

/// A session that one task drives and another one commands. Nobody holds it for long.
pub(crate) struct Shared<S> {
    session: Arc<Mutex<S>>,
    commanded: Arc<Notify>,
}

impl<S> Shared<S> {
    pub(crate) fn new(session: S) -> Self {
        Self { session: Arc::new(Mutex::new(session)), commanded: Arc::default() }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows whether anybody still has it.
    pub(crate) fn watch(&self) -> Weak<Mutex<S>> {
        Arc::downgrade(&self.session)
    }

    /// Rings after each command.
    pub(crate) fn commanded(&self) -> Arc<Notify> {
        Arc::clone(&self.commanded)
    }

    /// Has whoever drives it look at once what it wants now.
    pub(crate) fn ring(&self) {
        self.commanded.notify_one();
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self { session: Arc::clone(&self.session), commanded: Arc::clone(&self.commanded) }
    }
}

impl<S: Session> Session for Shared<S> {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.lock().handle_open(now, link);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.lock().handle_input(now, link, bytes, sink)
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.lock().handle_close(now, link);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.lock().handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.lock().poll_timeout()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.lock().poll_transmit()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.lock().poll_close()
    }

    fn handle_end(&mut self, now: Time) {
        self.lock().handle_end(now);
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.lock().poll_samples(sink)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.lock().clock_offset()
    }
}

use std::sync::Arc;

use crate::{Sink, SinkError, Time};

/// Which of a session's links bytes belong to. A server has one link for every client.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Link(pub u32);

/// One side of a live conversation: the state and the timers, without the sockets. Time is an argument.
pub trait Session: Send {
    /// A link was opened: a client was accepted, or a connection made.
    fn handle_open(&mut self, now: Time, link: Link);
    /// `bytes` arrived on `link` at `now`; what they hold goes into `sink`.
    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError>;
    /// A link was closed by the other side.
    fn handle_close(&mut self, now: Time, link: Link);
    /// The time that `poll_timeout` named has come. Calling it early or twice does nothing.
    fn handle_timeout(&mut self, now: Time);
    /// When `handle_timeout` wants to be called next.
    fn poll_timeout(&self) -> Option<Time>;
    /// Bytes to send; call until `None`.
    fn poll_transmit(&mut self) -> Option<Transmit>;
    /// A link to close; call until `None`.
    fn poll_close(&mut self) -> Option<Link>;
    /// The conversation ends here: what is still to be said goes out before the links close.
    fn handle_end(&mut self, now: Time) {
        let _ = now;
    }
    /// Samples besides those that arrived, such as what it sent itself. Called after `handle_timeout`.
    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let _ = sink;
        Ok(())
    }
    /// What to add to the times of samples to get times of the clock that `now` is on, in nanoseconds, if the two sides
    /// have found that out.
    fn clock_offset(&self) -> Option<i64> {
        None
    }
}

/// The side of a conversation that publishes: what goes into its sink goes out to its links.
pub trait Serve: Session {
    /// Where to put what happens at `now`.
    fn sink(&mut self, now: Time) -> &mut dyn Sink;
}

/// Bytes to send. They are shared, so that what goes to many links is made once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transmit {
    /// Where they go.
    pub to: To,
    /// A piece of a stream, a datagram or a message, whatever the link carries.
    pub bytes: Arc<[u8]>,
    /// Whether they are text, on links that know the difference (WebSocket).
    pub text: bool,
}

/// Where bytes go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum To {
    /// To one link.
    One(Link),
    /// To every link that is open at this moment.
    All,
}

impl Transmit {
    /// Bytes for one link.
    #[must_use]
    pub fn one(link: Link, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { to: To::One(link), bytes: bytes.into(), text: false }
    }

    /// Text for one link.
    #[must_use]
    pub fn text(link: Link, text: &str) -> Self {
        Self { to: To::One(link), bytes: text.as_bytes().into(), text: true }
    }

    /// The same bytes for all links.
    #[must_use]
    pub fn all(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { to: To::All, bytes: bytes.into(), text: false }
    }
}

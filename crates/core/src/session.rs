use crate::{Sink, SinkError, Time};

/// Which of a session's links bytes belong to. A server has one link for every client.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Link(pub u32);

/// Which side of a conversation to take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// The side that listens to a robot.
    Client,
    /// The side that a robot is.
    Server,
}

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
    fn poll_transmit(&mut self) -> Option<(Link, Vec<u8>)>;
    /// A link to close; call until `None`.
    fn poll_close(&mut self) -> Option<Link>;
}

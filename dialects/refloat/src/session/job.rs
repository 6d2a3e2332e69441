use std::fmt;

use super::options::{FetchOptions, LiveOptions};
use crate::wire::Control;

/// Jobs for a client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Job {
    /// Discover the board.
    Identify,
    /// Ask for the state of the recorder.
    Status,
    /// Change something at the recorder, and see that it was taken. Starting erases what was recorded before.
    Control(Control),
    /// Download the recording. This stops a board that is recording, if that is permitted.
    Fetch(FetchOptions),
    /// Poll live values from here on, until [`Client::stop_live`](super::Client::stop_live).
    Live(LiveOptions),
    /// Ask for the ids of live values.
    Ids,
}

impl Job {
    /// Which kind of job it is.
    #[must_use]
    pub fn task(&self) -> Task {
        match self {
            Self::Identify => Task::Identify,
            Self::Status => Task::Status,
            Self::Control(control) => Task::Control(*control),
            Self::Fetch(_) => Task::Fetch,
            Self::Live(_) => Task::Live,
            Self::Ids => Task::Ids,
        }
    }
}

/// A kind of job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Task {
    /// [`Job::Identify`].
    Identify,
    /// [`Job::Status`].
    Status,
    /// [`Job::Control`].
    Control(Control),
    /// [`Job::Fetch`].
    Fetch,
    /// [`Job::Live`].
    Live,
    /// [`Job::Ids`].
    Ids,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identify => f.write_str("identify"),
            Self::Status => f.write_str("status"),
            Self::Control(control) => write!(f, "{}", Wish(*control)),
            Self::Fetch => f.write_str("fetch"),
            Self::Live => f.write_str("live"),
            Self::Ids => f.write_str("ids"),
        }
    }
}

/// What is wanted of the recorder, in words.
pub(super) struct Wish(pub(super) Control);

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |on: bool| if on { "on" } else { "off" };
        match self.0 {
            Control::Status => f.write_str("status"),
            Control::Record(true) => f.write_str("start"),
            Control::Record(false) => f.write_str("stop"),
            Control::Autostart(on) => write!(f, "autostart {}", switch(on)),
            Control::Autostop(on) => write!(f, "autostop {}", switch(on)),
            Control::Decimation(by) => write!(f, "decimation {by}"),
            Control::Other { sub, value } => write!(f, "control {sub} {value}"),
        }
    }
}

/// Why a job was not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// One download at a time.
    #[error("a download is already running")]
    Fetching,
    /// No version knows what it would do.
    #[error("unknown control")]
    NoSuchControl,
    /// Too many jobs wait.
    #[error("{0} jobs are already waiting")]
    Busy(usize),
}

use std::fmt;

use super::failure::Failure;
use super::job::Task;
use super::view::RecorderState;

/// What happened at a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Discovery has finished; the view has its result.
    Identified {
        /// The app payload of INFO, as received.
        info: Vec<u8>,
    },
    /// The state of the recorder was read.
    Status {
        /// What it is.
        state: RecorderState,
        /// The app payload of the status, as received, from 1.3 on.
        payload: Option<Vec<u8>>,
    },
    /// The ids of live values.
    Ids {
        /// Those that are always there.
        always: Vec<String>,
        /// Those that are there while the board is running.
        running: Vec<String>,
    },
    /// Autostart was switched off for the time of the download.
    Protected,
    /// The board has described its recording. It comes once for a download.
    Header {
        /// The app payload, as received.
        payload: Vec<u8>,
    },
    /// Samples that were not there before, in any order.
    Samples {
        /// The index of the first.
        index: u32,
        /// Whole samples, as received.
        bytes: Vec<u8>,
    },
    /// The link was closed in the middle of a job, which goes on when it is open again.
    Interrupted,
    /// The board has another recording now than the one that was begun. The job fails.
    Changed(Change),
    /// When it was on the board and here.
    Time(TimeRef),
    /// Autostart is on again.
    Restored,
    /// Autostart was switched off for the download and could not be switched on again.
    NotRestored,
    /// All samples are there, each once.
    Complete {
        /// How many.
        samples: u32,
    },
    /// The job is done.
    Done(Task),
    /// The job has failed.
    Failed {
        /// Which.
        task: Task,
        /// Why.
        failure: Failure,
    },
    /// The board printed a text: a hint, never a reply.
    Print(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identified { .. } => f.write_str("board identified"),
            Self::Status { state, .. } => write!(f, "{state}"),
            Self::Ids { always, running } => {
                write!(f, "{} live values, {} more while running", always.len(), running.len())
            }
            Self::Protected => f.write_str("autostart is off during the download"),
            Self::Header { .. } => f.write_str("received the header"),
            Self::Samples { index, bytes } => write!(f, "samples from {index}: {} bytes", bytes.len()),
            Self::Interrupted => f.write_str("the link was closed; waiting to reconnect"),
            Self::Changed(change) => write!(f, "{change}"),
            Self::Time(time) => write!(f, "tick {} was at {} µs", time.tick, time.host_us),
            Self::Restored => f.write_str("autostart is on again"),
            Self::NotRestored => f.write_str(
                "autostart was turned off for the download and could not be turned on again; \
                 run `logpose refloat autostart on`, or switch the board off and on",
            ),
            Self::Complete { samples } => write!(f, "received all {samples} samples"),
            Self::Done(task) => write!(f, "{task}: done"),
            Self::Failed { task, failure } => write!(f, "{task}: {failure}"),
            Self::Print(text) => write!(f, "board: {text}"),
        }
    }
}

/// When it was on the board and here: what puts a recording on the wall clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeRef {
    /// The board's tick.
    pub tick: u32,
    /// Microseconds since 1970 of the host.
    pub host_us: u64,
    /// By how much that may be wrong, in microseconds: half a round trip.
    pub uncertainty_us: u32,
}

/// How it shows that the board has another recording.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It has another number of samples.
    Size {
        /// How many there were.
        before: u32,
        /// How many there are.
        now: u32,
    },
    /// It has other ids.
    Ids,
    /// A sample is another.
    Sample {
        /// Which.
        index: u32,
    },
    /// It is recording.
    Recording,
    /// It is another board, or another package.
    Board,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the board has a different recording than the partial download: ")?;
        match self {
            Self::Size { before, now } => write!(f, "{now} samples instead of {before}"),
            Self::Ids => f.write_str("it has other values"),
            Self::Sample { index } => write!(f, "sample {index} differs"),
            Self::Recording => f.write_str("it started recording again"),
            Self::Board => f.write_str("it is another board or Refloat version"),
        }
    }
}

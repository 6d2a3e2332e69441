use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::failure::Failure;
use super::job::Task;
use crate::vesc::FirmwareVersion;
use crate::wire::Info;

/// How things are at a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientView {
    /// What it is doing.
    pub phase: Phase,
    /// There is a link.
    pub connected: bool,
    /// The firmware of the controller that Refloat runs on; before that is known, of whoever answers.
    pub firmware: Option<FirmwareVersion>,
    /// The firmware of the module at this end of the link, if the controller is behind it on the CAN bus.
    pub gateway: Option<FirmwareVersion>,
    /// The package.
    pub info: Option<Info>,
    /// The CAN node that it runs on, if it is not at this end of the link.
    pub can: Option<u8>,
    /// What is missing to record, if something is.
    pub missing: Option<Failure>,
    /// The recorder, as far as it is known.
    pub recorder: RecorderState,
    /// The latest live values by the names of their channels.
    pub live: BTreeMap<String, LiveValue>,
    /// Live replies received.
    pub live_replies: u64,
    /// The board's tick in the latest live reply.
    pub tick: Option<u32>,
    /// The download that is under way, or the last one.
    pub fetch: Option<Progress>,
    /// Half of all round trips were shorter than this.
    pub round_trip: Option<Duration>,
    /// Requests sent, all of them.
    pub requests: u64,
    /// Requests that were sent again.
    pub retries: u64,
    /// Whole frames received.
    pub frames: u64,
    /// Bytes that belonged to no frame.
    pub skipped: u64,
}

/// What a client is doing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// There is no link.
    #[default]
    Closed,
    /// Nothing is to be done.
    Idle,
    /// Discovery is running.
    Identifying,
    /// It polls live values.
    Live,
    /// A job is under way.
    Working(Task),
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("no link"),
            Self::Idle => f.write_str("idle"),
            Self::Identifying => f.write_str("identifying"),
            Self::Live => f.write_str("live"),
            Self::Working(task) => write!(f, "{task}"),
        }
    }
}

/// A recorder as far as it is known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RecorderState {
    /// It is recording.
    pub recording: Option<bool>,
    /// It begins when the board engages.
    pub autostart: Option<bool>,
    /// It ends when the board disengages.
    pub autostop: Option<bool>,
    /// One of how many samples is recorded, from 1.3 on.
    pub decimation: Option<u8>,
    /// How long the buffer lasts at decimation 1, in hundredths of a second, from 1.3 on.
    pub duration_cs: Option<u16>,
}

impl RecorderState {
    /// How long the buffer lasts as it is set.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        let (duration, decimation) = (self.duration_cs?, self.decimation?);
        Some(Duration::from_millis(10) * u32::from(duration) * u32::from(decimation.max(1)))
    }
}

impl fmt::Display for RecorderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |on: Option<bool>| on.map_or("unknown", |on| if on { "on" } else { "off" });
        f.write_str(self.recording.map_or("unknown", |on| if on { "recording" } else { "stopped" }))?;
        write!(f, ", autostart {}, autostop {}", switch(self.autostart), switch(self.autostop))?;
        if let Some(decimation) = self.decimation {
            write!(f, ", decimation {decimation}")?;
        }
        match self.duration() {
            Some(duration) => write!(f, ", {:.2} s", duration.as_secs_f64()),
            None => Ok(()),
        }
    }
}

/// A live value.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveValue {
    /// True or false.
    Boolean(bool),
    /// A number, with its unit.
    Number(f64, Option<String>),
    /// A text.
    Text(String),
}

/// How far a download is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// How many samples the recording has, once that is known.
    pub size: Option<u32>,
    /// How many bytes a sample has.
    pub sample_len: usize,
    /// How many are there, those included that were there before.
    pub received: u32,
    /// How many were there before.
    pub before: u32,
    /// Bytes of samples that this download has brought.
    pub bytes: u64,
    /// Bytes of samples a second, over the last seconds.
    pub rate: f64,
    /// How long it will take at this rate.
    pub left: Option<Duration>,
    /// Requests for samples sent.
    pub requests: u64,
    /// Those that were sent again.
    pub retries: u64,
    /// Replies with nothing new.
    pub duplicates: u64,
    /// Replies that nobody here had asked for, and that were of use.
    pub foreign: u64,
    /// Replies that could not belong here: beyond the end, of another length, or that contradict.
    pub rejected: u64,
    /// How many requests may be on their way at once.
    pub window: usize,
    /// Half of all round trips were shorter than this.
    pub round_trip: Option<Duration>,
    /// How often the link was closed.
    pub interruptions: u32,
    /// Whether autostart was switched off and is to be restored.
    pub protected: bool,
}

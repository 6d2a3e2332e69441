use logpose::Log;
use logpose::frc::{Level, Mode};
use logpose_core::Time;

/// What happened in a log, by time; on the log's own clock.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Modes, one after the other.
    pub bands: Vec<Band>,
    pub events: Vec<Finding>,
    /// Whether there were more than are kept.
    pub cut: bool,
}

/// A stretch of one mode.
#[derive(Debug)]
pub(crate) struct Band {
    pub start: Time,
    pub end: Time,
    pub kind: &'static str,
    pub text: &'static str,
}

/// Something that happened.
#[derive(Debug)]
pub(crate) struct Finding {
    pub time: Time,
    pub end: Option<Time>,
    pub kind: &'static str,
    pub level: Level,
    pub text: String,
    /// The channel that tells it.
    pub path: Option<String>,
}

impl Findings {
    pub(crate) fn of(log: &Log) -> Self {
        let bands = log.frc().modes.iter().map(|span| Band {
            start: span.start,
            end: span.end,
            kind: span.mode.name(),
            text: words(span.mode),
        });
        Self { bands: bands.collect(), events: Vec::new(), cut: false }
    }
}

fn words(mode: Mode) -> &'static str {
    match mode {
        Mode::Disabled => "Disabled",
        Mode::Auto => "Autonomous",
        Mode::Teleop => "Teleoperated",
        Mode::Test => "Test",
        Mode::EStop => "Emergency stop",
    }
}

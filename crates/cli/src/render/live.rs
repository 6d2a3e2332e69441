//! The JSON lines of `record` and `play`.

use logpose_live::Progress;
use logpose_live::player::Snapshot;
use logpose_live::recorder::RecordStats;
use serde::Serialize;

use super::Int;

/// A server, in the lines of `record` and `play`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Server {
    pub address: String,
    pub clients: u64,
    pub sent_bytes: Option<Int>,
    /// Clients disconnected because they read too slowly.
    pub cut_off: u64,
    /// Rejected clients.
    pub turned_away: u64,
    /// Samples dropped because the server was too slow.
    pub dropped: Int,
    /// Values that the protocol cannot represent.
    pub refused: Int,
}

/// A server has started.
#[derive(Serialize)]
pub(crate) struct Serving<'a> {
    pub event: &'static str,
    pub address: &'a str,
}

/// One line of `record --json`.
#[derive(Serialize)]
pub(crate) struct RecordLine<'a> {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub sources: Vec<Source<'a>>,
    pub channels: usize,
    pub samples: Int,
    pub bytes: Int,
    pub files: Vec<String>,
    pub late: Int,
    pub dropped: Int,
    pub servers: Vec<Server>,
}

/// A source, in the lines of `record` and `play`.
#[derive(Serialize)]
pub(crate) struct Source<'a> {
    pub name: &'a str,
    pub address: &'a str,
    pub connected: bool,
    pub peer: Option<String>,
    pub samples: Int,
    pub samples_per_s: f64,
    pub bytes: Int,
    pub connections: u64,
    pub problem: Option<String>,
}

/// The name, address and rate of a source.
pub(crate) type Named<'a> = (&'a str, &'a str, f64);

impl<'a> Source<'a> {
    pub(crate) fn all(progress: &Progress, named: &[Named<'a>]) -> Vec<Self> {
        let sources = progress.sources.iter().zip(named).map(|(source, (name, address, rate))| Self {
            name,
            address,
            connected: source.link.open > 0,
            peer: source.link.peer.clone(),
            samples: source.samples.into(),
            samples_per_s: *rate,
            bytes: source.link.received.into(),
            connections: source.link.opened,
            problem: source.link.trouble.clone(),
        });
        sources.collect()
    }
}

impl<'a> RecordLine<'a> {
    pub(crate) fn of(
        event: &'static str,
        progress: &Progress,
        stats: &RecordStats,
        dropped: u64,
        named: &[Named<'a>],
        servers: Vec<Server>,
    ) -> Self {
        Self {
            event,
            elapsed_s: progress.elapsed.as_secs_f64(),
            sources: Source::all(progress, named),
            channels: progress.channels,
            samples: stats.samples.into(),
            bytes: stats.bytes.into(),
            files: stats.files.iter().map(|file| file.display().to_string()).collect(),
            late: stats.late.into(),
            dropped: dropped.into(),
            servers,
        }
    }
}

/// One line of `play --json` of files.
#[derive(Serialize)]
pub(crate) struct PlayLine {
    pub event: &'static str,
    pub position_ns: Int,
    pub first_ns: Option<Int>,
    pub last_ns: Option<Int>,
    pub rate: f64,
    pub paused: bool,
    pub loops: u64,
    pub samples: Int,
    pub groups: Int,
    pub error_p50_us: f64,
    pub error_p99_us: f64,
    pub error_max_us: f64,
    pub late: Int,
    pub servers: Vec<Server>,
}

impl PlayLine {
    pub(crate) fn of(event: &'static str, at: &Snapshot, servers: Vec<Server>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "microseconds for display")]
        let us = |ns: u64| ns as f64 / 1e3;
        Self {
            event,
            position_ns: at.position.nanos().into(),
            first_ns: at.range.map(|range| range.0.nanos().into()),
            last_ns: at.range.map(|range| range.1.nanos().into()),
            rate: at.rate,
            paused: at.paused,
            loops: at.loops,
            samples: at.samples.into(),
            groups: at.groups.into(),
            error_p50_us: us(at.error.p50_ns),
            error_p99_us: us(at.error.p99_ns),
            error_max_us: us(at.error.max_ns),
            late: at.late.into(),
            servers,
        }
    }
}

/// One line of `play --json` of live sources.
#[derive(Serialize)]
pub(crate) struct RelayLine<'a> {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub sources: Vec<Source<'a>>,
    pub channels: usize,
    pub servers: Vec<Server>,
}

impl<'a> RelayLine<'a> {
    pub(crate) fn of(event: &'static str, progress: &Progress, named: &[Named<'a>], servers: Vec<Server>) -> Self {
        Self {
            event,
            elapsed_s: progress.elapsed.as_secs_f64(),
            sources: Source::all(progress, named),
            channels: progress.channels,
            servers,
        }
    }
}

//! The JSON of `logpose refloat`.

use std::collections::BTreeMap;
use std::time::Duration;

use logpose_live::LinkFigures;
use logpose_live::refloat::session::{LiveValue, RecorderState};
use logpose_sim::board::BoardView;
use serde::Serialize;
use serde_json::Value as Json;

use super::Int;

/// The firmware, in `refloat info --json`.
#[derive(Serialize)]
pub(crate) struct Firmware {
    pub version: String,
    /// The name reported by the hardware, if any.
    pub name: Option<String>,
    pub hardware: String,
    /// `controller`, `bms`, `module` or a number.
    pub kind: Option<String>,
    pub unique_id: Option<String>,
}

/// The package, in `refloat info --json`.
#[derive(Serialize)]
pub(crate) struct Package {
    pub name: String,
    pub version: String,
    pub commit: Option<String>,
    pub tick_rate_hz: u32,
    /// `recording`, `leds`, `external leds`, `gnss`; `null` if unknown.
    pub capabilities: Option<Vec<&'static str>>,
}

/// The state of the recorder.
#[derive(Serialize)]
pub(crate) struct Recorder {
    pub recording: Option<bool>,
    pub autostart: Option<bool>,
    pub autostop: Option<bool>,
    pub decimation: Option<u8>,
    /// Length of a full recording with this decimation.
    pub duration_s: Option<f64>,
}

impl From<&RecorderState> for Recorder {
    fn from(state: &RecorderState) -> Self {
        Self {
            recording: state.recording,
            autostart: state.autostart,
            autostop: state.autostop,
            decimation: state.decimation,
            duration_s: state.duration().map(|duration| duration.as_secs_f64()),
        }
    }
}

/// `refloat info --json`.
#[derive(Serialize)]
pub(crate) struct Board {
    pub address: String,
    pub can: Option<u8>,
    pub firmware: Option<Firmware>,
    pub package: Option<Package>,
    pub can_record: bool,
    /// Why the board cannot record, as a sentence.
    pub missing: Option<String>,
    pub recorder: Option<Recorder>,
    pub round_trip_ms: Option<f64>,
}

/// `refloat status --json`, also printed by the commands that change a setting.
#[derive(Serialize)]
pub(crate) struct Status {
    pub address: String,
    pub recorder: Recorder,
}

/// `refloat fetch --json`.
#[derive(Serialize)]
pub(crate) struct Fetched {
    pub output: String,
    pub complete: bool,
    /// Samples in the recording.
    pub size: Int,
    /// Samples in the file.
    pub samples: Int,
    /// Samples that were already in the file.
    pub resumed_from: Int,
    /// Bytes of samples received.
    pub bytes: Int,
    pub requests: Int,
    pub retries: Int,
    pub interruptions: u32,
    pub elapsed_s: f64,
    pub bytes_per_s: f64,
    pub round_trip_ms: Option<f64>,
    pub error: Option<String>,
}

/// The command has started.
#[derive(Serialize)]
pub(crate) struct Started<'a> {
    pub event: &'static str,
    pub address: &'a str,
}

/// An event.
#[derive(Serialize)]
pub(crate) struct News<'a> {
    pub event: &'static str,
    pub what: &'a str,
    pub text: &'a str,
}

/// A line of `refloat watch --json`.
#[derive(Serialize)]
pub(crate) struct WatchLine {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub connected: bool,
    pub problem: Option<String>,
    pub replies: Int,
    pub tick: Option<u32>,
    /// Values by channel name, without `/refloat/`.
    pub values: BTreeMap<String, Json>,
    pub recorder: Recorder,
}

/// A line of `refloat board --json`.
#[derive(Serialize)]
pub(crate) struct BoardLine {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub client: Option<String>,
    pub connections: Int,
    pub running: bool,
    pub speed_kmh: f64,
    pub voltage_v: f64,
    pub recorder: Recorder,
    /// Stored samples.
    pub samples: Int,
    pub capacity: Int,
    /// Samples sent, including repeats.
    pub samples_sent: Int,
    /// How often a full recording was sent.
    pub fetched: Int,
    pub answered: Int,
    pub refused: Int,
}

impl BoardLine {
    pub(crate) fn of(event: &'static str, elapsed: Duration, view: &BoardView, link: &LinkFigures) -> Self {
        let recorder = Recorder {
            recording: Some(view.recording),
            autostart: Some(view.autostart),
            autostop: Some(view.autostop),
            decimation: Some(view.decimation),
            duration_s: None,
        };
        Self {
            event,
            elapsed_s: elapsed.as_secs_f64(),
            client: link.peer.clone(),
            connections: link.opened.into(),
            running: view.running,
            speed_kmh: about(view.speed),
            voltage_v: about(view.voltage),
            recorder,
            samples: (view.size as u64).into(),
            capacity: (view.capacity as u64).into(),
            samples_sent: view.sent.into(),
            fetched: view.fetched.into(),
            answered: view.answered.into(),
            refused: view.refused.into(),
        }
    }
}

/// A number rounded to three decimals.
fn about(x: f32) -> f64 {
    (f64::from(x) * 1e3).round() / 1e3
}

/// A live value; NaN and infinities are strings, as elsewhere.
pub(crate) fn value(value: &LiveValue) -> Json {
    match value {
        LiveValue::Boolean(it) => (*it).into(),
        LiveValue::Text(text) => text.as_str().into(),
        LiveValue::Number(x, _) if x.is_finite() => (*x).into(),
        LiveValue::Number(x, _) if x.is_nan() => "NaN".into(),
        LiveValue::Number(x, _) if *x > 0.0 => "Infinity".into(),
        LiveValue::Number(..) => "-Infinity".into(),
    }
}

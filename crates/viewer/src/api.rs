//! The requests and answers of the viewer, as docs/http-api.md describes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use logpose::Aligned;
use logpose_core::Time;

/// The body of an answer that is an error.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    pub error: ErrorBody,
}

/// Why a request was refused.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorBody {
    pub code: String,
    pub message: String,
    pub help: Option<String>,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    Boolean,
    Number,
    Enum,
    Text,
    Bytes,
    List,
    Struct,
    Any,
}

/// Whether a log still grows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum LogState {
    /// A file, which does not grow.
    Finished,
    /// A source that sends.
    Live,
    /// A source that has not sent anything yet, or does not at the moment.
    Waiting,
    /// A source that sends no more.
    Ended,
    /// It was closed: only its name is still known.
    Closed,
}

/// Which views suit a log.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// A match of an FRC robot.
    Frc,
    /// The log or the link of a driver station.
    Ds,
    /// A CARLA recording.
    Carla,
    /// A ride on a Refloat board.
    Refloat,
    /// Anything else.
    General,
}

/// How bad a message or an event is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// What a CARLA actor is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    Vehicle,
    Bicycle,
    Motorcycle,
    Walker,
    TrafficLight,
    TrafficSign,
    Sensor,
    Spectator,
    Other,
}

/// A series: a channel of a log, or a part of its values.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub log: usize,
    pub channel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub path: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Session {
    pub version: &'static str,
    pub title: String,
    pub origin_ns: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub sql: bool,
    pub limits: Limits,
    pub revision: u64,
    pub adding: Option<Adding>,
    pub logs: Vec<LogInfo>,
}

/// How logs can be added and closed while a session is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Adding {
    /// Whether files can be uploaded.
    pub upload: bool,
    /// The most bytes of all uploaded files together.
    pub upload_limit: u64,
    /// Whether recent files can be opened where they are, and live sources be connected to.
    pub local: bool,
}

/// The answer of `/api/start`: what can be opened with a click.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Start {
    pub recent: Vec<RecentFile>,
    pub demos: Vec<Demo>,
    /// The logs of the lake that the viewer was started with.
    pub lake: Vec<LakeLog>,
    pub sources: Vec<SourceKind>,
}

/// A file that was opened before.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecentFile {
    pub id: String,
    pub name: String,
    pub folder: String,
    /// When it was opened last, in Unix seconds.
    pub opened: u64,
    /// How long it is; nothing if it is gone.
    pub bytes: Option<u64>,
}

/// A log of `logpose demo`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Demo {
    pub name: String,
    pub about: String,
}

/// A log of a lake.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LakeLog {
    pub name: String,
    pub about: String,
}

/// A kind of live source that can be connected to.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SourceKind {
    /// What an address begins with, such as `nt4`.
    pub scheme: String,
    pub title: String,
    pub port: u16,
    /// For serial connections the ports that there are; nothing for the network.
    pub ports: Option<Vec<String>>,
    /// Whether listening means to take the place of the Driver Station.
    pub commanding: bool,
}

/// The body of `/api/logs/open`: one of these.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct OpenQuery {
    #[cfg_attr(test, ts(optional))]
    pub recent: Option<String>,
    #[cfg_attr(test, ts(optional))]
    pub demo: Option<String>,
    #[cfg_attr(test, ts(optional))]
    pub lake: Option<String>,
}

/// The body of `/api/logs/connect`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ConnectQuery {
    pub address: String,
}

/// The query of `/api/logs/known` and `/api/logs/upload`: a file as a browser knows it.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileQuery {
    pub name: String,
    pub size: u64,
    /// When it was changed last, in Unix milliseconds.
    pub modified: f64,
    /// The same for files that belong together, such as a `.dslog` and its `.dsevents`.
    pub batch: u32,
    /// Whether it is only kept beside a file that follows.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub companion: bool,
}

/// A log that was added.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Added {
    /// Its number; nothing for a file that is kept for one that follows, or that is not known.
    pub log: Option<usize>,
    /// Whether it was open before.
    pub already: bool,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Limits {
    pub series: usize,
    pub width: usize,
    pub points: usize,
    pub rows: usize,
    pub runs: usize,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LogInfo {
    pub id: usize,
    pub name: String,
    pub path: String,
    pub uploaded: bool,
    pub dialect: String,
    pub format: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub offset_ns: String,
    pub unix_offset: Option<f64>,
    pub channels: usize,
    pub samples: u64,
    pub bytes: u64,
    pub revision: u64,
    pub state: LogState,
    pub preset: Preset,
    pub facts: Vec<(String, String)>,
    pub problems: Vec<Problem>,
    pub problem_count: u64,
    pub damage: Option<Damage>,
    pub stragglers: Vec<Stragglers>,
    pub alignment: Option<Alignment>,
}

/// How a log was put on the clock of the first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Alignment {
    pub by: AlignedBy,
    pub edges: Option<MatchedEdges>,
}

/// What two clocks were compared by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum AlignedBy {
    /// The first timestamps of both logs.
    Start,
    /// The wall-clock time in both logs.
    Wall,
    /// The moments at which the robot was enabled and disabled.
    Enabled,
    /// Nothing: the logs share a clock.
    None,
}

/// How well the moments at which the robot was enabled and disabled fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MatchedEdges {
    pub matched: usize,
    pub own: usize,
    pub reference: usize,
    pub median_error: f64,
    pub max_error: f64,
    pub runner_up: usize,
    pub drift: f64,
    pub confidence: f64,
    pub confidence_name: &'static str,
    pub warnings: Vec<String>,
}

impl Alignment {
    /// One without a measure of its quality.
    #[must_use]
    pub fn by(by: AlignedBy) -> Self {
        Self { by, edges: None }
    }
}

impl From<&Aligned> for Alignment {
    fn from(found: &Aligned) -> Self {
        let seconds = |ns: i64| Time::from_nanos(ns).seconds();
        let edges = MatchedEdges {
            matched: found.matched,
            own: found.edges,
            reference: found.reference_edges,
            median_error: seconds(found.residual_median_ns),
            max_error: seconds(found.residual_max_ns),
            runner_up: found.runner_up,
            drift: found.clock.drift(),
            confidence: found.confidence,
            confidence_name: found.confidence_name(),
            warnings: found.warnings.clone(),
        };
        Self { by: AlignedBy::Enabled, edges: Some(edges) }
    }
}

/// How much of a log cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Damage {
    pub bytes: u64,
    pub share: f64,
}

/// Samples far from all others.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stragglers {
    pub start: f64,
    pub end: f64,
    pub samples: u64,
    pub text: String,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Problem {
    pub severity: &'static str,
    pub at: Option<u64>,
    pub length: u64,
    pub message: String,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Channels {
    pub revision: u64,
    pub channels: Vec<Channel>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Channel {
    pub id: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub metadata: String,
    pub unit: Option<String>,
    pub shown_unit: Option<&'static str>,
    pub samples: u64,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub kind: ValueKind,
    pub fields: Vec<Field>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Field {
    pub path: String,
    pub name: String,
    pub kind: ValueKind,
    pub unit: Option<String>,
    pub fields: Vec<Self>,
}

/// The answer of `/api/layouts`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Layouts {
    pub kept: bool,
    pub given: Option<NamedLayout>,
    #[cfg_attr(test, ts(type = "{ [kind: string]: Json }"))]
    pub kinds: BTreeMap<String, Json>,
    pub named: Vec<NamedLayout>,
}

/// A layout and what it is called.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NamedLayout {
    pub name: String,
    #[cfg_attr(test, ts(type = "Json"))]
    pub layout: Json,
}

/// The body of `POST /api/layouts`: a layout to keep for a kind of log or under a name; without a layout it is forgotten.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct KeepLayout {
    #[cfg_attr(test, ts(optional))]
    pub kind: Option<String>,
    #[cfg_attr(test, ts(optional))]
    pub name: Option<String>,
    #[cfg_attr(test, ts(type = "Json", optional))]
    pub layout: Option<Json>,
}

/// The query of `/api/logs/{log}/panes`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PanesQuery {
    pub preset: Option<Preset>,
}

/// The answer of `/api/logs/{log}/panes`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Panes {
    pub preset: Preset,
    pub panes: Vec<Pane>,
}

/// A view and what it shows first.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Pane {
    pub name: &'static str,
    pub view: &'static str,
    pub title: String,
    pub series: Vec<Reference>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PixelsQuery {
    pub start: f64,
    pub end: f64,
    pub width: usize,
    pub series: Vec<Reference>,
}

/// What the schema's metadata of `/api/pixels` says of each series.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesSummary {
    pub samples: u64,
    pub raw: bool,
    pub series_min: Option<f64>,
    pub series_max: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ValuesQuery {
    pub time: f64,
    pub series: Vec<Reference>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Values {
    pub values: Vec<Option<HeldValue>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HeldValue {
    pub time: f64,
    #[cfg_attr(test, ts(type = "Json"))]
    pub value: Json,
    pub text: String,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Events {
    pub bands: Vec<Band>,
    pub events: Vec<LogEvent>,
    pub truncated: bool,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    pub start: f64,
    pub end: f64,
    pub kind: &'static str,
    pub text: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LogEvent {
    pub start: f64,
    pub end: Option<f64>,
    pub kind: &'static str,
    pub level: Level,
    pub text: String,
    pub channel: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SqlQuery {
    pub sql: String,
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatesAnswer {
    pub series: Vec<States>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct States {
    pub labels: Vec<String>,
    pub runs: Vec<(f64, f64, i64)>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct RowsQuery {
    pub start: f64,
    pub end: f64,
    pub points: usize,
    pub series: Vec<Reference>,
}

/// What the schema's metadata of `/api/rows` says.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RowsSummary {
    pub samples: u64,
    pub downsampled: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct TableQuery {
    pub series: Vec<Reference>,
    pub from: f64,
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub backward: bool,
    pub limit: usize,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Table {
    pub rows: Vec<TableRow>,
    pub more: bool,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableRow {
    pub time: f64,
    pub cells: Vec<Option<String>>,
    pub fresh: Vec<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ConsoleQuery {
    #[cfg_attr(test, ts(optional))]
    pub from: Option<f64>,
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub backward: bool,
    #[cfg_attr(test, ts(optional))]
    pub end: Option<f64>,
    pub limit: usize,
    #[cfg_attr(test, ts(type = "Level[]", optional))]
    pub levels: Option<Vec<String>>,
    #[cfg_attr(test, ts(optional))]
    pub include: Option<String>,
    #[cfg_attr(test, ts(optional))]
    pub exclude: Option<String>,
    #[cfg_attr(test, ts(optional))]
    pub series: Option<Vec<Reference>>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Console {
    pub rows: Vec<ConsoleRow>,
    pub more: bool,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConsoleRow {
    pub time: f64,
    pub log: usize,
    pub level: Level,
    pub text: String,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct StatsQuery {
    pub start: f64,
    pub end: f64,
    pub bins: usize,
    pub series: Vec<Reference>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatsAnswer {
    pub series: Vec<Stats>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Stats {
    pub samples: u64,
    pub count: u64,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub median: Option<f64>,
    pub p05: Option<f64>,
    pub p95: Option<f64>,
    pub first: Option<f64>,
    pub last: Option<f64>,
    pub rate_hz: Option<f64>,
    pub longest_gap: Option<(f64, f64)>,
    pub histogram: Option<Histogram>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Histogram {
    pub min: f64,
    pub max: f64,
    pub counts: Vec<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct ExportQuery {
    pub format: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    #[serde(default)]
    pub series: Vec<Reference>,
    #[serde(default)]
    pub wide: bool,
}

/// What a page that listens says.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    pub subscribe: Vec<Reference>,
    pub rate: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ticking {
    pub tick: Tick,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tick {
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub revision: u64,
    pub logs: Vec<TickLog>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TickLog {
    pub id: usize,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub revision: u64,
    pub events_revision: u64,
    pub samples: u64,
    pub state: LogState,
    pub problem: Option<String>,
    pub samples_per_s: f64,
}

/// The query of `/api/logs/{log}/carla/motion`: a stretch of time, and how far apart frames are at least.
#[derive(Clone, Copy, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct MotionQuery {
    pub start: f64,
    pub end: f64,
    pub step: f64,
}

/// The answer of `/api/logs/{log}/carla/actors`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CarlaActors {
    pub map: String,
    pub actors: Vec<CarlaActor>,
    pub collisions: Vec<CarlaCollision>,
    pub truncated: bool,
}

/// One life of an actor.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CarlaActor {
    pub id: u32,
    #[serde(rename = "type")]
    pub blueprint: String,
    pub kind: ActorKind,
    pub bounding_box: Option<[f64; 6]>,
    pub color: Option<String>,
    pub hero: bool,
    pub spawned: f64,
    pub destroyed: Option<f64>,
    pub parent: Option<u32>,
}

/// A contact, from its first frame to its last.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CarlaCollision {
    pub start: f64,
    pub end: f64,
    pub actor: Option<u32>,
    pub other_actor: Option<u32>,
    pub location: Option<[f64; 3]>,
}

//! What crosses the wire, as docs/http-api.md describes it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[derive(Serialize)]
pub(crate) struct Failure<'a> {
    pub error: ErrorBody<'a>,
}

#[derive(Serialize)]
pub(crate) struct ErrorBody<'a> {
    pub code: &'a str,
    pub message: &'a str,
    pub help: Option<&'a str>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reference {
    pub log: usize,
    pub channel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Session {
    pub version: &'static str,
    pub title: String,
    pub origin_ns: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub sql: bool,
    pub limits: Limits,
    pub logs: Vec<Log>,
}

#[derive(Serialize)]
pub(crate) struct Limits {
    pub series: usize,
    pub width: usize,
    pub points: usize,
    pub rows: usize,
    pub runs: usize,
}

#[derive(Serialize)]
pub(crate) struct Log {
    pub id: usize,
    pub name: String,
    pub path: String,
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
    pub state: &'static str,
    pub preset: &'static str,
    pub facts: Vec<(String, String)>,
    pub problems: Vec<Problem>,
    pub problem_count: u64,
}

#[derive(Serialize)]
pub(crate) struct Problem {
    pub severity: &'static str,
    pub at: Option<u64>,
    pub message: String,
}

#[derive(Serialize)]
pub(crate) struct Channels {
    pub revision: u64,
    pub channels: Vec<Channel>,
}

#[derive(Serialize)]
pub(crate) struct Channel {
    pub id: u32,
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    pub metadata: String,
    pub unit: Option<String>,
    pub samples: u64,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub kind: &'static str,
    pub fields: Vec<Field>,
}

#[derive(Serialize)]
pub(crate) struct Field {
    pub path: String,
    pub name: String,
    pub kind: &'static str,
    pub unit: Option<String>,
    pub fields: Vec<Self>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PixelsQuery {
    pub start: f64,
    pub end: f64,
    pub width: usize,
    pub series: Vec<Reference>,
}

/// What the schema's metadata of `/api/pixels` says of each series.
#[derive(Serialize)]
pub(crate) struct Trace {
    pub samples: u64,
    pub raw: bool,
    pub series_min: Option<f64>,
    pub series_max: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValuesQuery {
    pub time: f64,
    pub series: Vec<Reference>,
}

#[derive(Serialize)]
pub(crate) struct Values {
    pub values: Vec<Option<Held>>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Held {
    pub time: f64,
    pub value: Json,
    pub text: String,
}

#[derive(Serialize)]
pub(crate) struct Events {
    pub bands: Vec<Band>,
    pub events: Vec<Event>,
    pub truncated: bool,
}

#[derive(Serialize)]
pub(crate) struct Band {
    pub start: f64,
    pub end: f64,
    pub kind: &'static str,
    pub text: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Event {
    pub start: f64,
    pub end: Option<f64>,
    pub kind: &'static str,
    pub level: &'static str,
    pub text: String,
    pub channel: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SqlQuery {
    pub sql: String,
    pub limit: Option<usize>,
}

#[derive(Serialize)]
pub(crate) struct StatesAnswer {
    pub series: Vec<States>,
}

#[derive(Default, Serialize)]
pub(crate) struct States {
    pub labels: Vec<String>,
    pub runs: Vec<(f64, f64, i64)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowsQuery {
    pub start: f64,
    pub end: f64,
    pub points: usize,
    pub series: Vec<Reference>,
}

/// What the schema's metadata of `/api/rows` says.
#[derive(Serialize)]
pub(crate) struct RowsAbout {
    pub samples: u64,
    pub downsampled: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableQuery {
    pub series: Vec<Reference>,
    pub from: f64,
    #[serde(default)]
    pub backward: bool,
    pub limit: usize,
}

#[derive(Serialize)]
pub(crate) struct Table {
    pub rows: Vec<TableRow>,
    pub more: bool,
}

#[derive(Serialize)]
pub(crate) struct TableRow {
    pub time: f64,
    pub cells: Vec<Option<String>>,
    pub fresh: Vec<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsoleQuery {
    pub from: Option<f64>,
    #[serde(default)]
    pub backward: bool,
    pub end: Option<f64>,
    pub limit: usize,
    pub levels: Option<Vec<String>>,
    pub include: Option<String>,
    pub exclude: Option<String>,
    pub series: Option<Vec<Reference>>,
}

#[derive(Serialize)]
pub(crate) struct Console {
    pub rows: Vec<ConsoleRow>,
    pub more: bool,
}

#[derive(Serialize)]
pub(crate) struct ConsoleRow {
    pub time: f64,
    pub log: usize,
    pub level: &'static str,
    pub text: String,
    pub source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatsQuery {
    pub start: f64,
    pub end: f64,
    pub bins: usize,
    pub series: Vec<Reference>,
}

#[derive(Serialize)]
pub(crate) struct StatsAnswer {
    pub series: Vec<Stats>,
}

#[derive(Serialize)]
pub(crate) struct Stats {
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

#[derive(Serialize)]
pub(crate) struct Histogram {
    pub min: f64,
    pub max: f64,
    pub counts: Vec<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportQuery {
    pub format: String,
    pub start: Option<f64>,
    pub end: Option<f64>,
    #[serde(default)]
    pub series: Vec<Reference>,
    #[serde(default)]
    pub wide: bool,
}

/// What a page that listens says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subscription {
    pub subscribe: Vec<Reference>,
    pub rate: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Ticking {
    pub tick: Tick,
}

#[derive(Serialize)]
pub(crate) struct Tick {
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub logs: Vec<TickLog>,
}

#[derive(Serialize)]
pub(crate) struct TickLog {
    pub id: usize,
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub revision: u64,
    pub events_revision: u64,
    pub samples: u64,
    pub state: &'static str,
    pub problem: Option<String>,
    pub samples_per_s: f64,
}

/// The answer of `/api/logs/{log}/carla/actors`.
#[derive(Debug, Serialize)]
pub(crate) struct CarlaActors {
    pub map: String,
    pub actors: Vec<CarlaActor>,
    pub collisions: Vec<CarlaCollision>,
    pub truncated: bool,
}

/// One life of an actor.
#[derive(Debug, Serialize)]
pub(crate) struct CarlaActor {
    pub id: u32,
    #[serde(rename = "type")]
    pub blueprint: String,
    pub kind: &'static str,
    pub bounding_box: Option<[f64; 6]>,
    pub color: Option<String>,
    pub hero: bool,
    pub spawned: f64,
    pub destroyed: Option<f64>,
    pub parent: Option<u32>,
}

/// A contact, from its first frame to its last.
#[derive(Debug, Serialize)]
pub(crate) struct CarlaCollision {
    pub start: f64,
    pub end: f64,
    pub actor: Option<u32>,
    pub other_actor: Option<u32>,
    pub location: Option<[f64; 3]>,
}

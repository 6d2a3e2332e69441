/** Generated from crates/viewer/src/api.rs by its tests: `make bless` writes it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Failure = { error: ErrorBody, };

export type ErrorBody = { code: string, message: string, help: string | null, };

export type ValueKind = "boolean" | "number" | "enum" | "text" | "bytes" | "list" | "struct" | "any";

export type LogState = "finished" | "live" | "waiting" | "ended" | "closed";

export type Preset = "frc" | "ds" | "carla" | "refloat" | "general";

export type Level = "info" | "warning" | "error";

export type ActorKind = "vehicle" | "bicycle" | "motorcycle" | "walker" | "traffic_light" | "traffic_sign" | "sensor" | "spectator" | "other";

export type Reference = { log: number, channel: number, path?: string, };

export type Session = { version: string, title: string, origin_ns: string, start: number | null, end: number | null, sql: boolean, limits: Limits, revision: number, adding: Adding | null, logs: Array<LogInfo>, };

export type Limits = { series: number, width: number, points: number, rows: number, runs: number, };

export type Adding = { 
/**
 * Whether files can be uploaded.
 */
upload: boolean, 
/**
 * The most bytes of all uploaded files together.
 */
upload_limit: number, 
/**
 * Whether recent files can be opened where they are, and live sources be connected to.
 */
local: boolean, };

export type Start = { recent: Array<RecentFile>, demos: Array<Demo>, 
/**
 * The logs of the lake that the viewer was started with.
 */
lake: Array<LakeLog>, sources: Array<SourceKind>, };

export type RecentFile = { id: string, name: string, folder: string, 
/**
 * When it was opened last, in Unix seconds.
 */
opened: number, 
/**
 * How long it is; nothing if it is gone.
 */
bytes: number | null, };

export type Demo = { name: string, about: string, };

export type LakeLog = { name: string, about: string, };

export type SourceKind = { 
/**
 * What an address begins with, such as `nt4`.
 */
scheme: string, title: string, port: number, 
/**
 * For serial connections the ports that there are; nothing for the network.
 */
ports: Array<string> | null, 
/**
 * Whether listening means to take the place of the Driver Station.
 */
commanding: boolean, };

export type OpenQuery = { recent?: string, demo?: string, lake?: string, };

export type ConnectQuery = { address: string, };

export type FileQuery = { name: string, size: number, 
/**
 * When it was changed last, in Unix milliseconds.
 */
modified: number, 
/**
 * The same for files that belong together, such as a `.dslog` and its `.dsevents`.
 */
batch: number, 
/**
 * Whether it is only kept beside a file that follows.
 */
companion?: boolean, };

export type Added = { 
/**
 * Its number; nothing for a file that is kept for one that follows, or that is not known.
 */
log: number | null, 
/**
 * Whether it was open before.
 */
already: boolean, };

export type LogInfo = { id: number, name: string, path: string, uploaded: boolean, dialect: string, format: string, start: number | null, end: number | null, offset_ns: string, unix_offset: number | null, channels: number, samples: number, bytes: number, revision: number, state: LogState, preset: Preset, facts: Array<[string, string]>, problems: Array<Problem>, problem_count: number, damage: Damage | null, stragglers: Array<Stragglers>, alignment: Alignment | null, };

export type Problem = { severity: string, at: number | null, length: number, message: string, };

export type Damage = { bytes: number, share: number, };

export type Stragglers = { start: number, end: number, samples: number, text: string, };

export type Alignment = { by: AlignedBy, edges: MatchedEdges | null, };

export type AlignedBy = "start" | "wall" | "enabled" | "none";

export type MatchedEdges = { matched: number, own: number, reference: number, median_error: number, max_error: number, runner_up: number, drift: number, confidence: number, confidence_name: string, warnings: Array<string>, };

export type Channels = { revision: number, channels: Array<Channel>, };

export type Channel = { id: number, name: string, type: string, metadata: string, unit: string | null, shown_unit: string | null, samples: number, start: number | null, end: number | null, kind: ValueKind, fields: Array<Field>, };

export type Field = { path: string, name: string, kind: ValueKind, unit: string | null, fields: Array<Field>, };

export type Layouts = { kept: boolean, given: NamedLayout | null, kinds: { [kind: string]: Json }, named: Array<NamedLayout>, };

export type NamedLayout = { name: string, layout: Json, };

export type KeepLayout = { kind?: string, name?: string, layout?: Json, };

export type PanesQuery = { preset: Preset | null, };

export type Panes = { preset: Preset, panes: Array<Pane>, };

export type Pane = { name: string, view: string, title: string, series: Array<Reference>, };

export type PixelsQuery = { start: number, end: number, width: number, series: Array<Reference>, };

export type SeriesSummary = { samples: number, raw: boolean, series_min: number | null, series_max: number | null, };

export type ValuesQuery = { time: number, series: Array<Reference>, };

export type Values = { values: Array<HeldValue | null>, };

export type HeldValue = { time: number, value: Json, text: string, };

export type Events = { bands: Array<Band>, events: Array<LogEvent>, truncated: boolean, };

export type Band = { start: number, end: number, kind: string, text: string, };

export type LogEvent = { start: number, end: number | null, kind: string, level: Level, text: string, channel: string | null, };

export type SqlQuery = { sql: string, limit: number | null, };

export type StatesAnswer = { series: Array<States>, };

export type States = { labels: Array<string>, runs: Array<[number, number, number]>, };

export type RowsQuery = { start: number, end: number, points: number, series: Array<Reference>, };

export type RowsSummary = { samples: number, downsampled: boolean, };

export type TableQuery = { series: Array<Reference>, from: number, backward?: boolean, limit: number, };

export type Table = { rows: Array<TableRow>, more: boolean, };

export type TableRow = { time: number, cells: Array<string | null>, fresh: Array<boolean>, };

export type ConsoleQuery = { from?: number, backward?: boolean, end?: number, limit: number, levels?: Level[], include?: string, exclude?: string, series?: Array<Reference>, };

export type Console = { rows: Array<ConsoleRow>, more: boolean, };

export type ConsoleRow = { time: number, log: number, level: Level, text: string, source: string, };

export type StatsQuery = { start: number, end: number, bins: number, series: Array<Reference>, };

export type StatsAnswer = { series: Array<Stats>, };

export type Stats = { samples: number, count: number, min: number | null, max: number | null, mean: number | null, stddev: number | null, median: number | null, p05: number | null, p95: number | null, first: number | null, last: number | null, rate_hz: number | null, longest_gap: [number, number] | null, histogram: Histogram | null, };

export type Histogram = { min: number, max: number, counts: Array<number>, };

export type ExportQuery = { format: string, start: number | null, end: number | null, series: Array<Reference>, wide: boolean, };

export type Subscription = { subscribe: Array<Reference>, rate: number | null, };

export type Ticking = { tick: Tick, };

export type Tick = { start: number | null, end: number | null, revision: number, logs: Array<TickLog>, };

export type TickLog = { id: number, start: number | null, end: number | null, revision: number, events_revision: number, samples: number, state: LogState, problem: string | null, samples_per_s: number, };

export type MotionQuery = { start: number, end: number, step: number, };

export type CarlaActors = { map: string, actors: Array<CarlaActor>, collisions: Array<CarlaCollision>, truncated: boolean, };

export type CarlaActor = { id: number, type: string, kind: ActorKind, bounding_box: [number, number, number, number, number, number] | null, color: string | null, hero: boolean, spawned: number, destroyed: number | null, parent: number | null, };

export type CarlaCollision = { start: number, end: number, actor: number | null, other_actor: number | null, location: [number, number, number] | null, };

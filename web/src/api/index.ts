/** What crosses the wire: the types of docs/http-api.md, and one function for each request. */

import { tableFromIPC, type Table } from "apache-arrow";
import type {
  Added,
  CarlaActors,
  Channels,
  ConnectQuery,
  Console,
  ConsoleQuery,
  Events,
  Failure,
  OpenQuery,
  KeepLayout,
  Layouts,
  Panes,
  PixelsQuery,
  Preset,
  Reference,
  RowsQuery,
  RowsSummary,
  SeriesSummary,
  Session,
  SqlQuery,
  Start,
  StatesAnswer,
  StatsAnswer,
  StatsQuery,
  Subscription,
  Table as TextTable,
  TableQuery,
  Tick,
  Values,
  ValuesQuery,
} from "./types";

export type {
  Added,
  Alignment,
  Band,
  CarlaActor,
  CarlaActors,
  CarlaCollision,
  Channel,
  Channels,
  ConsoleQuery,
  ConsoleRow,
  Damage,
  Demo,
  Events,
  Field,
  HeldValue as Held,
  Json,
  Layouts,
  Level,
  LogEvent,
  LogInfo,
  LogState,
  NamedLayout,
  Pane,
  Panes,
  Preset,
  Problem,
  RecentFile,
  Reference,
  Session,
  SourceKind,
  Start,
  States,
  Stats,
  TableRow,
  Tick,
  ValueKind,
} from "./types";

/** Buckets of one series, in the order of time. Of a bucket with one sample all four values are the same. */
export interface Trace extends SeriesSummary {
  start: Float64Array;
  end: Float64Array;
  first: Float64Array;
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

export type ExportFormat = "csv" | "ndjson" | "mcap" | "parquet" | "arrow" | "wpilog" | "rlog";

/** What the server refused, in its own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly help: string | null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

async function ask(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { credentials: "same-origin" };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.method = "POST";
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const response = await fetch(path, init);
  if (response.ok) return response;
  throw refusal(response.status, await response.text());
}

/** The error of an answer that is one. */
export function refusal(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as Failure;
    return new ApiError(status, error.code, error.message, error.help);
  } catch {
    return new ApiError(status, "http", text || `the server answered with ${status}`, null);
  }
}

async function json<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, body, signal)).json()) as T;
}

async function arrow(path: string, body?: unknown, signal?: AbortSignal): Promise<Table> {
  return tableFromIPC(new Uint8Array(await (await ask(path, body, signal)).arrayBuffer()));
}

export const getSession = (signal?: AbortSignal) => json<Session>("/api/session", undefined, signal);

export const getLayouts = (signal?: AbortSignal) => json<Layouts>("/api/layouts", undefined, signal);

/** Keeps a layout for a kind of log or under a name; without a layout it is forgotten. */
export const postLayout = (query: KeepLayout) => json<Layouts>("/api/layouts", query);

export const getChannels = (log: number, signal?: AbortSignal) =>
  json<Channels>(`/api/logs/${log}/channels`, undefined, signal);

export const getEvents = (log: number, signal?: AbortSignal) =>
  json<Events>(`/api/logs/${log}/events`, undefined, signal);

/** What a log shows first; `preset` instead of the one of the log. */
export const getPanes = (log: number, preset?: Preset, signal?: AbortSignal) =>
  json<Panes>(`/api/logs/${log}/panes${preset ? `?preset=${preset}` : ""}`, undefined, signal);

/** What can be opened with a click. */
export const getStart = (signal?: AbortSignal) => json<Start>("/api/start", undefined, signal);

export const postOpen = (query: OpenQuery) => json<Added>("/api/logs/open", query);

export const postConnect = (query: ConnectQuery) => json<Added>("/api/logs/connect", query);

export const postClose = async (log: number): Promise<void> => void (await ask(`/api/logs/${log}/close`, {}));

export interface Window {
  start: number;
  end: number;
}

export const postPixels = async (query: PixelsQuery, signal?: AbortSignal): Promise<Trace[]> =>
  traces(await arrow("/api/pixels", query, signal), query.series.length);

export const postStates = async (query: PixelsQuery, signal?: AbortSignal) =>
  (await json<StatesAnswer>("/api/states", query, signal)).series;

export const postValues = async (query: ValuesQuery, signal?: AbortSignal) =>
  (await json<Values>("/api/values", query, signal)).values;

export interface Rows {
  time: Float64Array;
  columns: Float64Array[];
  samples: number;
  downsampled: boolean;
}

/** Rows at the samples of the first series; NaN where a series has no value yet. */
export const postRows = async (query: RowsQuery, signal?: AbortSignal): Promise<Rows> => {
  const table = await arrow("/api/rows", query, signal);
  const about = JSON.parse(table.schema.metadata.get("rows") ?? "{}") as Partial<RowsSummary>;
  return {
    time: numbers(table, "time"),
    columns: query.series.map((_, place) => numbers(table, `c${place}`)),
    samples: about.samples ?? 0,
    downsampled: about.downsampled ?? false,
  };
};

export const postTable = (query: TableQuery, signal?: AbortSignal) => json<TextTable>("/api/table", query, signal);

export const postConsole = (query: ConsoleQuery, signal?: AbortSignal) => json<Console>("/api/console", query, signal);

export const postStats = async (query: StatsQuery, signal?: AbortSignal) =>
  (await json<StatsAnswer>("/api/stats", query, signal)).series;

export const getActors = (log: number, signal?: AbortSignal) =>
  json<CarlaActors>(`/api/logs/${log}/carla/actors`, undefined, signal);

export const getMotion = (log: number, start: number, end: number, step: number, signal?: AbortSignal) =>
  arrow(`/api/logs/${log}/carla/motion?start=${start}&end=${end}&step=${step}`, undefined, signal);

export const postSql = async (query: SqlQuery, signal?: AbortSignal) => {
  const response = await ask("/api/sql", query, signal);
  const more = response.headers.get("logpose-more") === "true";
  return { table: tableFromIPC(new Uint8Array(await response.arrayBuffer())), more };
};

export const postExport = async (
  query: Partial<Window> & { format: ExportFormat; series: Reference[]; wide?: boolean },
): Promise<Blob> => (await ask("/api/export", query)).blob();

/** A repaired copy of a damaged log, and what to call it. */
export async function postRepaired(log: number): Promise<{ file: Blob; name: string }> {
  const response = await ask(`/api/logs/${log}/repaired`, {});
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return { file: await response.blob(), name: name ?? "recovered.log" };
}

/** The traces of an answer of `/api/pixels`, or of a message of the live socket. */
export function traces(table: Table, count: number): Trace[] {
  const about = JSON.parse(table.schema.metadata.get("series") ?? "[]") as Partial<SeriesSummary>[];
  const series = (table.getChild("series")?.toArray() ?? new Uint16Array()) as Uint16Array;
  const column = (name: string) => numbers(table, name);
  const [starts, ends, first, min, max, last] = [
    column("start"),
    column("end"),
    column("first"),
    column("min"),
    column("max"),
    column("last"),
  ];
  const found: Trace[] = [];
  let start = 0;
  for (let place = 0; place < count; place++) {
    let end = start;
    while (end < series.length && series[end] === place) end++;
    const part = (values: Float64Array) => values.subarray(start, end);
    const summary = about[place] ?? {};
    found.push({
      start: part(starts),
      end: part(ends),
      first: part(first),
      min: part(min),
      max: part(max),
      last: part(last),
      samples: summary.samples ?? end - start,
      raw: summary.raw ?? false,
      series_min: summary.series_min ?? null,
      series_max: summary.series_max ?? null,
    });
    start = end;
  }
  return found;
}

/** A column as binary64; NaN for null. */
function numbers(table: Table, name: string): Float64Array {
  const vector = table.getChild(name);
  if (!vector) return new Float64Array();
  if (vector.nullCount === 0) {
    const values: unknown = vector.toArray();
    if (values instanceof Float64Array) return values;
  }
  return Float64Array.from(vector, (value: unknown) => (value === null ? NaN : Number(value)));
}

/** The socket of live logs. It connects again whenever the connection ends, until it is closed. */
export class LiveSocket {
  #socket: WebSocket | null = null;
  #closed = false;
  #pause = 250;
  #wanted: Subscription = { subscribe: [], rate: 30 };

  constructor(
    private readonly onTick: (tick: Tick) => void,
    private readonly onTraces: (traces: Trace[], subscribed: Reference[]) => void,
    private readonly onState: (open: boolean) => void,
  ) {
    this.#connect();
  }

  subscribe(series: Reference[], rate = 30): void {
    this.#wanted = { subscribe: series, rate };
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(this.#wanted));
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
  }

  #connect(): void {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/api/live`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#pause = 250;
      socket.send(JSON.stringify(this.#wanted));
      this.onState(true);
    };
    socket.onmessage = (message: MessageEvent<string | ArrayBuffer>) => {
      if (typeof message.data === "string") {
        const { tick } = JSON.parse(message.data) as { tick?: Tick };
        if (tick) this.onTick(tick);
      } else {
        const table = tableFromIPC(new Uint8Array(message.data));
        // Not what is wanted now: another subscription may be on its way.
        const subscribed = JSON.parse(table.schema.metadata.get("references") ?? "[]") as Reference[];
        this.onTraces(traces(table, subscribed.length), subscribed);
      }
    };
    socket.onclose = () => {
      this.onState(false);
      if (this.#closed) return;
      setTimeout(() => this.#connect(), this.#pause);
      this.#pause = Math.min(this.#pause * 2, 5000);
    };
    this.#socket = socket;
  }
}

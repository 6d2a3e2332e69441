/** What a graph shows, as layouts and addresses keep it. */

import type { Field, ValueKind } from "../../api";
import { sameSeries, seriesRef } from "../../model/series";
import type { SeriesRef } from "../../model/series";
import type { Found } from "../../store/session.svelte";

export const STYLES = ["stepped", "smooth", "points"] as const;
export type Style = (typeof STYLES)[number];

export const FILTERS = ["none", "derivative", "integral", "average", "absolute"] as const;
export type Filter = (typeof FILTERS)[number];

export const SIDES = ["auto", "left", "right"] as const;
export type Side = (typeof SIDES)[number];

export const LEGENDS = ["below", "beside", "hidden"] as const;
export type LegendPlace = (typeof LEGENDS)[number];

export const WIDTHS = [1, 1.5, 2.5, 4] as const;

export interface SeriesConfig {
  ref: SeriesRef;
  /** Place among the colours of the theme, or a colour, `#rrggbb`. */
  color: number | string;
  shown: boolean;
  side: Side;
  style: Style;
  width: number;
  filter: Filter;
  /** Seconds that the moving average looks at. */
  window: number;
  /** Values are drawn as `value × scale + offset`. */
  scale: number;
  offset: number;
}

export interface AxisConfig {
  /** The unit it is drawn in; nothing for that of its first series. */
  unit: string | null;
  /** A fixed range in that unit, or nothing for what is visible. */
  range: [number, number] | null;
  log: boolean;
}

export interface GraphConfig {
  series: SeriesConfig[];
  /** By the key of the axis: `left:voltage`. */
  axes: Record<string, AxisConfig>;
  /** Whether modes are shaded behind the lines. */
  bands: boolean;
  /** Whether brownouts, errors and the like are marked. */
  alerts: boolean;
  legend: LegendPlace;
  /** Whether the legend has the statistics of the selection, or of what is visible. */
  stats: boolean;
}

/** The most series of a graph: more would be unreadable. */
export const MOST_SERIES = 64;

/** How many parts of a struct or list are taken when it is dropped as a whole. */
const MOST_PARTS = 16;

export const emptyAxis = (): AxisConfig => ({ unit: null, range: null, log: false });

export const emptyGraph = (): GraphConfig => ({
  series: [],
  axes: {},
  bands: true,
  alerts: true,
  legend: "below",
  stats: false,
});

export const newSeries = (ref: SeriesRef, color: number, style: Style = "stepped"): SeriesConfig => ({
  ref,
  color,
  shown: true,
  side: "auto",
  style,
  width: 1.5,
  filter: "none",
  window: 0.5,
  scale: 1,
  offset: 0,
});

/** Whether values are rather a row of states than a line. */
export const isDiscrete = (kind: ValueKind): boolean => kind === "boolean" || kind === "enum" || kind === "text";

/**
 * Robots log a value when it changes, and it is held until the next one: a slope between two of them never existed. Simulators and
 * boards log what moves, at every step.
 */
export function styleFor(kind: ValueKind, dialect: string): Style {
  return !isDiscrete(kind) && /carla|refloat/.test(dialect) ? "smooth" : "stepped";
}

/** The first colour of the theme that the fewest series have. */
export function freeColor(series: readonly SeriesConfig[]): number {
  const uses = Array.from({ length: 10 }, () => 0);
  for (const { color } of series) if (typeof color === "number") uses[color % 10] = (uses[color % 10] ?? 0) + 1;
  return uses.indexOf(Math.min(...uses));
}

/** Adds series that are not there yet; structs and lists by their parts. Tells whether there was anything to draw. */
export function addSeries(
  config: GraphConfig,
  refs: SeriesRef[],
  find: (ref: SeriesRef) => Found | null,
  dialect: (log: number) => string,
): boolean {
  let drawable = false;
  for (const ref of refs) {
    for (const part of partsOf(ref, find(ref))) {
      drawable = true;
      if (config.series.length >= MOST_SERIES) return true;
      if (config.series.some((known) => sameSeries(known.ref, part))) continue;
      const style = styleFor(find(part)?.kind ?? "any", dialect(part.log));
      config.series.push(newSeries(part, freeColor(config.series), style));
    }
  }
  return drawable;
}

function partsOf(ref: SeriesRef, found: Found | null): SeriesRef[] {
  if (!found || found.kind === "bytes") return [];
  if (found.kind !== "struct" && found.kind !== "list") return [ref];
  const parts: SeriesRef[] = [];
  const collect = (fields: Field[]) => {
    for (const field of fields) {
      if (parts.length >= MOST_PARTS) return;
      if (field.fields.length > 0) collect(field.fields);
      else if (field.kind === "number" || field.kind === "any" || isDiscrete(field.kind)) {
        // Texts of lists would be rows without end.
        if (found.kind !== "list" || field.kind !== "text") parts.push({ ...ref, path: field.path });
      }
    }
  };
  collect(found.field?.fields ?? found.channel.fields);
  return parts;
}

/** Reads a configuration from a file or a link; invalid values become the default. */
export function restoreGraph(data: unknown): GraphConfig {
  const empty = emptyGraph();
  if (!isObject(data)) return empty;
  const series = Array.isArray(data["series"]) ? data["series"].slice(0, MOST_SERIES) : [];
  const axes: Record<string, AxisConfig> = {};
  if (isObject(data["axes"])) {
    for (const [key, axis] of Object.entries(data["axes"]).slice(0, MOST_SERIES)) {
      if (isObject(axis) && /^(left|right):/.test(key)) axes[key] = restoreAxis(axis);
    }
  }
  return {
    series: series.map(restoreSeries).filter((one) => one !== null),
    axes,
    bands: truth(data["bands"], empty.bands),
    alerts: truth(data["alerts"], empty.alerts),
    legend: oneOf(LEGENDS, data["legend"], empty.legend),
    stats: truth(data["stats"], empty.stats),
  };
}

function restoreSeries(data: unknown, place: number): SeriesConfig | null {
  // A bare reference is enough: presets and people write those.
  const ref = isObject(data) && "ref" in data ? seriesRef(data["ref"]) : seriesRef(data);
  if (!ref || !isObject(data)) return null;
  const empty = newSeries(ref, place % 10);
  return {
    ref,
    color: restoreColor(data["color"], empty.color),
    shown: truth(data["shown"], true),
    side: oneOf(SIDES, data["side"], empty.side),
    style: oneOf(STYLES, data["style"], empty.style),
    width: within(data["width"], 0.5, 8, empty.width),
    filter: oneOf(FILTERS, data["filter"], empty.filter),
    window: within(data["window"], 1e-6, 1e6, empty.window),
    scale: within(data["scale"], -1e300, 1e300, empty.scale),
    offset: within(data["offset"], -1e300, 1e300, empty.offset),
  };
}

function restoreAxis(data: Record<string, unknown>): AxisConfig {
  const { unit, range } = data;
  const [low, high] = Array.isArray(range) ? (range as unknown[]) : [];
  const sound = typeof low === "number" && typeof high === "number" && Number.isFinite(high - low) && low < high;
  return {
    unit: typeof unit === "string" ? unit.slice(0, 32) : null,
    range: sound ? [low, high] : null,
    log: truth(data["log"], false),
  };
}

function restoreColor(data: unknown, otherwise: number | string): number | string {
  if (typeof data === "number" && Number.isInteger(data) && data >= 0) return data % 10;
  return typeof data === "string" && /^#[0-9a-f]{6}$/i.test(data) ? data : otherwise;
}

const isObject = (data: unknown): data is Record<string, unknown> =>
  typeof data === "object" && data !== null && !Array.isArray(data);

const truth = (data: unknown, otherwise: boolean): boolean => (typeof data === "boolean" ? data : otherwise);

function oneOf<T extends string>(choices: readonly T[], data: unknown, otherwise: T): T {
  return choices.find((choice) => choice === data) ?? otherwise;
}

function within(data: unknown, low: number, high: number, otherwise: number): number {
  return typeof data === "number" && data >= low && data <= high ? data : otherwise;
}

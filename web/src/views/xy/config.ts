import { sameSeries, seriesRef, seriesRefs, type SeriesRef } from "../../model/series";
import type { Span } from "../../draw/axes";
import { RANGES, type Range } from "../../model/range";

export const TRAILS = [0, 1, 2, 5, 10, 30, 60] as const;

export interface XyConfig {
  x: SeriesRef | null;
  y: SeriesRef[];
  range: Range;
  style: "line" | "points";
  /** Whether the colour shows the time instead of the series. */
  timed: boolean;
  /** How many seconds up to the cursor stand out; 0 for all up to it. */
  trail: number;
  /** Whether both axes have the same scale. */
  equal: boolean;
  /** What is in view; nothing for all of it. */
  view: { x: Span; y: Span } | null;
}

export const empty = (): XyConfig => ({
  x: null,
  y: [],
  range: "visible",
  style: "line",
  timed: false,
  trail: 0,
  equal: false,
  view: null,
});

export function restore(data: unknown): XyConfig {
  const { x, y, range, style, timed, trail, equal, view } = (data ?? {}) as Record<string, unknown>;
  return {
    x: seriesRef(x),
    y: seriesRefs(y),
    range: RANGES.find((one) => one === range) ?? "visible",
    style: style === "points" ? "points" : "line",
    timed: timed === true,
    trail: TRAILS.find((one) => one === trail) ?? 0,
    equal: equal === true,
    view: viewOf(view),
  };
}

function viewOf(data: unknown): XyConfig["view"] {
  const { x, y } = (data ?? {}) as Record<string, unknown>;
  const [across, up] = [spanFrom(x), spanFrom(y)];
  return across && up ? { x: across, y: up } : null;
}

function spanFrom(data: unknown): Span | null {
  const { low, high } = (data ?? {}) as Record<string, unknown>;
  const fits = typeof low === "number" && typeof high === "number" && Number.isFinite(low) && high > low;
  return fits && Number.isFinite(high) ? { low, high } : null;
}

/** The first series is x, the others are y. */
export function add(config: XyConfig, refs: SeriesRef[]): boolean {
  for (const ref of refs) {
    if (!config.x) config.x = { ...ref };
    else if (!config.y.some((known) => sameSeries(known, ref))) config.y.push({ ...ref });
  }
  if (refs.length > 0) config.view = null;
  return refs.length > 0;
}

/** Makes the first y the x and the other way round. */
export function swap(config: XyConfig): void {
  const [first] = config.y;
  if (!config.x || !first) return;
  const old = { ...config.x };
  config.x = { ...first };
  config.y[0] = old;
  config.view = null;
}

/** From the configuration of a graph to what is drawn. */

import { untrack } from "svelte";
import type { LogEvent, States, Trace } from "../../api";
import { color, seriesColor } from "../../draw/canvas";
import { visibleOn } from "../../draw/contrast";
import { formatNumber } from "../../values/format";
import { conversion, SAME, unitShown } from "../../values/units";
import { keyOf } from "../../model/series";
import { clock } from "../../store/clock.svelte";
import { logs } from "../../store/session.svelte";
import type { Found } from "../../store/session.svelte";
import { traces } from "../../store/traces.svelte";
import type { Piece, Watch } from "../../store/traces.svelte";
import { assignAxes, ontoAxis, paddedRange, unitBehind } from "./axes";
import type { Axis } from "./axes";
import { isDiscrete } from "./config";
import type { GraphConfig, SeriesConfig } from "./config";
import { filtered, heldIn, integralBetween, joined, sumBefore } from "./filters";
import { shortNames } from "../../model/names";
import { countBuckets, extent } from "./buckets";
import type { BandShade, Line, Palette, Row, Scene } from "./scene";
import { runsOf } from "./states";

/** A series of the graph, and what is known of it. */
export interface Item {
  key: string;
  series: SeriesConfig;
  found: Found | null;
  /** Whether it is a row of states. */
  row: boolean;
  /** The unit in which its values are shown, and that of what is drawn. */
  unit: string;
  drawn: string;
  name: string;
  color: string;
  axis: Axis | null;
  factor: number;
  offset: number;
}

/** How wide the look at a whole series is that an integral begins with. */
const WHOLE_WIDTH = 4096;

export class GraphModel {
  readonly #config: () => GraphConfig;
  readonly #lines: Watch<Trace>;
  readonly #whole: Watch<Trace>;
  readonly #states: Watch<States>;
  /** What was drawn last of each filtered series. */
  readonly #made = new Map<string, { key: string; parts: unknown[]; trace: Trace }>();

  /** Another number whenever a filtered series is another one. */
  #version = $state(0);
  /** What was drawn last of each series. */
  #drawn = new Map<string, Piece<Trace>[]>();

  readonly items: Item[] = $derived.by(() => this.#items());
  readonly axes: Axis[] = $derived.by(() => [
    ...new Map(this.items.flatMap((item) => (item.axis ? [[item.axis.key, item.axis] as const] : []))).values(),
  ]);
  /** Whether names need the log beside them. */
  readonly several = $derived(logs.several);

  constructor(config: () => GraphConfig) {
    this.#config = config;
    this.#lines = traces.lines();
    this.#whole = traces.lines();
    this.#states = traces.states();
  }

  close(): void {
    this.#lines.close();
    this.#whole.close();
    this.#states.close();
  }

  #items(): Item[] {
    const { series, axes: configs } = this.#config();
    const names = shortNames(series.map((one) => one.ref));
    const partial = series.map((one) => {
      const found = logs.find(one.ref);
      const row = found !== null && isDiscrete(found.kind) && one.side === "auto";
      const unit = found ? unitShown(found) : "";
      const shown = conversion(found?.unit ?? "", unit) ?? SAME;
      return { one, found, row, unit, shown, drawn: unitBehind(one.filter, unit) };
    });
    const axes = assignAxes(
      partial.map(({ one, found, row, drawn }) =>
        found && !row ? { side: one.side, unit: drawn, shown: one.shown } : null,
      ),
      configs,
    );
    return partial.map(({ one, found, row, unit, shown, drawn }, place) => {
      const axis = axes.find((axis) => axis.series.includes(place)) ?? null;
      const way = axis ? ontoAxis(drawn, axis, one.scale, one.offset) : { factor: one.scale, offset: one.offset };
      return {
        key: keyOf(one.ref),
        series: one,
        found,
        row,
        unit,
        drawn,
        name: names[place] ?? one.ref.name,
        color: typeof one.color === "number" ? seriesColor(one.color) : one.color,
        axis,
        factor: way.factor * shown.factor,
        offset: way.offset,
      };
    });
  }

  /** The picture of the visible range. Requests the data that is missing. */
  scene(width: number, height: number, ratio: number): Scene {
    const { start, end } = clock;
    const config = this.#config();
    const drawn = this.items.filter((item) => item.found && !item.row && item.series.shown);
    const rows = this.items.filter((item) => item.found && item.row && item.series.shown);
    const pixels = Math.max(width, 64) * Math.min(ratio, 2);
    // A mean needs what lies beside the window too.
    const room = Math.max(0, ...drawn.map(({ series }) => (series.filter === "average" ? series.window : 0)));
    const references = (items: Item[]) => items.flatMap((item) => (item.found ? [item.found.reference] : []));
    const span = end - start;
    const views = untrack(() =>
      this.#lines.ask(references(drawn), start - room, end + room, (pixels * (span + 2 * room)) / span),
    );
    const sums = drawn.filter(({ series }) => series.filter === "integral");
    const wholes = untrack(() =>
      this.#whole.ask(references(sums), clock.first, clock.last, sums.length ? WHOLE_WIDTH : 1),
    );
    this.#drawn = new Map();
    const lines = drawn.map((item, place): Line => {
      const whole = wholes[sums.indexOf(item)]?.pieces ?? [];
      const pieces = this.#filtered(item, views[place]?.pieces ?? [], whole, start - room, end + room);
      this.#drawn.set(item.key, pieces);
      const { count, raw } = countBuckets(pieces, start, end);
      return {
        name: item.name,
        pieces,
        color: item.color,
        width: item.series.width,
        style: item.series.style,
        axis: item.axis?.key ?? "",
        factor: item.factor,
        offset: item.offset,
        dots: raw && count < width / 9,
      };
    });
    const states = untrack(() => this.#states.ask(references(rows), start, end, pixels));
    const palette = paletteOf();
    return {
      width,
      height,
      start,
      end,
      until: clock.last,
      lines,
      axes: this.axes
        .filter((axis) => axis.shown)
        .map((axis) => {
          const alone =
            axis.series.length === 1 && this.axes.length > 1 ? this.items[axis.series[0] ?? 0]?.color : undefined;
          return {
            key: axis.key,
            side: axis.side,
            unit: axis.unit,
            log: axis.log,
            fixed: axis.range !== null,
            range:
              axis.range ??
              rangeOf(
                lines.filter((line) => line.axis === axis.key),
                start,
                end,
                axis.log,
              ),
            // A colour that the user chose may be too dark for numbers.
            color: alone === undefined ? palette.dim : visibleOn(alone, palette.panel, 4.5),
          };
        }),
      rows: rows.map((item, place): Row => ({
        name: item.name,
        color: item.color,
        boolean: item.found?.kind === "boolean",
        runs: runsOf(states[place]?.pieces ?? [], start, end),
      })),
      bands: config.bands ? bandsOf() : [],
      alerts: config.alerts && this.items.length > 0 ? alertsOf() : [],
      palette,
    };
  }

  /** What a filtered series is at a moment; `≈` where it came from more than samples. */
  filteredAt(item: Item, t: number): { value: number; exact: boolean } | null {
    void this.#version;
    const made = this.#made.get(item.key);
    if (!made) return null;
    const value = heldIn(made.trace, t) * item.factor + item.offset;
    return Number.isNaN(value) ? null : { value, exact: made.trace.raw };
  }

  /** What is drawn of a series at a moment; NaN where nothing is. */
  drawnAt(item: Item, t: number): number {
    const pieces = this.#drawn.get(item.key) ?? [];
    const piece = pieces.findLast(({ data, from }) => from <= t && (data.start[0] ?? Infinity) <= t);
    return piece ? heldIn(piece.data, t) * item.factor + item.offset : NaN;
  }

  /** The sum over the selection, or over what is visible, with its unit; `≈` where it came from more than samples. */
  integralText(item: Item): string {
    // New data, another window: another sum.
    void traces.version;
    const { start, end } = clock.selection ?? clock;
    const line = this.#drawn.get(item.key);
    if (!line || item.row) return "";
    const { sum, exact } = integralBetween(
      line,
      Math.max(start, clock.first),
      Math.min(end, clock.last),
      item.series.style === "stepped",
    );
    const span = Math.min(end, clock.last) - Math.max(start, clock.first);
    return `${exact ? "" : "≈ "}${formatNumber(sum * item.factor + item.offset * span)}`;
  }

  #filtered(item: Item, pieces: Piece<Trace>[], whole: Piece<Trace>[], start: number, end: number): Piece<Trace>[] {
    const { filter, window, style } = item.series;
    if (filter === "none") {
      this.#made.delete(item.key);
      return pieces;
    }
    const key = [filter, window, style, start, end].join();
    const parts = [...pieces, ...whole].map((piece) => piece.data);
    const known = this.#made.get(item.key);
    let trace = known?.trace;
    if (!known || known.key !== key || !sameParts(known.parts, parts)) {
      const held = style === "stepped";
      const mine = joined(pieces, start, end);
      let earlier = 0;
      let exact = true;
      if (filter === "integral") {
        const all = filtered(joined(whole, -Infinity, Infinity), "integral", 0, 0, held);
        earlier = sumBefore(all, mine.start[0] ?? -Infinity);
        exact = all.raw;
      }
      trace = filtered(mine, filter, window, earlier, held);
      trace.raw &&= exact;
      this.#made.set(item.key, { key, parts, trace });
      this.#version++;
    }
    return trace ? [{ data: trace, from: -Infinity, to: Infinity }] : [];
  }
}

const sameParts = (a: unknown[], b: unknown[]): boolean =>
  a.length === b.length && a.every((part, place) => part === b[place]);

function rangeOf(lines: Line[], start: number, end: number, log: boolean): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const { pieces, style, factor, offset } of lines) {
    const [least, most] = extent(pieces, start, end, style, log && factor > 0 && offset === 0);
    if (!(least <= most)) continue;
    const [a, b] = [least * factor + offset, most * factor + offset];
    low = Math.min(low, a, b);
    high = Math.max(high, a, b);
  }
  return paddedRange(low, high, log);
}

export function paletteOf(): Palette {
  return {
    text: color("--text"),
    dim: color("--dim"),
    faint: color("--faint"),
    line: color("--line"),
    panel: color("--panel"),
    font: color("--font"),
    mono: color("--mono"),
    warning: color("--warning"),
    error: color("--error"),
    info: color("--info"),
    series: Array.from({ length: 10 }, (_, place) => seriesColor(place)),
  };
}

/** Modes of the first log that has any: two overlapping shades are unreadable. */
function bandsOf(): BandShade[] {
  return logs.bands
    .filter((band) => band.kind !== "disabled")
    .map(({ start, end, kind, text }) => ({ start, end, text, color: bandColor(kind) }));
}

export function bandColor(kind: string): string {
  const known = ["auto", "teleop", "test", "disabled", "estop"].find((name) => kind.startsWith(name));
  return color(known ? `--${known}` : "--accent");
}

/** What went wrong, of all logs, in the order of time. */
function alertsOf(): LogEvent[] {
  return logs.events
    .flatMap((events) => events.events)
    .filter((event) => event.level !== "info")
    .sort((a, b) => a.start - b.start);
}

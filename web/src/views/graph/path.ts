/** Lines out of buckets. No peak is lost, however many samples lie on one pixel; where none share one it is the plain line. */

import type { Trace } from "../../api";
import type { Piece } from "../../store/tiles";
import { short } from "../../draw/svg";
import type { Style } from "./config";

/** Where a path goes: a `Path2D`, or the text of an SVG. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  rect(x: number, y: number, width: number, height: number): void;
}

/** From time and value to pixels: `x = t × ax + bx`, `y = v × ay + by`, for a logarithmic axis of `log₁₀(v × factor + offset)`. */
export interface Place {
  ax: number;
  bx: number;
  ay: number;
  by: number;
  factor: number;
  offset: number;
  log: boolean;
}

/** Calls `visit` for each bucket of the window and its neighbours on both sides, in the order of time, none twice. */
export function eachBucket(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  visit: (trace: Trace, place: number) => void,
): void {
  let previous = -Infinity;
  let before: { trace: Trace; place: number } | null = null;
  for (let which = 0; which < pieces.length; which++) {
    const piece = pieces[which];
    if (!piece) continue;
    const { data: trace, from, to } = piece;
    const { t, u } = trace;
    const isFirst = which === 0;
    const isLast = which === pieces.length - 1;
    // The first piece may begin with the sample before it, the last one end with the sample behind it.
    let place = Math.max(isFirst ? 0 : firstFrom(t, from), firstFrom(u, start) - 1);
    while (place < t.length && (t[place] as number) <= previous) place++;
    for (; place < t.length; place++) {
      const time = t[place] as number;
      if (!isLast && time >= to) break;
      if ((u[place] as number) < start) {
        before = { trace, place };
        continue;
      }
      if (before) {
        visit(before.trace, before.place);
        before = null;
      }
      previous = u[place] as number;
      visit(trace, place);
      if (time > end) return;
    }
  }
  if (before) visit(before.trace, before.place);
}

function firstFrom(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Draws the pieces. Buckets that fall onto the same column of pixels are drawn as one stroke from the least to the greatest
 * value: first, least, greatest, last. `until` is how far the last value of a stepped line is held.
 */
export function tracePath(
  pen: Pen,
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  at: Place,
  style: Style,
  until: number,
  dot = 3,
): void {
  const { ax, bx, ay, by, factor, offset, log } = at;
  const y = log
    ? (value: number) => {
        const scaled = value * factor + offset;
        return scaled > 0 ? Math.log10(scaled) * ay + by : NaN;
      }
    : (value: number) => (value * factor + offset) * ay + by;
  const stepped = style === "stepped";
  const points = style === "points";

  // The column that is being gathered, in pixels.
  let column = NaN;
  let [x0, x1, first, low, high, last] = [0, 0, 0, 0, 0, 0];
  let many = false;
  let down = false;
  let heldY = NaN;

  const flush = () => {
    if (Number.isNaN(column)) return;
    column = NaN;
    if (points) {
      dotAt(x0, first);
      if (many) {
        dotAt((x0 + x1) / 2, low);
        if (high !== low) dotAt((x0 + x1) / 2, high);
        dotAt(x1, last);
      }
      return;
    }
    if (down) {
      if (stepped) pen.lineTo(x0, heldY);
      pen.lineTo(x0, first);
    } else {
      pen.moveTo(x0, first);
      // A lone point would not be seen.
      if (!many) pen.lineTo(x0 + 0.01, first);
      down = true;
    }
    if (many) {
      const middle = (x0 + x1) / 2;
      // The nearer end of the stroke is reached first: less ink, and the shape of a single peak stays.
      const [near, far] = Math.abs(first - low) <= Math.abs(first - high) ? [low, high] : [high, low];
      if (near !== first) pen.lineTo(middle, near);
      if (far !== near) pen.lineTo(middle, far);
      if (last !== far || x1 !== middle) pen.lineTo(x1, last);
    }
    heldY = last;
  };
  const dotAt = (x: number, y: number) => pen.rect(x - dot / 2, y - dot / 2, dot, dot);

  eachBucket(pieces, start, end, (trace, place) => {
    const [min, max] = [y(trace.min[place] as number), y(trace.max[place] as number)];
    if (Number.isNaN(min) && Number.isNaN(max)) {
      flush();
      if (stepped && down) pen.lineTo((trace.t[place] as number) * ax + bx, heldY);
      down = false;
      return;
    }
    const [t, u] = [(trace.t[place] as number) * ax + bx, (trace.u[place] as number) * ax + bx];
    let [opening, closing] = [y(trace.first[place] as number), y(trace.last[place] as number)];
    const [top, bottom] = [Number.isNaN(min) ? max : min, Number.isNaN(max) ? min : max];
    // Of a bucket that begins or ends with no number the rest still counts.
    if (Number.isNaN(opening)) opening = top;
    if (Number.isNaN(closing)) closing = top;
    const [lower, upper] = top < bottom ? [top, bottom] : [bottom, top];
    const here = Math.floor(t);
    if (here === column && Math.floor(u) === column) {
      many = true;
      x1 = u;
      if (lower < low) low = lower;
      if (upper > high) high = upper;
      last = closing;
      return;
    }
    flush();
    column = here;
    x0 = t;
    x1 = u;
    first = opening;
    low = lower;
    high = upper;
    last = closing;
    many = u > t || lower !== upper;
  });
  flush();
  if (stepped && down && until * ax + bx > x1) pen.lineTo(until * ax + bx, heldY);
}

/** Dots on samples, where they lie so far apart that they are told apart. */
export function sampleDots(
  pen: Pen,
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  at: Place,
  dot: number,
): void {
  const { ax, bx, ay, by, factor, offset, log } = at;
  eachBucket(pieces, start, end, (trace, place) => {
    const value = (trace.first[place] as number) * factor + offset;
    const y = (log ? Math.log10(value) : value) * ay + by;
    const x = (trace.t[place] as number) * ax + bx;
    if (Number.isFinite(y)) pen.rect(x - dot / 2, y - dot / 2, dot, dot);
  });
}

/** How many buckets a window has, and whether each is one sample. */
export function countBuckets(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
): { count: number; raw: boolean } {
  let count = 0;
  let raw = true;
  eachBucket(pieces, start, end, (trace, place) => {
    count++;
    raw &&= trace.raw || trace.t[place] === trace.u[place];
  });
  return { count, raw };
}

/** The least and the greatest value that a line has within the window. */
export function extent(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  style: Style,
  positive = false,
): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  const take = (value: number) => {
    if (positive && value <= 0) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  let [lastTime, lastValue] = [NaN, NaN];
  eachBucket(pieces, start, end, (trace, place) => {
    const [t, u] = [trace.t[place] as number, trace.u[place] as number];
    const first = trace.first[place] as number;
    // Outside of the window only what the line is at its edge counts.
    if (t > end) {
      if (style === "smooth") take(between(lastTime, lastValue, t, first, end));
    } else if (u < start) {
      if (style === "stepped") take(trace.last[place] as number);
    } else {
      if (lastTime < start && style === "smooth" && t > start) take(between(lastTime, lastValue, t, first, start));
      take(trace.min[place] as number);
      take(trace.max[place] as number);
    }
    // A line that passes through the whole window has no sample in it.
    if (t > end && lastTime < start && style === "smooth") take(between(lastTime, lastValue, t, first, start));
    lastTime = u;
    lastValue = trace.last[place] as number;
  });
  return [low, high];
}

const between = (t0: number, v0: number, t1: number, v1: number, t: number): number =>
  t1 > t0 ? v0 + ((v1 - v0) * (t - t0)) / (t1 - t0) : v1;

/** The text of an SVG path, to a tenth of a pixel. */
export class SvgPen implements Pen {
  #text: string[] = [];

  moveTo(x: number, y: number): void {
    this.#text.push(`M${short(x)} ${short(y)}`);
  }

  lineTo(x: number, y: number): void {
    this.#text.push(`L${short(x)} ${short(y)}`);
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#text.push(`M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`);
  }

  get text(): string {
    return this.#text.join("");
  }
}

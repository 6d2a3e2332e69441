/**
 * Lines on a canvas. Where samples are close they become upright bars, one for each column of pixels, from the min to the
 * max: to stroke a zigzag through all of them costs a hundred times as much and looks the same. Where they are apart it is a
 * plain stroke.
 */

import type { Trace } from "../../api";
import type { Piece } from "../../store/tiles";
import type { Context } from "../../draw/canvas";
import type { Style } from "./config";
import { eachBucket } from "./buckets";

/** What traces need of a context. */
export type TraceContext = Pick<Context, "fillRect" | "beginPath" | "moveTo" | "lineTo" | "stroke">;

/**
 * From time and value to pixels: `x = t × ax + bx`, `y = v × ay + by`, for a logarithmic axis of `log₁₀(v × factor +
 * offset)`.
 */
export interface Projection {
  ax: number;
  bx: number;
  ay: number;
  by: number;
  factor: number;
  offset: number;
  log: boolean;
}

/** Columns over which a line between two samples still is made of bars. */
const NEAR = 2;

/** Draws in pixels of the canvas, in the colour and line width that the sheet has; `width` is that width. */
export function drawTrace(
  sheet: TraceContext,
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  at: Projection,
  style: Exclude<Style, "points">,
  until: number,
  width: number,
): void {
  const { ax, bx } = at;
  const y = heightOf(at);
  const half = width / 2;
  const stepped = style === "stepped";
  const bar = Math.max(1, stepped ? Math.round(width) : 1);

  // The column that is being gathered, and the end of the line in it.
  let column = NaN;
  let [low, high] = [0, 0];
  let [px, py] = [0, 0];
  let down = false;
  /** Whether a bar has to be drawn for the column: one point of a stroke needs none. */
  let solid = false;
  /** Whether the stroke goes on from the last point. */
  let stroking = false;
  let strokes = 0;

  /** `next` is the column that follows: bars side by side do not overlap. */
  const finish = (next: number) => {
    if (solid) {
      const across = Math.min(bar, Math.max(next - column, 1));
      // Tall bars end on whole pixels, which is much cheaper; short ones are the slopes of a line and stay soft.
      if (high - low > 6) {
        const top = Math.round(low - half);
        sheet.fillRect(column, top, across, Math.round(high + half) - top);
      } else sheet.fillRect(column, low - half, across, high - low + width);
    }
    solid = false;
  };
  const begin = (to: number, y: number) => {
    column = to;
    low = high = y;
  };
  const reach = (y: number) => {
    if (y < low) low = y;
    if (y > high) high = y;
  };
  const hold = (from: number, to: number, y: number) => {
    if (to > from) sheet.fillRect(from, Math.round(y - half), to - from, width);
  };
  const endStroke = () => {
    if (strokes > 0) sheet.stroke();
    strokes = 0;
    stroking = false;
  };
  const stroke = (x0: number, y0: number, x1: number, y1: number) => {
    if (strokes === 0) sheet.beginPath();
    if (!stroking) sheet.moveTo(x0, y0);
    sheet.lineTo(x1, y1);
    stroking = true;
    // A path of thousands of edges is slow to fill.
    if (++strokes > 200) endStroke();
  };

  eachBucket(pieces, start, end, (trace, place) => {
    const [min, max] = [y(trace.min[place] as number), y(trace.max[place] as number)];
    const [x0, x1] = [(trace.start[place] as number) * ax + bx, (trace.end[place] as number) * ax + bx];
    if (Number.isNaN(min) && Number.isNaN(max)) {
      if (down) {
        if (stepped) hold(column, Math.floor(x0), py);
        solid ||= !stroking;
        finish(Infinity);
      }
      down = stroking = false;
      column = NaN;
      return;
    }
    const [a, b] = [Number.isNaN(min) ? max : min, Number.isNaN(max) ? min : max];
    const [upper, lower] = a < b ? [a, b] : [b, a];
    let [first, last] = [y(trace.first[place] as number), y(trace.last[place] as number)];
    // Of a bucket that begins or ends with no number the rest still counts.
    if (Number.isNaN(first)) first = upper;
    if (Number.isNaN(last)) last = upper;
    const here = Math.floor(x0);
    if (!down) {
      begin(here, first);
      down = true;
      stroking = false;
    } else if (here !== column) {
      if (stepped) {
        finish(here);
        hold(column, here, py);
        begin(here, py);
        reach(first);
        solid = first !== py;
      } else if (here - column <= NEAR) {
        // Through each column with the part of the line that is in it.
        let before = py;
        for (let next = column + 1; next <= here; next++) {
          const edge = py + ((first - py) * (next - px)) / (x0 - px);
          reach(edge);
          solid = true;
          finish(next);
          before = edge;
          begin(next, before);
        }
        reach(first);
        solid = true;
        stroking = false;
      } else {
        finish(here);
        stroke(px, py, x0, first);
        begin(here, first);
      }
    } else {
      reach(first);
      solid = true;
      if (stroking) stroking = false;
    }
    if (lower !== upper) {
      reach(upper);
      reach(lower);
      solid = true;
      stroking = false;
    }
    const there = Math.floor(x1);
    if (there > column) {
      // A bucket of many pixels: all that is known is between its ends.
      finish(column);
      sheet.fillRect(column, upper - half, there - column, lower - upper + width);
      begin(there, last);
      stroking = false;
    } else reach(last);
    px = x1;
    py = last;
  });
  if (down) {
    if (stepped) hold(column, Math.floor(until * ax + bx), py);
    else solid ||= !stroking;
    finish(Infinity);
  }
  endStroke();
}

/** From values to pixels; what has no logarithm is not on a logarithmic axis. */
function heightOf({ ay, by, factor, offset, log }: Projection): (value: number) => number {
  if (!log) return (value) => (value * factor + offset) * ay + by;
  return (value) => {
    const scaled = value * factor + offset;
    return scaled > 0 ? Math.log10(scaled) * ay + by : NaN;
  };
}

/**
 * Draws dots: on the samples of a line that has few, or with `all` for the style that has nothing else, where each column
 * of pixels has dots for its first, min, max and last value.
 */
export function drawDots(
  sheet: Pick<TraceContext, "fillRect">,
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  at: Projection,
  all: boolean,
  dot: number,
): void {
  const { ax, bx } = at;
  const y = heightOf(at);
  const draw = (x: number, height: number) => {
    if (Number.isFinite(height)) sheet.fillRect(x - dot / 2, height - dot / 2, dot, dot);
  };
  // The column of pixels that is being gathered.
  let column = NaN;
  let [x0, x1, first, low, high, last] = [0, 0, 0, 0, 0, 0];
  const finish = () => {
    if (Number.isNaN(column)) return;
    draw(x0, first);
    if (x0 === x1 && low === high) return;
    draw((x0 + x1) / 2, low);
    if (high !== low) draw((x0 + x1) / 2, high);
    draw(x1, last);
  };
  eachBucket(pieces, start, end, (trace, place) => {
    const [from, to] = [(trace.start[place] as number) * ax + bx, (trace.end[place] as number) * ax + bx];
    const [opening, closing] = [y(trace.first[place] as number), y(trace.last[place] as number)];
    if (!all) return draw(from, opening);
    const [min, max] = [y(trace.min[place] as number), y(trace.max[place] as number)];
    if (Number.isNaN(min) && Number.isNaN(max)) return;
    const [lower, upper] =
      min > max || Number.isNaN(min) ? [max, Number.isNaN(min) ? max : min] : [min, Number.isNaN(max) ? min : max];
    if (Math.floor(from) === column && Math.floor(to) === column) {
      x1 = to;
      if (lower < low) low = lower;
      if (upper > high) high = upper;
      last = closing;
      return;
    }
    finish();
    column = Math.floor(from);
    [x0, x1, first, low, high, last] = [from, to, opening, lower, upper, closing];
  });
  finish();
}

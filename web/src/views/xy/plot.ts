/** One series against another. */

import type { Rows } from "../../api";
import { color, faded, seriesColor, type Context } from "../../draw/canvas";
import { mixed } from "../../draw/contrast";
import {
  drawAxes,
  frameOf,
  polyline,
  roomy,
  Scale,
  spanOf,
  type AxisLabels,
  type Frame,
  type Span,
} from "../../draw/axes";

export interface ViewRange {
  x: Span;
  y: Span;
}

/** What shows everything. */
export function wholeOf(rows: Rows): ViewRange {
  const [x, ...y] = rows.columns;
  return {
    x: roomy(spanOf(x ? [x] : []) ?? { low: 0, high: 1 }),
    y: roomy(spanOf(y) ?? { low: 0, high: 1 }),
  };
}

/** The same view in a frame in which a unit is as long both ways: the shorter side shows more. */
export function squared(view: ViewRange, frame: Frame): ViewRange {
  const [wide, high] = [frame.right - frame.left, frame.bottom - frame.top];
  const unit = Math.max((view.x.high - view.x.low) / wide, (view.y.high - view.y.low) / high);
  return { x: around(view.x, unit * wide), y: around(view.y, unit * high) };
}

function around(span: Span, length: number): Span {
  const middle = (span.low + span.high) / 2;
  return { low: middle - length / 2, high: middle + length / 2 };
}

export function scalesOf(view: ViewRange, frame: Frame): { x: Scale; y: Scale } {
  return { x: new Scale(view.x, frame.left, frame.right), y: new Scale(view.y, frame.bottom, frame.top) };
}

/** A span `factor` times as long around a value that stays where it is. */
export function zoomed({ low, high }: Span, factor: number, at: number): Span {
  const span = { low: at - (at - low) * factor, high: at + (high - at) * factor };
  return span.high - span.low > Math.abs(at) * 1e-12 ? span : { low, high };
}

/** The point nearest to a place in pixels, within reach. */
export function nearest(rows: Rows, scales: { x: Scale; y: Scale }, px: number, py: number, reach = 30): Hit | null {
  const xs = rows.columns[0];
  let best: Hit | null = null;
  let least = reach * reach;
  for (let column = 1; column < rows.columns.length; column++) {
    const ys = rows.columns[column];
    for (let place = 0; place < rows.time.length; place++) {
      const [dx, dy] = [scales.x.at(xs?.[place] ?? NaN) - px, scales.y.at(ys?.[place] ?? NaN) - py];
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = { place, column };
      }
    }
  }
  return best;
}

export interface Hit {
  place: number;
  column: number;
}

export interface Style {
  points: boolean;
  timed: boolean;
  trail: number;
  cursor: number;
  labels: AxisLabels;
}

/** The opacity of what is outside of the trail: to be seen on both themes, and less than the trail. */
const REST = 0.55;

/** Number of colours for the time. */
const SHADES = 48;

/** Draws the plot. */
export function drawXy(
  context: Context,
  width: number,
  height: number,
  rows: Rows,
  view: ViewRange,
  style: Style,
  hit: Hit | null,
): void {
  const frame = frameOf(width, height);
  const { x, y } = scalesOf(view, frame);
  drawAxes(context, frame, x, y, style.labels);
  const now = upToTime(rows.time, style.cursor);
  const first = style.trail > 0 ? upToTime(rows.time, style.cursor - style.trail) : 0;
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  context.clip();
  context.lineJoin = "round";
  const xs = rows.columns[0] ?? new Float64Array();
  for (let column = 1; column < rows.columns.length; column++) {
    const ys = rows.columns[column] ?? new Float64Array();
    const plain = seriesColor(column - 1);
    const draw = (from: number, to: number, ink: string, size: number) => {
      if (to - from < 1) return;
      if (style.points) {
        context.fillStyle = ink;
        for (let place = from; place < to; place++) {
          context.fillRect(x.at(xs[place] ?? NaN) - size, y.at(ys[place] ?? NaN) - size, size * 2, size * 2);
        }
        return;
      }
      context.strokeStyle = ink;
      context.lineWidth = size;
      context.beginPath();
      // From the point before on, so that pieces of different colours join.
      polyline(context, xs, ys, x, y, Math.max(from - 1, 0), to);
      context.stroke();
    };
    const thin = 1.5;
    const thick = style.points ? 2 : 2.5;
    draw(0, first, faded(plain, REST), thin);
    draw(now, rows.time.length, faded(plain, REST), thin);
    if (!style.timed) draw(first, now, plain, thick);
    else {
      const each = Math.max(Math.ceil((now - first) / SHADES), 1);
      for (let start = first; start < now; start += each) {
        draw(start, Math.min(start + each, now), shade((start - first) / Math.max(now - first, 1)), thick);
      }
    }
    mark(context, x.at(xs[now - 1] ?? NaN), y.at(ys[now - 1] ?? NaN), plain, 5.5);
    if (hit?.column === column) mark(context, x.at(xs[hit.place] ?? NaN), y.at(ys[hit.place] ?? NaN), plain, 4);
  }
  context.restore();
}

function mark(context: Context, x: number, y: number, ink: string, size: number): void {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  context.beginPath();
  context.arc(x, y, size, 0, 2 * Math.PI);
  context.fillStyle = ink;
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = color("--cursor");
  context.stroke();
}

/** From cold to warm as time goes by. */
function shade(part: number): string {
  const stops = [
    color("--series-4"),
    color("--series-0"),
    color("--series-2"),
    color("--series-1"),
    color("--series-3"),
  ];
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const place = Math.min(Math.floor(at), stops.length - 2);
  return mixed(stops[place] ?? "#000000", stops[place + 1] ?? "#000000", at - place);
}

/** How many times are at or before a moment. */
export function upToTime(times: Float64Array, t: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

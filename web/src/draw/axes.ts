/** The axes of all plots: scales, grids, ticks and numbers. */

import { color, font, type Context } from "./canvas";
import { valueTicks, type Ticks } from "./ticks";

export interface Span {
  low: number;
  high: number;
}

/** A rectangle in CSS pixels. */
export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A span that has a width, with some room at both ends. */
export function roomy({ low, high }: Span, part = 0.05): Span {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return { low: 0, high: 1 };
  if (low === high) {
    const size = Math.abs(low) || 1;
    return { low: low - size * 0.5, high: high + size * 0.5 };
  }
  const by = (high - low) * part;
  return { low: low - by, high: high + by };
}

/** The smallest span that contains all finite numbers; `null` where there are none. */
export function spanOf(lists: Iterable<ArrayLike<number>>): Span | null {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) {
    for (let place = 0; place < list.length; place++) {
      const value = list[place] ?? NaN;
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? { low, high } : null;
}

/** From values to pixels and back. */
export class Scale {
  constructor(
    readonly span: Span,
    readonly from: number,
    readonly to: number,
    readonly log = false,
  ) {}

  at(value: number): number {
    const { low, high } = this.span;
    const part = this.log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return this.from + part * (this.to - this.from);
  }

  value(pixel: number): number {
    const { low, high } = this.span;
    const part = (pixel - this.from) / (this.to - this.from);
    return this.log ? low * (high / low) ** part : low + part * (high - low);
  }
}

/** One axis of a plot: its grid, its ticks and their numbers. */
export interface Axis {
  side: "bottom" | "left" | "right";
  scale: Scale;
  ticks: Ticks;
  /** The y of an axis at the bottom, the x of one at a side. */
  edge: number;
  /** Where lines of the grid end on the other side of the plot; `edge` for an axis without a grid. */
  grid: number;
  /** How far ticks reach out of the plot, and how far from them the numbers are. */
  tick: number;
  gap: number;
  /** The colour of the numbers. */
  color: string;
  /** The colour of the line along the axis; `null` for no line. */
  border: string | null;
}

export function drawAxis(context: Context, axis: Axis): void {
  const { side, scale, ticks, edge, grid, tick, color: ink, border } = axis;
  const out = side === "left" ? -1 : 1;
  /** Between two points whose first coordinate is along the axis. */
  const line = (along: number, across: number, alongEnd: number, acrossEnd: number): void => {
    if (side === "bottom") {
      context.moveTo(along, across);
      context.lineTo(alongEnd, acrossEnd);
    } else {
      context.moveTo(across, along);
      context.lineTo(acrossEnd, alongEnd);
    }
  };
  context.lineWidth = 1;
  context.strokeStyle = color("--line");
  context.beginPath();
  for (const value of ticks.at) {
    // On the middle of a pixel, so that the line is sharp.
    const at = Math.round(scale.at(value)) + 0.5;
    line(at, grid, at, edge + out * tick);
  }
  context.stroke();
  if (border !== null) {
    context.strokeStyle = border;
    context.beginPath();
    line(scale.from, Math.round(edge) + 0.5, scale.to, Math.round(edge) + 0.5);
    context.stroke();
  }
  context.font = font(11);
  context.fillStyle = ink;
  context.textAlign = side === "bottom" ? "center" : side === "left" ? "right" : "left";
  context.textBaseline = side === "bottom" ? "top" : "middle";
  const text = edge + out * (tick + axis.gap);
  ticks.at.forEach((value, place) => {
    const [at, words] = [scale.at(value), ticks.text[place] ?? ""];
    if (side === "bottom") context.fillText(words, at, text);
    else context.fillText(words, text, at);
  });
}

export interface AxisLabels {
  x: string;
  y: string;
  /** How numbers at the axes are written, where that is not plain. */
  formatX?: (value: number, step: number) => string;
  formatY?: (value: number, step: number) => string;
}

/** Draws a plot of two axes: the grid, its numbers and the names of the axes. */
export function drawAxes(context: Context, frame: Frame, x: Scale, y: Scale, labels: AxisLabels): void {
  const plain = { tick: 0, color: color("--dim"), border: color("--line-strong") };
  const written = (ticks: Ticks, format: AxisLabels["formatX"]): Ticks =>
    format ? { ...ticks, text: ticks.at.map((value) => format(value, ticks.step)) } : ticks;
  const across = written(valueTicks(x.span.low, x.span.high, frame.right - frame.left, 63), labels.formatX);
  const up = written(valueTicks(y.span.low, y.span.high, frame.bottom - frame.top, 31), labels.formatY);
  drawAxis(context, { ...plain, side: "bottom", scale: x, ticks: across, edge: frame.bottom, grid: frame.top, gap: 5 });
  drawAxis(context, { ...plain, side: "left", scale: y, ticks: up, edge: frame.left, grid: frame.right, gap: 6 });
  context.textBaseline = "top";
  context.textAlign = "right";
  if (labels.x) context.fillText(labels.x, frame.right, frame.bottom + 19);
  if (!labels.y) return;
  if (labels.y.length <= 4) {
    // A sign on its side is hard to read: V looks like >.
    context.textAlign = "left";
    context.fillText(labels.y, 4, 1);
    return;
  }
  context.save();
  context.translate(frame.left - 46, frame.top);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText(labels.y, 0, 0);
  context.restore();
}

/** Adds a line through points to the path, with gaps where a coordinate is not a number. */
export function polyline(
  context: Context,
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  x: Scale,
  y: Scale,
  from = 0,
  to = xs.length,
): void {
  let down = false;
  for (let place = from; place < to; place++) {
    const [px, py] = [x.at(xs[place] ?? NaN), y.at(ys[place] ?? NaN)];
    if (!Number.isFinite(px) || !Number.isFinite(py)) down = false;
    else if (down) context.lineTo(px, py);
    else {
      context.moveTo(px, py);
      down = true;
    }
  }
}

/** The frame of a plot with room for numbers and names at its left and below. */
export const frameOf = (width: number, height: number): Frame => ({
  left: 58,
  top: 12,
  right: Math.max(width - 14, 80),
  bottom: Math.max(height - 36, 40),
});

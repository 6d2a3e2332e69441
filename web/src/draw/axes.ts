/** Axes of plots that are not over the shared time: marks at round numbers, and how they are drawn. */

import { color, font, type Context } from "./canvas";
import { formatStep } from "../values/format";

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

/** Round numbers in a span, about so many; and how far they are apart. */
export function ticks({ low, high }: Span, about: number): { values: number[]; step: number } {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return { values: [], step: 1 };
  const rough = span / Math.max(about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.7) ?? 10);
  const values: number[] = [];
  const first = Math.ceil(low / step - 1e-9);
  for (let place = 0; place < 100; place++) {
    const value = (first + place) * step;
    if (value > high + step * 1e-9) break;
    values.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  }
  return { values, step };
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

/** The least span that holds all finite numbers; nothing where there is none. */
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
  ) {}

  at(value: number): number {
    return this.from + ((value - this.span.low) / (this.span.high - this.span.low)) * (this.to - this.from);
  }

  value(pixel: number): number {
    return this.span.low + ((pixel - this.from) / (this.to - this.from)) * (this.span.high - this.span.low);
  }
}

export interface AxisLabels {
  x: string;
  y: string;
  /** How numbers at the axes are written, where that is not plain. */
  formatX?: (value: number, step: number) => string;
  formatY?: (value: number, step: number) => string;
}

/** Draws a grid, its numbers and the names of the axes. */
export function drawAxes(context: Context, frame: Frame, x: Scale, y: Scale, labels: AxisLabels): void {
  const across = ticks(x.span, (frame.right - frame.left) / 90);
  const down = ticks(y.span, (frame.bottom - frame.top) / 44);
  const textX = labels.formatX ?? formatStep;
  const textY = labels.formatY ?? formatStep;
  context.lineWidth = 1;
  context.strokeStyle = color("--line");
  context.beginPath();
  for (const value of across.values) {
    const at = Math.round(x.at(value)) + 0.5;
    context.moveTo(at, frame.top);
    context.lineTo(at, frame.bottom);
  }
  for (const value of down.values) {
    const at = Math.round(y.at(value)) + 0.5;
    context.moveTo(frame.left, at);
    context.lineTo(frame.right, at);
  }
  context.stroke();
  context.strokeStyle = color("--line-strong");
  context.beginPath();
  context.moveTo(frame.left + 0.5, frame.top);
  context.lineTo(frame.left + 0.5, frame.bottom + 0.5);
  context.lineTo(frame.right, frame.bottom + 0.5);
  context.stroke();
  context.font = font(11);
  context.fillStyle = color("--dim");
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const value of across.values) context.fillText(textX(value, across.step), x.at(value), frame.bottom + 5);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of down.values) context.fillText(textY(value, down.step), frame.left - 6, y.at(value));
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

/** The frame of a plot with room for numbers and names at its left and below. */
export const frameOf = (width: number, height: number): Frame => ({
  left: 58,
  top: 12,
  right: Math.max(width - 14, 80),
  bottom: Math.max(height - 36, 40),
});

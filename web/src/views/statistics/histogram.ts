/** Histograms of several series over each other. */

import { color, faded, font, seriesColor, type Context } from "../../draw/canvas";
import { formatCount, formatNumber, formatStep } from "../../values/format";
import type { Stats } from "../../api";
import { drawAxes, frameOf, Scale, type Span } from "../../draw/axes";
import { conversion, SAME } from "../../values/units";

/** How far the pointer is from a line at most, in pixels. */
const NEAR = 6;

export interface Shape {
  /** Its place among the series: it decides the colour. */
  place: number;
  name: string;
  /** The edges of the bars, one more than there are bars. */
  edges: Float64Array;
  /** How high they are: counts, or parts of all where there are several series or the bars add up. */
  heights: Float64Array;
  /** The value that all samples have, beside series that vary. */
  constant: number | null;
  /** The value at the cursor. */
  held: number | null;
}

export interface Panel {
  unit: string;
  shapes: Shape[];
  across: Span;
  highest: number;
  /** Whether heights are parts of the whole. */
  parts: boolean;
}

export interface Input {
  name: string;
  unit: string;
  stats: Stats;
  held: number | null;
}

/** Numbers of a series in another unit. */
export function inUnit(stats: Stats, from: string, to: string): Stats {
  const way = conversion(from, to);
  if (!way || way === SAME) return stats;
  const { factor, offset } = way;
  const at = (value: number | null) => (value === null ? null : value * factor + offset);
  const { histogram } = stats;
  return {
    ...stats,
    min: at(stats.min),
    max: at(stats.max),
    mean: at(stats.mean),
    stddev: stats.stddev === null ? null : stats.stddev * factor,
    median: at(stats.median),
    p05: at(stats.p05),
    p95: at(stats.p95),
    first: at(stats.first),
    last: at(stats.last),
    histogram: histogram && {
      ...histogram,
      min: histogram.min * factor + offset,
      max: histogram.max * factor + offset,
    },
  };
}

/** One panel for each unit: what is measured in volts and what in metres share no axis. */
export function panelsOf(inputs: readonly (Input | null)[], cumulative: boolean): Panel[] {
  const panels = new Map<string, Panel>();
  inputs.forEach((input, place) => {
    const histogram = input?.stats.histogram;
    if (!input || !histogram || histogram.counts.length === 0) return;
    const same = inputs.flatMap((other) =>
      other?.unit === input.unit && other.stats.histogram ? [other.stats.histogram] : [],
    );
    const parts = cumulative || same.length > 1;
    const { min: low, max: high, counts } = histogram;
    // All samples in one place would be a bar that makes those of the others invisible: beside them it is a line.
    const constant = high > low || !same.some((other) => other.max > other.min) ? null : low;
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    const wide = high > low ? high - low : 1;
    const start = high > low ? low : low - 0.5;
    const edges = Float64Array.from({ length: counts.length + 1 }, (_, at) => start + (wide * at) / counts.length);
    let sum = 0;
    const heights = Float64Array.from(counts, (count) => {
      sum += count;
      return (cumulative ? sum : count) / (parts ? total : 1);
    });
    const across = constant === null ? { low: start, high: start + wide } : { low, high };
    const highest = constant === null ? heights.reduce((most, height) => Math.max(most, height), 0) : 0;
    const shape = { place, name: input.name, edges, heights, constant, held: input.held };
    const panel = panels.get(input.unit);
    if (panel) {
      panel.shapes.push(shape);
      panel.across = { low: Math.min(panel.across.low, across.low), high: Math.max(panel.across.high, across.high) };
      panel.highest = Math.max(panel.highest, highest);
    } else panels.set(input.unit, { unit: input.unit, shapes: [shape], across, highest, parts });
  });
  return [...panels.values()];
}

export function scalesOf(panel: Panel, width: number, height: number): { x: Scale; y: Scale } {
  const frame = frameOf(width, height);
  const by = (panel.across.high - panel.across.low) * 0.02;
  const across = { low: panel.across.low - by, high: panel.across.high + by };
  // Shares that add up end at all of it.
  const up = { low: 0, high: panel.highest === 1 && panel.parts ? 1 : panel.highest * 1.06 || 1 };
  return { x: new Scale(across, frame.left, frame.right), y: new Scale(up, frame.bottom, frame.top) };
}

/** Draws a panel; `pointer` is the position of the pointer, in pixels. */
export function drawPanel(
  context: Context,
  width: number,
  height: number,
  panel: Panel,
  cumulative: boolean,
  pointer: number | null,
): void {
  const frame = frameOf(width, height);
  const { x, y } = scalesOf(panel, width, height);
  drawAxes(context, frame, x, y, {
    x: panel.unit,
    y: panel.parts ? (cumulative ? "cumulative share" : "share") : "samples",
    formatY: (value, step) => (panel.parts ? `${formatStep(value * 100, step * 100)} %` : formatCount(value)),
  });
  const several = panel.shapes.length > 1;
  for (const shape of panel.shapes) {
    const line = seriesColor(shape.place);
    if (shape.constant !== null) {
      context.fillStyle = line;
      context.fillRect(x.at(shape.constant) - 1, frame.top, 2, frame.bottom - frame.top);
      continue;
    }
    context.beginPath();
    context.moveTo(x.at(shape.edges[0] ?? 0), y.at(0));
    shape.heights.forEach((up, at) => {
      context.lineTo(x.at(shape.edges[at] ?? 0), y.at(up));
      context.lineTo(x.at(shape.edges[at + 1] ?? 0), y.at(up));
    });
    context.lineTo(x.at(shape.edges.at(-1) ?? 0), y.at(0));
    context.fillStyle = faded(line, several ? 0.22 : 0.35);
    context.fill();
    context.strokeStyle = line;
    context.lineWidth = 1.4;
    context.stroke();
  }
  for (const shape of panel.shapes) {
    if (shape.held === null || !Number.isFinite(shape.held)) continue;
    const at = x.at(shape.held);
    if (at < frame.left - 1 || at > frame.right + 1) continue;
    context.strokeStyle = seriesColor(shape.place);
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(at, frame.top);
    context.lineTo(at, frame.bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = seriesColor(shape.place);
    context.beginPath();
    context.moveTo(at - 5, frame.top - 6);
    context.lineTo(at + 5, frame.top - 6);
    context.lineTo(at, frame.top + 1);
    context.fill();
  }
  if (pointer === null || pointer < frame.left || pointer > frame.right) return;
  const value = x.value(pointer);
  context.fillStyle = faded(color("--text"), 0.1);
  context.fillRect(pointer - 0.5, frame.top, 1, frame.bottom - frame.top);
  const lines = panel.shapes.flatMap((shape) => {
    if (shape.constant !== null) {
      return Math.abs(x.at(shape.constant) - pointer) > NEAR
        ? []
        : [{ shape, text: `always ${formatNumber(shape.constant)}` }];
    }
    const bar = barAt(shape, value);
    if (bar < 0) return [];
    const up = shape.heights[bar] ?? 0;
    const range = `${formatNumber(shape.edges[bar] ?? 0)} … ${formatNumber(shape.edges[bar + 1] ?? 0)}`;
    return [{ shape, text: `${range}: ${panel.parts ? `${formatNumber(up * 100)} %` : formatCount(up)}` }];
  });
  if (lines.length === 0) return;
  context.font = font(12);
  const wide = Math.max(...lines.map((line) => context.measureText(line.text).width)) + 26;
  const left = pointer + 12 + wide > frame.right ? pointer - 12 - wide : pointer + 12;
  context.fillStyle = faded(color("--raised"), 0.95);
  context.strokeStyle = color("--line-strong");
  context.beginPath();
  context.roundRect(left, frame.top + 4, wide, lines.length * 18 + 8, 5);
  context.fill();
  context.stroke();
  context.textAlign = "left";
  context.textBaseline = "middle";
  lines.forEach((line, at) => {
    const middle = frame.top + 17 + at * 18;
    context.fillStyle = seriesColor(line.shape.place);
    context.fillRect(left + 8, middle - 4, 8, 8);
    context.fillStyle = color("--text");
    context.fillText(line.text, left + 21, middle);
  });
}

/** The bar that a value falls into; -1 if it is outside. */
export function barAt(shape: Shape, value: number): number {
  const { edges } = shape;
  const [first, last] = [edges[0] ?? 0, edges.at(-1) ?? 0];
  if (value < first || value > last) return -1;
  const place = Math.floor(((value - first) / (last - first)) * shape.heights.length);
  return Math.min(place, shape.heights.length - 1);
}

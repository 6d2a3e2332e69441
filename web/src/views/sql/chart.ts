/** An answer drawn over its first column. */

import { color, seriesColor, type Context } from "../../draw/canvas";
import { formatTime } from "../../values/format";
import { drawAxes, frameOf, polyline, roomy, Scale, spanOf } from "../../draw/axes";

export interface Chart {
  name: string;
  xs: Float64Array;
  lines: { name: string; values: Float64Array }[];
  /** Whether x is Unix milliseconds. */
  wall: boolean;
}

export function scalesOf(chart: Chart, width: number, height: number): { x: Scale; y: Scale } {
  const frame = frameOf(width, height);
  const across = roomy(spanOf([chart.xs]) ?? { low: 0, high: 1 }, 0);
  const up = roomy(spanOf(chart.lines.map((line) => line.values)) ?? { low: 0, high: 1 });
  return { x: new Scale(across, frame.left, frame.right), y: new Scale(up, frame.bottom, frame.top) };
}

export function drawChart(context: Context, width: number, height: number, chart: Chart, cursor: number | null): void {
  const frame = frameOf(width, height);
  const { x, y } = scalesOf(chart, width, height);
  const only = chart.lines.length === 1 ? chart.lines[0] : undefined;
  const clock = (value: number) => new Date(value).toISOString().slice(11, 19);
  drawAxes(context, frame, x, y, {
    x: chart.name,
    y: only?.name ?? "",
    ...(chart.wall ? { formatX: clock } : /^(time|t)$/.test(chart.name) ? { formatX: formatTime } : {}),
  });
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top - 2, frame.right - frame.left, frame.bottom - frame.top + 4);
  context.clip();
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  const dots = chart.xs.length < (frame.right - frame.left) / 12;
  chart.lines.forEach((line, place) => {
    context.strokeStyle = context.fillStyle = seriesColor(place);
    context.beginPath();
    polyline(context, chart.xs, line.values, x, y);
    context.stroke();
    if (!dots) return;
    line.values.forEach((value, at) => {
      context.beginPath();
      context.arc(x.at(chart.xs[at] ?? NaN), y.at(value), 2.6, 0, 2 * Math.PI);
      context.fill();
    });
  });
  if (cursor !== null && cursor >= x.span.low && cursor <= x.span.high) {
    context.fillStyle = color("--cursor");
    context.fillRect(Math.round(x.at(cursor)), frame.top, 1, frame.bottom - frame.top);
  }
  context.restore();
}

/** A graph on a canvas or in an SVG: axes, lines, rows of states, shades. Both come from the same calls. */

import { color, type Context } from "../../draw/canvas";
import { drawAxis, Scale } from "../../draw/axes";
import { logTicks, timeTicks, valueTicks, type Ticks } from "../../draw/ticks";
import { drawAlerts, drawBands, drawRows, drawUnits } from "./paint";
import type { Gutters } from "./gutters.svelte";
import { fittingAxes, FOOT, HEAD, rowsHeight } from "./scene";
import type { Frame, Line, Scene, SceneAxis } from "./scene";
import { drawDots, drawTrace, type Projection } from "./trace";

/** How far ticks reach out of the plot, and the numbers from them. */
const TICK = 4;
const GAP = 5;

const valueTicksOf = ({ log, range: [low, high] }: SceneAxis, height: number): Ticks =>
  (log ? logTicks : valueTicks)(low, high, height, 34);

/** Where everything is. `share` widens the room of the axes to that of other graphs. */
export function frameOf(scene: Scene, share: (need: Gutters) => Gutters = (need) => need): Frame {
  const rows = rowsHeight(scene);
  const height = Math.max(scene.height - HEAD - FOOT - rows, 1);
  const axes = fittingAxes(scene.axes, scene.width);
  // The names of rows are left of them, where there is room.
  const others = axes.filter((axis) => axis.side === "left").length - 1;
  const gutter = rows > 0 && scene.width > 560 ? Math.max(84 - 44 * Math.max(others, 0), 16) : 16;
  const placed = axes.map((axis, place) => {
    const least = place === 0 && axis.side === "left" ? gutter : 0;
    return { axis, width: Math.max(widthOf(valueTicksOf(axis, height).text), least) };
  });
  const roomOf = (side: "left" | "right", otherwise: number): number => {
    const widths = placed.filter(({ axis }) => axis.side === side).map(({ width }) => width);
    // An axis has room for its own labels; a side without one needs some for the labels of times.
    return widths.length > 0 ? widths.reduce((sum, width) => sum + width, 0) : otherwise;
  };
  const { left, right } = share({ left: roomOf("left", rows > 0 ? gutter : 16), right: roomOf("right", 16) });
  const width = Math.max(scene.width - left - right, 1);
  let [leftEdge, rightEdge] = [left, left + width];
  const places = placed.map(({ axis: { key, side }, width }) => {
    if (side === "left") return { key, left: (leftEdge -= width), width };
    rightEdge += width;
    return { key, left: rightEdge - width, width };
  });
  return { left, top: HEAD, width, height, rows, axes: places };
}

/** In steps, so that the plot does not tremble while numbers change. */
function widthOf(texts: string[]): number {
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 2);
  return Math.ceil((longest * 6.4 + 14) / 12) * 12;
}

/** Draws in CSS pixels; a CSS pixel is `ratio` pixels of the picture, on which bars stand. */
export function drawGraph(context: Context, scene: Scene, frame: Frame, ratio: number): void {
  drawBands(context, scene, frame);
  drawAxesOf(context, scene, frame);
  drawLines(context, scene, frame, ratio);
  drawRows(context, scene, frame);
  drawAlerts(context, scene, frame);
  drawUnits(context, scene, frame);
}

function drawAxesOf(context: Context, scene: Scene, frame: Frame): void {
  const { left, top, width, height, rows } = frame;
  const line = color("--line");
  drawAxis(context, {
    side: "bottom",
    scale: new Scale({ low: scene.start, high: scene.end }, left, left + width),
    ticks: timeTicks(scene.start, scene.end, width, 92),
    edge: top + height,
    grid: top,
    // Lines of the grid go on through the rows, down to the times.
    tick: rows + TICK,
    gap: 4,
    color: scene.palette.dim,
    border: rows > 0 ? line : null,
  });
  frame.axes.forEach((place, which) => {
    const axis = scene.axes.find(({ key }) => key === place.key);
    if (!axis) return;
    const isLeft = axis.side === "left";
    const edge = isLeft ? place.left + place.width : place.left;
    drawAxis(context, {
      side: axis.side,
      scale: new Scale({ low: axis.range[0], high: axis.range[1] }, top + height, top, axis.log),
      ticks: valueTicksOf(axis, height),
      edge,
      grid: which > 0 ? edge : isLeft ? left + width : left,
      tick: TICK,
      gap: GAP,
      color: axis.color,
      border: which > 0 ? line : null,
    });
  });
}

function drawLines(context: Context, scene: Scene, frame: Frame, ratio: number): void {
  const box = {
    left: frame.left * ratio,
    top: frame.top * ratio,
    width: frame.width * ratio,
    height: frame.height * ratio,
  };
  context.save();
  context.scale(1 / ratio, 1 / ratio);
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  context.lineJoin = "round";
  context.setLineDash([]);
  for (const line of scene.lines) {
    const axis = scene.axes.find(({ key }) => key === line.axis);
    if (!axis) continue;
    const at = projection(box, scene, axis, line);
    const width = line.width * ratio;
    context.strokeStyle = context.fillStyle = line.color;
    context.lineWidth = width;
    const { pieces, style } = line;
    context.beginTitle?.(line.name);
    if (style !== "points") drawTrace(context, pieces, scene.start, scene.end, at, style, scene.until, width);
    if (style === "points" || line.dots)
      drawDots(context, pieces, scene.start, scene.end, at, style === "points", width + 2 * ratio);
    context.endTitle?.();
  }
  context.restore();
}

/** From time and value to pixels. */
export function projection(
  box: { left: number; top: number; width: number; height: number },
  scene: Pick<Scene, "start" | "end">,
  axis: Pick<SceneAxis, "range" | "log">,
  line: Pick<Line, "factor" | "offset">,
): Projection {
  const [low, high] = axis.log ? axis.range.map(Math.log10) : axis.range;
  const ax = box.width / (scene.end - scene.start);
  const ay = -box.height / ((high ?? 1) - (low ?? 0));
  return {
    ax,
    bx: box.left - scene.start * ax,
    ay,
    by: box.top - (high ?? 1) * ay,
    factor: line.factor,
    offset: line.offset,
    log: axis.log,
  };
}

/** A line of the legend below a saved picture. */
export interface LegendLine {
  name: string;
  color: string;
  text: string;
}

const LEGEND_ROW = 18;
const legendColumns = (width: number): number => Math.max(Math.floor(width / 260), 1);

export const legendHeight = (legend: LegendLine[], width: number): number =>
  legend.length === 0 ? 0 : Math.ceil(legend.length / legendColumns(width)) * LEGEND_ROW + 14;

/** Draws the cursor and the legend of a saved picture. */
export function drawLegend(context: Context, scene: Scene, frame: Frame, legend: LegendLine[], cursor: number): void {
  const { palette, width } = scene;
  if (cursor >= scene.start && cursor <= scene.end) {
    const x = frame.left + ((cursor - scene.start) / (scene.end - scene.start)) * frame.width;
    context.fillStyle = palette.text;
    context.fillRect(Math.round(x), frame.top, 1, frame.height + frame.rows);
  }
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const columns = legendColumns(width);
  legend.forEach((line, place) => {
    const x = 12 + ((place % columns) * (width - 12)) / columns;
    const y = scene.height + 14 + Math.floor(place / columns) * LEGEND_ROW;
    context.fillStyle = line.color;
    context.fillRect(x, y - 1, 14, 3);
    context.fillStyle = palette.text;
    context.fillText(line.text ? `${line.name}  ${line.text}` : line.name, x + 20, y);
  });
}

/** The picture on the screen: uPlot has the canvas, the scales and the axes; lines, rows and shades come from the scene. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { inkDots, inkTrace } from "./ink";
import type { Place } from "./path";
import { drawAlerts, drawBands, drawRows, drawUnits } from "./paint";
import { fittingAxes, FOOT, HEAD, rowsHeight } from "./scene";
import type { Frame, Line, Scene, SceneAxis } from "./scene";
import { logTicks, timeTicks, valueTicks } from "./ticks";

export class Plot {
  #plot: uPlot | null = null;
  #scene: Scene | null = null;
  #shape = "";

  constructor(private readonly host: HTMLElement) {}

  /** Draws at once. */
  draw(scene: Scene): void {
    this.#scene = scene;
    if (scene.width < 40 || scene.height < 40) return;
    const shape = shapeOf(scene);
    if (shape !== this.#shape || !this.#plot) {
      this.#plot?.destroy();
      this.#shape = shape;
      this.#plot = new uPlot(this.#options(scene), DUMMY, this.host);
    }
    const plot = this.#plot;
    plot.batch(() => plot.setScale("x", { min: scene.start, max: scene.end }));
  }

  destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
  }

  get canvas(): HTMLCanvasElement | null {
    return this.#plot?.ctx.canvas ?? null;
  }

  /** Where the plot is in its host. */
  frame(): Frame | null {
    const [plot, scene] = [this.#plot, this.#scene];
    if (!plot || !scene) return null;
    const ratio = uPlot.pxRatio;
    const { left, top, width, height } = plot.bbox;
    const axes = plot.axes.slice(1).flatMap((axis) => {
      const { _pos: pos, _size: size, side, scale } = axis as uPlot.Axis & { _pos: number; _size: number };
      return scale ? [{ key: scale, left: side === 3 ? pos - size : pos, width: size }] : [];
    });
    return {
      left: left / ratio,
      top: top / ratio,
      width: width / ratio,
      height: height / ratio,
      rows: rowsHeight(scene),
      axes,
    };
  }

  #options(scene: Scene): uPlot.Options {
    const rows = rowsHeight(scene);
    const axes = fittingAxes(scene.axes, scene.width);
    // The names of rows stand left of them, where there is room.
    const others = axes.filter((axis) => axis.side === "left").length - 1;
    const gutter = rows > 0 && scene.width > 560 ? Math.max(84 - 44 * Math.max(others, 0), 16) : 16;
    const scales: Record<string, uPlot.Scale> = { x: { time: false, auto: false } };
    for (const axis of scene.axes) {
      const range = (): uPlot.Range.MinMax => this.#axis(axis.key)?.range ?? axis.range;
      scales[axis.key] = { auto: true, range, distr: axis.log ? 3 : 1 };
    }
    return {
      width: scene.width,
      height: scene.height,
      // An axis has room for its own labels; a side without one needs some for the labels of times.
      padding: [HEAD, sideOf(axes, "right", 16), 0, sideOf(axes, "left", rows > 0 ? gutter : 16)],
      cursor: { show: false },
      legend: { show: false },
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      scales,
      axes: [
        this.#timeAxis(rows),
        ...axes.map((axis, place) => this.#valueAxis(axis, place, place === 0 && axis.side === "left" ? gutter : 0)),
      ],
      series: [{}],
      hooks: {
        drawClear: [(plot) => this.#with(plot, drawBands)],
        draw: [
          (plot) => {
            this.#drawLines(plot);
            this.#with(plot, drawRows);
            this.#with(plot, drawAlerts);
            this.#with(plot, drawUnits);
          },
        ],
      },
    };
  }

  /** Paints in CSS pixels on the canvas of the plot. */
  #with(plot: uPlot, paint: (context: CanvasRenderingContext2D, scene: Scene, frame: Frame) => void): void {
    const frame = this.frame() ?? frameOf(plot);
    if (!this.#scene) return;
    plot.ctx.save();
    plot.ctx.scale(uPlot.pxRatio, uPlot.pxRatio);
    paint(plot.ctx, this.#scene, frame);
    plot.ctx.restore();
  }

  #axis(key: string): SceneAxis | undefined {
    return this.#scene?.axes.find((axis) => axis.key === key);
  }

  #timeAxis(rows: number): uPlot.Axis {
    const { palette } = this.#scene as Scene;
    const grid = { stroke: palette.line, width: 1 };
    const ticks = (plot: uPlot) => {
      const { min = 0, max = 1 } = plot.scales["x"] ?? {};
      return timeTicks(min, max, plot.bbox.width / uPlot.pxRatio, 92);
    };
    return {
      scale: "x",
      stroke: palette.dim,
      font: `11px ${palette.font}`,
      size: FOOT + rows,
      // Lines of the grid go on through the rows, down to the times.
      ticks: { ...grid, size: rows + 4 },
      gap: 4,
      grid,
      splits: (plot) => ticks(plot).at,
      values: (plot) => ticks(plot).text,
      border: { show: rows > 0, ...grid },
    };
  }

  #valueAxis({ key, side, color }: SceneAxis, place: number, least: number): uPlot.Axis {
    const { palette } = this.#scene as Scene;
    const ticks = (plot: uPlot) => {
      const axis = this.#axis(key);
      const [low, high] = axis?.range ?? [0, 1];
      return (axis?.log ? logTicks : valueTicks)(low, high, plot.bbox.height / uPlot.pxRatio, 34);
    };
    return {
      scale: key,
      side: side === "left" ? 3 : 1,
      stroke: color,
      font: `11px ${palette.font}`,
      // In steps, so that the plot does not tremble while numbers change.
      size: (_, values) => {
        const longest = Math.max(...(values ?? []).map((text) => text?.length ?? 0), 2);
        return Math.max(Math.ceil((longest * 6.4 + 14) / 12) * 12, least);
      },
      gap: 5,
      ticks: { size: 4, stroke: palette.line, width: 1 },
      grid: { show: place === 0, stroke: palette.line, width: 1 },
      splits: (plot) => ticks(plot).at,
      values: (plot) => ticks(plot).text,
      border: { show: place > 0, stroke: palette.line, width: 1 },
    };
  }

  /** The lines, in pixels of the canvas: bars stand on them. */
  #drawLines(plot: uPlot): void {
    const scene = this.#scene;
    if (!scene) return;
    const { ctx: context, bbox: box } = plot;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    context.lineJoin = "round";
    context.setLineDash([]);
    for (const line of scene.lines) {
      const axis = this.#axis(line.axis);
      if (!axis) continue;
      const at = placeOf(box, scene, axis, line);
      const width = line.width * uPlot.pxRatio;
      context.strokeStyle = context.fillStyle = line.color;
      context.lineWidth = width;
      const { pieces, style } = line;
      if (style !== "points") inkTrace(context, pieces, scene.start, scene.end, at, style, scene.until, width);
      const [all, dot] = [style === "points", width + 2 * uPlot.pxRatio];
      if (all || line.dots) inkDots(context, pieces, scene.start, scene.end, at, all, dot);
    }
    context.restore();
  }
}

/** From time and value to pixels. */
export function placeOf(
  box: { left: number; top: number; width: number; height: number },
  scene: Pick<Scene, "start" | "end">,
  axis: Pick<SceneAxis, "range" | "log">,
  line: Pick<Line, "factor" | "offset">,
): Place {
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

/** What cannot change without a new plot. */
function shapeOf({ width, height, rows, lines, axes, palette }: Scene): string {
  const parts = axes.map(({ key, side, log, color }) => [key, side, log, color]);
  const none = lines.length === 0;
  return JSON.stringify([width, height, rows.length, none, parts, palette.line, palette.dim, devicePixelRatio]);
}

/** uPlot wants data; ours come from the scene. */
const DUMMY: uPlot.AlignedData = [[0, 1]];

const sideOf = (axes: SceneAxis[], side: "left" | "right", otherwise: number): number =>
  axes.some((axis) => axis.side === side) ? 0 : otherwise;

function frameOf(plot: uPlot): Frame {
  const { left, top, width, height } = plot.bbox;
  const ratio = uPlot.pxRatio;
  return { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio, rows: 0, axes: [] };
}

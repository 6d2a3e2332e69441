/** The picture as an SVG: the same scene, the same paths. */

import { escaped, inked, short } from "../../draw/svg";
import { runLook, runText, shortened, unitText } from "./paint";
import { sampleDots, SvgPen, tracePath } from "./path";
import { placeOf } from "./plot";
import { HEAD, rowPlace } from "./scene";
import type { Frame, Scene } from "./scene";
import { logTicks, timeTicks, valueTicks } from "./ticks";

export interface LegendLine {
  name: string;
  color: string;
  text: string;
}

const LEGEND_ROW = 18;

/** About as wide as the text of the page; an SVG cannot be measured before it is drawn. */
const measure = (text: string): number => text.length * 6.2;

export function legendHeight(legend: LegendLine[], width: number): number {
  return legend.length === 0 ? 0 : Math.ceil(legend.length / columnsOf(width)) * LEGEND_ROW + 14;
}

const columnsOf = (width: number): number => Math.max(Math.floor(width / 260), 1);

/** `at` is the moment of the cursor, if it is to be seen. */
export function svgOf(scene: Scene, frame: Frame, legend: LegendLine[], at: number | null, title: string): string {
  const { palette, width } = scene;
  const height = scene.height + legendHeight(legend, width);
  const scale = frame.width / (scene.end - scene.start);
  const x = (t: number) => frame.left + (t - scene.start) * scale;
  const [left, right] = [frame.left, frame.left + frame.width];
  const bottom = frame.top + frame.height;
  const foot = bottom + frame.rows;
  const parts: string[] = [];
  const rect = (x: number, y: number, width: number, height: number, fill: string, more = "") =>
    parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(width, 0))}" height="${short(height)}" ${inked("fill", fill)}${more}/>`,
    );
  const line = (x0: number, y0: number, x1: number, y1: number, stroke: string, more = "") =>
    parts.push(`<path d="M${short(x0)} ${short(y0)}L${short(x1)} ${short(y1)}" ${inked("stroke", stroke)}${more}/>`);
  const text = (x: number, y: number, what: string, fill: string, anchor = "start", more = "") =>
    parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${fill}" text-anchor="${anchor}"${more}>${escaped(what)}</text>`,
    );

  rect(0, 0, width, height, palette.panel);
  for (const band of scene.bands) {
    const [from, to] = [Math.max(x(band.start), left), Math.min(x(band.end), right)];
    if (to <= from) continue;
    rect(from, frame.top, to - from, foot - frame.top, band.color, ' fill-opacity="0.09"');
    rect(from, frame.top, to - from, 2, band.color, ' fill-opacity="0.75"');
    if (frame.height > 40 && to - from > measure(band.text) + 12)
      text(from + 6, frame.top + 15, band.text, band.color, "start", ' font-size="10"');
  }
  const times = timeTicks(scene.start, scene.end, frame.width, 92);
  times.at.forEach((t, place) => {
    line(Math.round(x(t)) + 0.5, frame.top, Math.round(x(t)) + 0.5, foot + 4, palette.line);
    text(x(t), foot + 17, times.text[place] ?? "", palette.dim, "middle");
  });
  frame.axes.forEach((place, which) => {
    const axis = scene.axes.find(({ key }) => key === place.key);
    if (!axis) return;
    const ticks = (axis.log ? logTicks : valueTicks)(axis.range[0], axis.range[1], frame.height, 34);
    const at = placeOf(frame, scene, axis, { factor: 1, offset: 0 });
    const isLeft = axis.side === "left";
    const edge = isLeft ? place.left + place.width : place.left;
    ticks.at.forEach((value, tick) => {
      const y = (axis.log ? Math.log10(value) : value) * at.ay + at.by;
      if (which === 0) line(left, Math.round(y) + 0.5, right, Math.round(y) + 0.5, palette.line);
      text(isLeft ? edge - 9 : edge + 9, y + 4, ticks.text[tick] ?? "", axis.color, isLeft ? "end" : "start");
    });
    text(
      isLeft ? edge - 6 : edge + 6,
      HEAD / 2 + 5,
      unitText(axis),
      axis.color,
      isLeft ? "end" : "start",
      ' font-weight="600"',
    );
  });
  parts.push(`<g clip-path="url(#plot)">`);
  for (const one of scene.lines) {
    const axis = scene.axes.find(({ key }) => key === one.axis);
    if (!axis) continue;
    const at = placeOf(frame, scene, axis, one);
    const [pen, dots] = [new SvgPen(), new SvgPen()];
    tracePath(pen, one.pieces, scene.start, scene.end, at, one.style, scene.until, one.width + 2);
    if (one.dots && one.style !== "points") sampleDots(dots, one.pieces, scene.start, scene.end, at, one.width + 2);
    const look =
      one.style === "points"
        ? `fill="${one.color}"`
        : `fill="none" stroke="${one.color}" stroke-width="${one.width}" stroke-linejoin="round"`;
    parts.push(`<path d="${pen.text}" ${look}><title>${escaped(one.name)}</title></path>`);
    if (dots.text) parts.push(`<path d="${dots.text}" fill="${one.color}"/>`);
  }
  parts.push("</g>");
  scene.rows.forEach((row, place) => {
    const box = rowPlace(scene.rows.length, place, frame.rows);
    rect(left - 5, bottom + box.top, 3, box.height, row.color);
    text(left - 10, bottom + box.top + box.height / 2 + 4, shortened(row.name, left - 12, measure), palette.dim, "end");
    for (const run of row.runs) {
      const [from, to] = [Math.max(x(run.start), left), Math.min(x(run.end), right)];
      if (to < left || from > right) continue;
      const look = runLook(row, run, palette);
      const width = Math.max(to - from, 1);
      rect(from, bottom + box.top, width, box.height, look.fill);
      rect(from, bottom + box.top, Math.min(width, 2), box.height, look.edge);
      const what = runText(row, run, width, measure);
      if (what && box.height >= 10) text(from + 7, bottom + box.top + box.height / 2 + 4, what, look.text);
    }
  });
  for (const alert of scene.alerts) {
    const [from, to] = [x(alert.t), x(alert.end ?? alert.t)];
    if (to < left || from > right) continue;
    const color = palette[alert.level];
    rect(
      Math.max(from, left),
      frame.top,
      Math.max(Math.min(to, right) - Math.max(from, left), 1),
      foot - frame.top,
      color,
      ' fill-opacity="0.2"',
    );
    if (from < left) continue;
    parts.push(
      `<path d="M${short(from - 4)} ${short(frame.top - 1)}h9l-4.5 7z" fill="${color}"><title>${escaped(alert.text)}</title></path>`,
    );
  }
  if (at !== null && at >= scene.start && at <= scene.end) line(x(at), frame.top, x(at), foot, palette.text);
  legend.forEach((one, place) => {
    const column = place % columnsOf(width);
    const [lx, ly] = [
      12 + (column * (width - 12)) / columnsOf(width),
      scene.height + 8 + Math.floor(place / columnsOf(width)) * LEGEND_ROW,
    ];
    rect(lx, ly + 4, 14, 3, one.color);
    text(lx + 20, ly + 10, one.text ? `${one.name}  ${one.text}` : one.name, palette.text);
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}" ` +
    `font-family="${escaped(palette.font)}" font-size="11"><title>${escaped(title)}</title>` +
    `<defs><clipPath id="plot"><rect x="${short(left)}" y="${short(frame.top)}" width="${short(frame.width)}" height="${short(frame.height)}"/></clipPath></defs>` +
    `${parts.join("\n")}</svg>\n`
  );
}

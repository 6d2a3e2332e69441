/** What is painted around the lines: modes behind them, states below, alerts and units above. */

import type { LogEvent } from "../../api";
import { faded, type Context } from "../../draw/canvas";
import { HEAD, rowPlace } from "./scene";
import type { Frame, Palette, Row, Scene } from "./scene";
import { colorOf } from "./states";
import type { Run } from "./states";

const pixelOf = (scene: Scene, frame: Frame) => {
  const scale = frame.width / (scene.end - scene.start);
  return (t: number) => frame.left + (t - scene.start) * scale;
};

export function drawBands(context: Context, scene: Scene, frame: Frame): void {
  const x = pixelOf(scene, frame);
  const [left, right] = [frame.left, frame.left + frame.width];
  context.font = `500 10px ${scene.palette.font}`;
  context.textBaseline = "top";
  context.textAlign = "left";
  for (const band of scene.bands) {
    const [from, to] = [Math.max(x(band.start), left), Math.min(x(band.end), right)];
    if (to <= from) continue;
    context.fillStyle = faded(band.color, 0.09);
    context.fillRect(from, frame.top, to - from, frame.height + frame.rows);
    context.fillStyle = band.color;
    context.fillRect(from, frame.top, to - from, 2);
    if (frame.height > 40 && to - from > context.measureText(band.text).width + 12)
      context.fillText(band.text, from + 6, frame.top + 6);
  }
}

export function drawRows(context: Context, scene: Scene, frame: Frame): void {
  if (scene.rows.length === 0) return;
  const x = pixelOf(scene, frame);
  const [left, right] = [frame.left, frame.left + frame.width];
  const top = frame.top + frame.height;
  context.save();
  context.beginPath();
  context.rect(0, top, right, frame.rows);
  context.clip();
  scene.rows.forEach((row, place) => {
    const box = rowPlace(scene.rows.length, place, frame.rows);
    context.fillStyle = row.color;
    context.fillRect(left - 5, top + box.top, 3, box.height);
    context.font = `11px ${scene.palette.font}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = scene.palette.dim;
    if (box.height >= 10) {
      const name = shortened(row.name, left - 12, (text) => context.measureText(text).width);
      context.fillText(name, left - 10, top + box.top + box.height / 2 + 0.5);
    }
    context.textAlign = "left";
    for (const run of row.runs) {
      const [from, to] = [Math.max(x(run.start), left), Math.min(x(run.end), right)];
      if (to < left || from > right) continue;
      const width = Math.max(to - from, 1);
      const look = runLook(row, run, scene.palette);
      context.fillStyle = look.fill;
      context.fillRect(from, top + box.top, width, box.height);
      context.fillStyle = look.edge;
      context.fillRect(from, top + box.top, Math.min(2, width), box.height);
      const text = runText(row, run, width, (text) => context.measureText(text).width);
      if (!text || box.height < 10) continue;
      context.fillStyle = look.text;
      context.fillText(text, from + 7, top + box.top + box.height / 2 + 0.5);
    }
  });
  context.restore();
}

/** How strong the colours of states are: so that text on them can be read. */
export const STATE = 0.3;
export const ON = 0.4;

/** The colours of a run: states by their text, truth by the colour of its series. */
function runLook(row: Row, run: Run, palette: Palette): { fill: string; edge: string; text: string } {
  if (run.label === null) return { fill: faded(palette.dim, 0.35), edge: faded(palette.dim, 0.5), text: palette.text };
  if (row.boolean) {
    const on = run.label === "true" || run.label === "1";
    return on
      ? { fill: faded(row.color, ON), edge: row.color, text: palette.text }
      : { fill: faded(palette.dim, 0.1), edge: faded(palette.dim, 0.25), text: palette.dim };
  }
  const color = palette.series[colorOf(run.label)] ?? palette.dim;
  return { fill: faded(color, STATE), edge: color, text: palette.text };
}

/** What stands in a run: the name of the row before the state where there is room for both. */
function runText(row: Row, run: Run, width: number, measure: (text: string) => number): string {
  const room = width - 12;
  if (room < 14) return "";
  const state = run.label ?? "…";
  const whole = row.boolean ? row.name : state;
  if (row.boolean && run.label !== "true") return "";
  return shortened(whole, room, measure);
}

/** Cut to fit, but only where enough is left to be read. */
function shortened(whole: string, room: number, measure: (text: string) => number): string {
  if (measure(whole) <= room) return whole;
  let text = whole;
  while (text.length > 2 && measure(`${text}…`) > room) text = text.slice(0, -1);
  return text.length > 2 ? `${text}…` : "";
}

/** Small flags at the top edge, and a shade for the duration of an alert. */
export function drawAlerts(context: Context, scene: Scene, frame: Frame): void {
  const x = pixelOf(scene, frame);
  const [left, right] = [frame.left, frame.left + frame.width];
  const crowded = crowdedLevels(scene, frame, x);
  let last = -Infinity;
  for (const alert of scene.alerts) {
    const at = x(alert.start);
    const end = x(alert.end ?? alert.start);
    if (end < left || at > right) continue;
    const color = scene.palette[alert.level];
    if (end - at > 1) {
      context.fillStyle = faded(color, 0.1);
      const from = Math.max(at, left);
      context.fillRect(from, frame.top, Math.min(end, right) - from, frame.height + frame.rows);
    }
    // Where there are thousands, one for each few pixels is enough.
    if (at < left || at - last < 3) continue;
    last = at;
    if (!crowded.has(alert.level)) {
      context.fillStyle = faded(color, 0.55);
      context.fillRect(Math.round(at), frame.top, 1, frame.height + frame.rows);
    }
    context.fillStyle = color;
    context.beginTitle?.(alert.text);
    context.beginPath();
    context.moveTo(at - 4, frame.top - 1);
    context.lineTo(at + 5, frame.top - 1);
    context.lineTo(at + 0.5, frame.top + 6);
    context.fill();
    context.endTitle?.();
  }
}

/** Levels with so many alerts that lines down from them would hide what is plotted: these have flags alone. */
function crowdedLevels(scene: Scene, frame: Frame, x: (t: number) => number): Set<LogEvent["level"]> {
  const places = new Map<LogEvent["level"], Set<number>>();
  for (const { level, start } of scene.alerts) {
    const at = x(start);
    if (at < frame.left || at > frame.left + frame.width) continue;
    places.set(level, (places.get(level) ?? new Set()).add(Math.round(at / 3)));
  }
  return new Set([...places].flatMap(([level, taken]) => (taken.size > frame.width / 24 ? [level] : [])));
}

/** The unit above each axis; a fixed range has a mark. */
export function drawUnits(context: Context, scene: Scene, frame: Frame): void {
  context.font = `600 11px ${scene.palette.font}`;
  context.textBaseline = "middle";
  for (const place of frame.axes) {
    const axis = scene.axes.find(({ key }) => key === place.key);
    if (!axis) continue;
    const isLeft = axis.side === "left";
    context.fillStyle = axis.color;
    context.textAlign = "left";
    const text = unitText(axis);
    const width = context.measureText(text).width;
    const lock = axis.fixed ? 8 + (width > 0 ? 4 : 0) : 0;
    // A unit may be wider than its axis.
    const room = scene.width - width - 2;
    const x = isLeft
      ? Math.max(place.left + place.width - 6 - width, 2 + lock)
      : Math.max(Math.min(place.left + 6, room - lock), 2);
    context.fillText(text, x, HEAD / 2 + 1);
    if (!axis.fixed) continue;
    // A padlock: this axis does not follow.
    const at = isLeft ? x - lock : x + width + lock - 8;
    context.fillRect(at, HEAD / 2, 8, 6);
    context.strokeStyle = axis.color;
    context.lineWidth = 1.3;
    context.beginPath();
    context.arc(at + 4, HEAD / 2 - 0.5, 2.6, Math.PI, 0);
    context.stroke();
  }
}

const unitText = (axis: { unit: string; log: boolean }): string =>
  [axis.unit, axis.log ? "log" : ""].filter((part) => part !== "").join(" ");

/** The drawings of a field view: our own fields, robots, ways and marks. */

import type { FieldKind, Origin, Size } from "../../field/kinds";
import { arrow, color, faded, font, label, type Context } from "../../draw/canvas";
import { gridStep, type Camera } from "./geometry";
import { fromField } from "./geometry";

function corners(context: Context, camera: Camera, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(camera.px(x0, y0), camera.py(x0, y0));
  context.lineTo(camera.px(x1, y0), camera.py(x1, y0));
  context.lineTo(camera.px(x1, y1), camera.py(x1, y1));
  context.lineTo(camera.px(x0, y1), camera.py(x0, y1));
  context.closePath();
}

function line(context: Context, camera: Camera, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(camera.px(x0, y0), camera.py(x0, y0));
  context.lineTo(camera.px(x1, y1), camera.py(x1, y1));
  context.stroke();
}

/** Carpet, grid, walls and lines, and metres along the edges. */
export function drawField(context: Context, camera: Camera, kind: FieldKind, size: Size, origin: Origin): void {
  const { length, width } = size;
  corners(context, camera, 0, 0, length, width);
  context.fillStyle = color("--field");
  context.fill();
  drawGrid(context, camera, kind === "ftc" ? length / 6 : null, size, origin);
  if (kind === "frc") drawFrc(context, camera, size);
  if (kind === "ftc") drawFtc(context, camera, size);
  corners(context, camera, 0, 0, length, width);
  context.strokeStyle = faded(color("--field-line"), 0.55);
  context.lineWidth = 1.5;
  context.stroke();
  if (kind !== "grid") drawWalls(context, camera, kind, size);
  drawScale(context, camera, size, origin, kind !== "grid");
}

function drawGrid(context: Context, camera: Camera, tile: number | null, size: Size, origin: Origin): void {
  const step = tile ?? gridStep(camera.scale, 22);
  const start = fromField(0, 0, origin, size);
  context.strokeStyle = faded(color("--field-line"), tile ? 0.28 : 0.09);
  context.lineWidth = 1;
  const [right, up] = tile
    ? [0, 0]
    : [Math.ceil(start.x / step) * step - start.x, Math.ceil(start.y / step) * step - start.y];
  for (let x = right; x <= size.length + 1e-6; x += step) line(context, camera, x, 0, x, size.width);
  for (let y = up; y <= size.width + 1e-6; y += step) line(context, camera, 0, y, size.length, y);
  if (origin !== "centre" || tile) return;
  context.strokeStyle = faded(color("--field-line"), 0.35);
  line(context, camera, size.length / 2, 0, size.length / 2, size.width);
  line(context, camera, 0, size.width / 2, size.length, size.width / 2);
}

/** Alliance zones, their lines and the midline: what fields of all seasons have in common. */
function drawFrc(context: Context, camera: Camera, { length, width }: Size): void {
  const depth = length * 0.24;
  for (const [side, from, to] of [
    ["--blue", 0, depth],
    ["--red", length, length - depth],
  ] as const) {
    const hue = color(side);
    const shade = context.createLinearGradient(
      camera.px(from, width / 2),
      camera.py(from, width / 2),
      camera.px(to, width / 2),
      camera.py(to, width / 2),
    );
    shade.addColorStop(0, faded(hue, 0.26));
    shade.addColorStop(1, faded(hue, 0.05));
    corners(context, camera, from, 0, to, width);
    context.fillStyle = shade;
    context.fill();
    context.strokeStyle = faded(hue, 0.85);
    context.lineWidth = Math.max(0.05 * camera.scale, 1);
    line(context, camera, to, 0, to, width);
  }
  context.strokeStyle = faded(color("--field-line"), 0.6);
  context.lineWidth = Math.max(0.05 * camera.scale, 1);
  line(context, camera, length / 2, 0, length / 2, width);
}

/** Tiles are the grid; the corners of both alliances. */
function drawFtc(context: Context, camera: Camera, { length, width }: Size): void {
  const tile = length / 6;
  for (const [side, from, to] of [
    ["--blue", 0, tile],
    ["--red", length, length - tile],
  ] as const) {
    const hue = color(side);
    context.strokeStyle = faded(hue, 0.85);
    context.lineWidth = Math.max(0.025 * camera.scale, 1);
    for (const [y, far] of [
      [0, tile],
      [width, width - tile],
    ] as const) {
      context.beginPath();
      context.moveTo(camera.px(from, y), camera.py(from, y));
      context.lineTo(camera.px(to, y), camera.py(to, y));
      context.lineTo(camera.px(from, far), camera.py(from, far));
      context.closePath();
      context.fillStyle = faded(hue, 0.2);
      context.fill();
      context.stroke();
    }
  }
}

/** The walls that drivers stand behind, with their stations. */
function drawWalls(context: Context, camera: Camera, kind: FieldKind, { length, width }: Size): void {
  const thick = Math.max(Math.min(length * 0.016 * camera.scale, 14), 4) / camera.scale;
  const stations = kind === "frc" ? 3 : 2;
  for (const [side, near, far, mirrored] of [
    ["--blue", 0, -thick, false],
    ["--red", length, length + thick, true],
  ] as const) {
    context.fillStyle = color(side);
    const gap = width * 0.006;
    for (let station = 0; station < stations; station++) {
      const [low, high] = [(width * station) / stations + gap, (width * (station + 1)) / stations - gap];
      corners(context, camera, near, low, far, high);
      context.fill();
      if (thick * camera.scale < 9) continue;
      context.save();
      context.fillStyle = color("--bg");
      context.font = font(Math.min(thick * camera.scale * 0.8, 10), 700);
      const number = mirrored ? station + 1 : stations - station;
      const [x, y] = [(near + far) / 2, (low + high) / 2];
      label(context, String(number), camera.px(x, y), camera.py(x, y) + 0.5);
      context.restore();
    }
  }
}

/** Metres along the two edges where the data have their zeros. */
function drawScale(context: Context, camera: Camera, size: Size, origin: Origin, walls: boolean): void {
  const step = gridStep(camera.scale, 46);
  const start = fromField(0, 0, origin, size);
  const sign = origin === "red" ? -1 : 1;
  const low = origin === "red" ? size.width : 0;
  context.fillStyle = color("--dim");
  context.font = font(10, 400, "--mono");
  const place = (x: number, y: number, awayX: number, awayY: number, text: string) => {
    const [px, py] = [camera.px(x, y), camera.py(x, y)];
    // Outwards, whichever way the field is turned.
    const [dx, dy] = [camera.px(x + awayX, y + awayY) - px, camera.py(x + awayX, y + awayY) - py];
    const reach = Math.hypot(dx, dy) || 1;
    const away = awayX !== 0 && walls ? 22 : 13;
    label(context, text, px + (dx / reach) * away, py + (dy / reach) * away);
  };
  const text = (value: number) => String(Math.round(value * 100) / 100);
  const [fromX, fromY] = origin === "red" ? [0, 0] : [start.x, start.y];
  for (let x = Math.ceil(fromX / step - 1e-9) * step; x <= fromX + size.length + 1e-6; x += step) {
    place(origin === "red" ? size.length - x : x - start.x, low, 0, -sign, text(x));
  }
  if (origin !== "centre") return;
  for (let y = Math.ceil(fromY / step - 1e-9) * step; y <= fromY + size.width + 1e-6; y += step) {
    place(0, y - start.y, -1, 0, text(y));
  }
}

export interface RobotLook {
  size: Size;
  /** Of the bumpers. */
  bumper: string;
  mark: string;
  ghost: boolean;
}

/** A box with bumpers whose front is marked. */
export function drawRobot(context: Context, camera: Camera, x: number, y: number, yaw: number, look: RobotLook): void {
  const [long, wide] = [look.size.length * camera.scale, look.size.width * camera.scale];
  const thick = Math.max(Math.min(long, wide) * 0.11, 2);
  const has = !Number.isNaN(yaw);
  context.save();
  context.translate(camera.px(x, y), camera.py(x, y));
  context.rotate(has ? camera.angle(yaw) : 0);
  context.beginPath();
  context.roundRect(-long / 2 + thick / 2, -wide / 2 + thick / 2, long - thick, wide - thick, thick * 0.9);
  if (look.ghost) {
    context.globalAlpha = 0.75;
    context.fillStyle = faded(look.mark, 0.14);
    context.fill();
    context.setLineDash([thick * 1.6, thick]);
    context.lineWidth = Math.max(thick * 0.5, 1.5);
    context.strokeStyle = look.mark;
    context.stroke();
    context.setLineDash([]);
  } else {
    context.fillStyle = color("--raised");
    context.shadowColor = faded(color("--bg"), 0.7);
    context.shadowBlur = 8;
    context.fill();
    context.shadowBlur = 0;
    context.lineWidth = thick;
    context.strokeStyle = look.bumper;
    context.stroke();
  }
  if (has) {
    context.lineWidth = Math.max(thick * 0.55, 1.5);
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = look.mark;
    arrow(context, -long * 0.22, 0, long * 0.26, 0, long * 0.2);
  }
  context.restore();
}

/** Poses that follow each other: a line, a dot at its end, and headings here and there. */
export function drawTrajectory(
  context: Context,
  camera: Camera,
  poses: { x: number; y: number; yaw: number }[],
  hue: string,
): void {
  const [first] = poses;
  const last = poses.at(-1);
  if (!first || !last) return;
  context.save();
  context.strokeStyle = hue;
  context.fillStyle = hue;
  context.lineWidth = Math.max(0.05 * camera.scale, 2);
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  for (const { x, y } of poses) context.lineTo(camera.px(x, y), camera.py(x, y));
  context.stroke();
  context.lineWidth = 1.5;
  const apart = Math.max(0.6, 26 / camera.scale);
  let since = apart;
  let before = first;
  for (const pose of poses) {
    since += Math.hypot(pose.x - before.x, pose.y - before.y);
    before = pose;
    if (since < apart || Number.isNaN(pose.yaw)) continue;
    since = 0;
    drawArrow(context, camera, pose, 0.28);
  }
  for (const { x, y } of [first, last]) {
    context.beginPath();
    context.arc(camera.px(x, y), camera.py(x, y), Math.max(0.07 * camera.scale, 3), 0, 7);
    context.fill();
  }
  context.restore();
}

/** A heading as an arrow of so many metres, or a dot where there is none. */
export function drawArrow(
  context: Context,
  camera: Camera,
  pose: { x: number; y: number; yaw: number },
  long: number,
): void {
  const [px, py] = [camera.px(pose.x, pose.y), camera.py(pose.x, pose.y)];
  if (Number.isNaN(pose.yaw)) return drawPoint(context, px, py, 3);
  const reach = Math.max(long * camera.scale, 9);
  const angle = camera.angle(pose.yaw);
  arrow(context, px, py, px + reach * Math.cos(angle), py + reach * Math.sin(angle), reach * 0.4);
}

export function drawPoint(context: Context, px: number, py: number, radius: number): void {
  context.beginPath();
  context.arc(px, py, radius, 0, 7);
  context.fill();
}

/** A length between two places, with its numbers. */
export function drawMeasure(
  context: Context,
  camera: Camera,
  from: { x: number; y: number },
  to: { x: number; y: number },
): void {
  const [x0, y0] = [camera.px(from.x, from.y), camera.py(from.x, from.y)];
  const [x1, y1] = [camera.px(to.x, to.y), camera.py(to.x, to.y)];
  context.save();
  context.strokeStyle = context.fillStyle = color("--mark");
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  drawPoint(context, x0, y0, 3);
  drawPoint(context, x1, y1, 3);
  const text = `${Math.hypot(to.x - from.x, to.y - from.y).toFixed(2)} m`;
  context.font = font(12, 600, "--mono");
  const wide = context.measureText(text).width + 10;
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2 - 14];
  context.beginPath();
  context.roundRect(x - wide / 2, y - 10, wide, 20, 4);
  context.fillStyle = color("--raised");
  context.fill();
  context.fillStyle = color("--mark");
  label(context, text, x, y + 0.5);
  context.restore();
}

/** The picture of a swerve drive: a frame, four wheels, their speeds, and where the robot goes. */

import { arrow, color, faded, font, label, type Context } from "../../draw/canvas";
import type { Module, Speeds } from "./modules";

export interface Swerve {
  places: { corner: string; x: number; y: number }[];
  length: number;
  width: number;
  fastest: number;
  /** How far the frame is turned, counter-clockwise. */
  rotation: number;
  measured: Module[];
  setpoint: Module[];
  speeds: Speeds | null;
}

/** Room around the ring for the names of the modules, in pixels. */
const LABELS = 20;

export const MEASURED = "--series-0";
export const SETPOINT = "--series-1";
export const SPEEDS = "--series-2";

export function drawSwerve(context: Context, width: number, height: number, swerve: Swerve): void {
  const reach = Math.min(width, height) / 2 - LABELS;
  if (reach < 20) return;
  const half = Math.hypot(swerve.length, swerve.width) / 2;
  // Frame and the longest arrow share the room.
  const scale = (reach * 0.46) / half;
  const long = (reach * 0.46) / swerve.fastest;
  context.translate(width / 2, height / 2);
  drawRose(context, reach);
  // Forward is up.
  context.rotate(-swerve.rotation - Math.PI / 2);
  drawFrame(context, swerve, scale);
  const radius = Math.max(reach * 0.075, 7);
  for (const place of swerve.places) drawName(context, place, reach, swerve.rotation);
  for (const [at, place] of swerve.places.entries()) {
    const [x, y] = [place.x * scale, -place.y * scale];
    const [is, wanted] = [swerve.measured[at], swerve.setpoint[at]];
    drawWheel(context, x, y, radius, is ?? wanted);
    if (wanted) drawSpeed(context, x, y, wanted, long, color(SETPOINT), Math.max(radius * 0.34, 3), radius);
    if (is) drawSpeed(context, x, y, is, long, color(MEASURED), Math.max(radius * 0.2, 2), radius);
  }
  if (swerve.speeds) drawMotion(context, swerve.speeds, long, reach);
}

function drawRose(context: Context, reach: number): void {
  context.strokeStyle = color("--line");
  context.lineWidth = 1;
  for (const part of [0.5, 1]) {
    context.beginPath();
    context.arc(0, 0, reach * part, 0, 7);
    context.stroke();
  }
  context.beginPath();
  for (let at = 0; at < 36; at++) {
    const angle = (at * Math.PI) / 18;
    const inner = reach * (at % 9 === 0 ? 0.94 : 0.975);
    context.moveTo(inner * Math.cos(angle), inner * Math.sin(angle));
    context.lineTo(reach * Math.cos(angle), reach * Math.sin(angle));
  }
  context.stroke();
}

function drawFrame(context: Context, { length, width }: Swerve, scale: number): void {
  const [long, wide] = [length * scale * 1.34, width * scale * 1.34];
  context.beginPath();
  context.roundRect(-long / 2, -wide / 2, long, wide, scale * 0.05);
  context.fillStyle = faded(color("--raised"), 0.85);
  context.fill();
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 2;
  context.stroke();
  // The front.
  context.beginPath();
  context.moveTo(long / 2, -wide * 0.36);
  context.lineTo(long / 2, wide * 0.36);
  context.strokeStyle = color("--accent");
  context.lineWidth = 3;
  context.stroke();
}

function drawWheel(context: Context, x: number, y: number, radius: number, module: Module | undefined): void {
  context.save();
  context.translate(x, y);
  context.beginPath();
  context.arc(0, 0, radius, 0, 7);
  context.fillStyle = color("--panel");
  context.fill();
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 1.5;
  context.stroke();
  if (module && Number.isFinite(module.angle)) {
    context.rotate(-module.angle);
    context.beginPath();
    context.roundRect(-radius * 0.8, -radius * 0.26, radius * 1.6, radius * 0.52, radius * 0.16);
    context.fillStyle = color("--faint");
    context.fill();
  }
  context.restore();
}

function drawSpeed(
  context: Context,
  x: number,
  y: number,
  module: Module,
  long: number,
  hue: string,
  thick: number,
  radius: number,
): void {
  const reach = module.speed * long;
  if (!Number.isFinite(reach) || Math.abs(reach) < 1.5) return;
  context.strokeStyle = hue;
  context.lineWidth = thick;
  context.lineCap = context.lineJoin = "round";
  arrow(
    context,
    x,
    y,
    x + reach * Math.cos(module.angle),
    y - reach * Math.sin(module.angle),
    Math.min(radius * 0.9, Math.abs(reach) * 0.5),
  );
}

/** Which module it is, upright whichever way the robot is turned, outside the ring that the longest arrows end at. */
function drawName(
  context: Context,
  place: { corner: string; x: number; y: number },
  reach: number,
  rotation: number,
): void {
  const away = (reach + LABELS / 2) / Math.hypot(place.x, place.y);
  context.save();
  context.translate(place.x * away, -place.y * away);
  context.rotate(rotation + Math.PI / 2);
  context.fillStyle = color("--dim");
  context.font = font(11, 600);
  label(context, place.corner, 0, 0);
  context.restore();
}

/** Where the robot goes, and how it turns. */
function drawMotion(context: Context, { vx, vy, omega }: Speeds, long: number, reach: number): void {
  context.strokeStyle = color(SPEEDS);
  context.fillStyle = color(SPEEDS);
  context.lineCap = context.lineJoin = "round";
  const fast = Math.hypot(vx, vy) * long;
  context.lineWidth = Math.max(reach * 0.022, 3);
  if (fast >= 1.5) arrow(context, 0, 0, vx * long, -vy * long, Math.min(reach * 0.08, fast * 0.5));
  context.beginPath();
  context.arc(0, 0, Math.max(reach * 0.022, 3), 0, 7);
  context.fill();
  // A full circle is one turn per second.
  const sweep = Math.min(Math.max(omega, -6.2), 6.2);
  if (Math.abs(sweep) < 0.03) return;
  const radius = reach * 0.17;
  context.lineWidth = Math.max(reach * 0.014, 2);
  context.strokeStyle = color("--line");
  context.beginPath();
  context.arc(0, 0, radius, 0, 7);
  context.stroke();
  context.strokeStyle = color(SPEEDS);
  context.beginPath();
  context.arc(0, 0, radius, 0, -sweep, sweep > 0);
  context.stroke();
  const [x, y] = [radius * Math.cos(sweep), -radius * Math.sin(sweep)];
  const along = -sweep + (sweep > 0 ? -1 : 1) * (Math.PI / 2);
  const head = Math.min(reach * 0.05, Math.abs(sweep) * radius);
  context.beginPath();
  for (const side of [2.6, -2.6]) {
    context.moveTo(x, y);
    context.lineTo(x + head * Math.cos(along + side), y + head * Math.sin(along + side));
  }
  context.stroke();
}

/** A board drawn by us: from the side, from behind, its footpads, and what is left of duty and current. */

import { radians } from "../../poses/angles";
import { color, faded, font, label, type Context } from "../../draw/canvas";
import { currentHeadroom, dutyLevel, type Level, type Limits, type Ride } from "./ride";

const HUES: Record<Level, string> = { good: "--good", warning: "--warning", error: "--error" };

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** All that the log knows, in the room there is. */
export function drawBoard(context: Context, width: number, height: number, ride: Ride, limits: Limits): void {
  const small: ((box: Box) => void)[] = [];
  if (!Number.isNaN(ride.duty)) small.push((box) => drawDuty(context, box, ride, limits));
  if (!Number.isNaN(ride.current)) small.push((box) => drawCurrent(context, box, ride, limits));
  if (!Number.isNaN(ride.roll)) small.push((box) => drawRear(context, box, ride.roll));
  if (ride.pads.length > 0) small.push((box) => drawPads(context, box, ride.pads));
  const side = !Number.isNaN(ride.pitch);
  const upright = height > width * 0.9;
  const part = !side ? 0 : small.length === 0 ? 1 : upright ? 0.5 : 0.56;
  if (side) {
    const box = upright ? { x: 0, y: 0, width, height: height * part } : { x: 0, y: 0, width: width * part, height };
    drawSide(context, box, ride);
  }
  const rest = upright
    ? { x: 0, y: height * part, width, height: height * (1 - part) }
    : { x: width * part, y: 0, width: width * (1 - part), height };
  const columns = bestColumns(small.length, rest);
  const rows = Math.ceil(small.length / columns);
  for (const [at, draw] of small.entries()) {
    const row = Math.floor(at / columns);
    // The last row may have fewer: they stand in its middle.
    const beside = Math.min(columns, small.length - row * columns);
    draw({
      x: rest.x + ((at % columns) + (columns - beside) / 2) * (rest.width / columns),
      y: rest.y + (row * rest.height) / rows,
      width: rest.width / columns,
      height: rest.height / rows,
    });
  }
}

/** So many columns that the cells are largest. */
export function bestColumns(count: number, { width, height }: { width: number; height: number }): number {
  let [best, most] = [1, 0];
  for (let columns = 1; columns <= count; columns++) {
    const size = Math.min(width / columns, height / Math.ceil(count / columns));
    if (size > most * 1.02) [best, most] = [columns, size];
  }
  return best;
}

function centred(context: Context, box: Box, draw: () => void): void {
  context.save();
  context.translate(box.x + box.width / 2, box.y + box.height / 2);
  draw();
  context.restore();
}

/** The nose or the tail is on the ground from about this pitch on, in degrees. */
const TOUCHES = 23;

function drawSide(context: Context, box: Box, ride: Ride): void {
  const size = Math.min(box.width / 2.45, box.height / 1.5);
  if (size < 20) return;
  const half = size * 0.92;
  const radius = size * 0.36;
  const ground = radius;
  centred(context, box, () => {
    context.translate(0, size * 0.12);
    drawGround(context, box.width, ground, size);
    const pitch = radians(Math.min(Math.max(ride.pitch, -90), 90));
    // Nose or tail on the ground lift the wheel.
    context.translate(0, -Math.max(half * Math.sin(Math.abs(pitch)) - ground, 0));
    drawTilts(context, size, ride);
    if (!Number.isNaN(ride.setpoint)) {
      context.save();
      context.rotate(-radians(ride.setpoint));
      context.strokeStyle = color("--series-1");
      context.setLineDash([size * 0.05, size * 0.04]);
      context.lineWidth = Math.max(size * 0.012, 1.5);
      context.beginPath();
      context.moveTo(-half * 1.12, 0);
      context.lineTo(half * 1.12, 0);
      context.stroke();
      context.restore();
    }
    context.save();
    context.rotate(-pitch);
    drawDeck(context, half, size);
    context.restore();
    drawWheel(context, radius, size);
  });
}

function drawGround(context: Context, width: number, ground: number, size: number): void {
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(-width / 2 + 8, ground);
  context.lineTo(width / 2 - 8, ground);
  context.stroke();
  context.fillStyle = color("--faint");
  context.font = font(Math.min(Math.max(size * 0.075, 10), 14));
  if (width > 300) label(context, "forward →", -width / 2 + 14, ground + size * 0.1, "left");
}

/** A scale of tilts at both ends: level in the middle, red where the ground is. */
function drawTilts(context: Context, size: number, ride: Ride): void {
  const reach = size * 1.1;
  const angles = (from: number, to: number): [number, number] => [-radians(to), -radians(from)];
  for (const [from, to, hue] of [
    [-TOUCHES - 12, -TOUCHES, "--error"],
    [-TOUCHES, -10, "--warning"],
    [-10, 10, "--good"],
    [10, TOUCHES, "--warning"],
    [TOUCHES, TOUCHES + 12, "--error"],
  ] as const) {
    context.strokeStyle = faded(color(hue), 0.55);
    context.lineWidth = Math.max(size * 0.03, 3);
    context.beginPath();
    context.arc(0, 0, reach, ...angles(from, to));
    context.stroke();
  }
  context.save();
  context.rotate(-radians(Math.min(Math.max(ride.pitch, -TOUCHES - 12), TOUCHES + 12)));
  context.fillStyle = color("--text");
  context.beginPath();
  context.moveTo(reach - size * 0.02, 0);
  context.lineTo(reach + size * 0.09, -size * 0.04);
  context.lineTo(reach + size * 0.09, size * 0.04);
  context.fill();
  context.restore();
}

function drawDeck(context: Context, half: number, size: number): void {
  const thick = size * 0.075;
  context.lineJoin = "round";
  context.fillStyle = color("--raised");
  context.strokeStyle = color("--dim");
  context.lineWidth = Math.max(size * 0.014, 1.5);
  context.beginPath();
  // Nose and tail are bent up a little.
  context.moveTo(-half, -thick * 1.1);
  context.lineTo(-half * 0.8, -thick * 0.5);
  context.lineTo(half * 0.8, -thick * 0.5);
  context.lineTo(half, -thick * 1.1);
  context.lineTo(half * 0.98, thick * 0.3);
  context.lineTo(half * 0.82, thick);
  context.lineTo(-half * 0.82, thick);
  context.lineTo(-half * 0.98, thick * 0.3);
  context.closePath();
  context.fill();
  context.stroke();
  context.fillStyle = color("--accent");
  context.beginPath();
  context.roundRect(half * 0.9, -thick * 0.6, half * 0.07, thick * 0.7, 2);
  context.fill();
}

function drawWheel(context: Context, radius: number, size: number): void {
  context.beginPath();
  context.arc(0, 0, radius, 0, 7);
  context.fillStyle = color("--hover");
  context.fill();
  context.strokeStyle = color("--line-strong");
  context.lineWidth = Math.max(size * 0.05, 3);
  context.stroke();
  context.beginPath();
  context.arc(0, 0, radius * 0.42, 0, 7);
  context.fillStyle = color("--panel");
  context.fill();
  context.lineWidth = 1.5;
  context.stroke();
}

function drawRear(context: Context, box: Box, roll: number): void {
  const size = Math.min(box.width, box.height) * 0.44;
  if (size < 16) return;
  centred(context, box, () => {
    context.strokeStyle = color("--line-strong");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(-size * 0.9, size * 0.52);
    context.lineTo(size * 0.9, size * 0.52);
    context.stroke();
    context.save();
    // Leaning right lifts the left side.
    context.translate(0, size * 0.52);
    context.rotate(radians(roll));
    context.fillStyle = color("--hover");
    context.strokeStyle = color("--line-strong");
    context.beginPath();
    context.roundRect(-size * 0.3, -size * 0.86, size * 0.6, size * 0.86, size * 0.2);
    context.fill();
    context.stroke();
    context.fillStyle = color("--raised");
    context.strokeStyle = color("--dim");
    context.beginPath();
    context.roundRect(-size * 0.52, -size * 0.56, size * 1.04, size * 0.13, size * 0.05);
    context.fill();
    context.stroke();
    context.restore();
    caption(context, size, `${roll.toFixed(1)}°`, "roll");
  });
}

function drawPads(context: Context, box: Box, pads: Ride["pads"]): void {
  const size = Math.min(box.width, box.height) * 0.44;
  if (size < 16) return;
  centred(context, box, () => {
    const volts = pads.filter(({ volts }) => !Number.isNaN(volts));
    for (const [side, { volts, on }] of pads.entries()) {
      const x = side === 0 ? -size * 0.56 : size * 0.03;
      const high = size * 0.92;
      context.beginPath();
      context.roundRect(x, -size * 0.5, size * 0.53, high, size * 0.1);
      context.fillStyle = color("--hover");
      context.fill();
      if (!Number.isNaN(volts)) {
        // As full as the voltage, of 3.3 V.
        const full = Math.min(Math.max(volts / 3.3, 0), 1) * high;
        context.save();
        context.clip();
        context.fillStyle = faded(color(on ? "--good" : "--faint"), 0.75);
        context.fillRect(x, -size * 0.5 + high - full, size * 0.53, full);
        context.restore();
      } else if (on) {
        context.fillStyle = faded(color("--good"), 0.75);
        context.fill();
      }
      context.strokeStyle = on ? color("--good") : color("--line-strong");
      context.lineWidth = 2;
      context.stroke();
      if (Number.isNaN(volts)) continue;
      context.fillStyle = color("--text");
      context.font = font(Math.min(size * 0.17, 13), 600, "--mono");
      label(context, volts.toFixed(1), x + size * 0.265, -size * 0.04);
    }
    const pressed = pads.filter(({ on }) => on).length;
    caption(context, size, ["open", "half", "both"][pressed] ?? "", volts.length > 0 ? "footpads, V" : "footpads");
  });
}

function caption(context: Context, size: number, value: string, name: string): void {
  context.fillStyle = color("--text");
  context.font = font(Math.min(Math.max(size * 0.2, 11), 18), 600, "--mono");
  label(context, value, 0, size * 0.7);
  context.fillStyle = color("--dim");
  context.font = font(Math.min(Math.max(size * 0.15, 10), 13));
  label(context, name, 0, size * 0.92);
}

/** Where a gauge begins and how far it goes, in radians, clockwise. */
const FROM = (150 * Math.PI) / 180;
const SWEEP = (240 * Math.PI) / 180;

interface Gauge {
  /** From where to where it is filled, as parts of the whole. */
  filled: [number, number];
  hue: string;
  zones: [number, number, string][];
  mark: number;
  value: string;
  name: string;
  left: string;
}

function drawGauge(context: Context, box: Box, gauge: Gauge): void {
  const size = Math.min(box.width * 0.46, box.height * 0.46);
  if (size < 16) return;
  const radius = size * 0.8;
  const thick = size * 0.15;
  const angle = (part: number) => FROM + SWEEP * Math.min(Math.max(part, 0), 1);
  centred(context, box, () => {
    context.translate(0, size * 0.08);
    context.lineWidth = thick;
    context.strokeStyle = color("--hover");
    context.beginPath();
    context.arc(0, 0, radius, FROM, FROM + SWEEP);
    context.stroke();
    context.strokeStyle = gauge.hue;
    context.beginPath();
    context.arc(0, 0, radius, angle(Math.min(...gauge.filled)), angle(Math.max(...gauge.filled)));
    context.stroke();
    context.lineWidth = Math.max(size * 0.04, 2.5);
    for (const [from, to, hue] of gauge.zones) {
      context.strokeStyle = color(hue);
      context.beginPath();
      context.arc(0, 0, radius + thick * 0.78, angle(from), angle(to));
      context.stroke();
    }
    if (!Number.isNaN(gauge.mark)) {
      const at = angle(gauge.mark);
      context.strokeStyle = color("--series-1");
      context.lineWidth = Math.max(size * 0.03, 2);
      context.beginPath();
      context.moveTo((radius - thick * 0.7) * Math.cos(at), (radius - thick * 0.7) * Math.sin(at));
      context.lineTo((radius + thick * 0.7) * Math.cos(at), (radius + thick * 0.7) * Math.sin(at));
      context.stroke();
    }
    context.fillStyle = color("--text");
    context.font = font(Math.min(Math.max(size * 0.34, 14), 44), 600, "--mono");
    label(context, gauge.value, 0, -size * 0.04);
    context.fillStyle = color("--dim");
    context.font = font(Math.min(Math.max(size * 0.15, 10), 15));
    label(context, gauge.name, 0, size * 0.28);
    context.fillStyle = gauge.hue;
    label(context, gauge.left, 0, size * 0.62);
  });
}

function drawDuty(context: Context, box: Box, ride: Ride, limits: Limits): void {
  drawGauge(context, box, {
    filled: [0, ride.duty],
    hue: color(HUES[dutyLevel(ride.duty, limits)]),
    zones: [
      [limits.pushbackDuty, limits.maxDuty, "--warning"],
      [limits.maxDuty, 1, "--error"],
    ],
    mark: NaN,
    value: `${(ride.duty * 100).toFixed(0)}%`,
    name: "duty",
    left: `${Math.max((limits.maxDuty - ride.duty) * 100, 0).toFixed(0)}% left`,
  });
}

function drawCurrent(context: Context, box: Box, ride: Ride, limits: Limits): void {
  const place = (amperes: number) => 0.5 + amperes / (2 * limits.maxCurrent);
  const left = currentHeadroom(ride, limits);
  drawGauge(context, box, {
    filled: [0.5, place(ride.current)],
    hue: color(HUES[left < 0.05 ? "error" : left < 0.2 ? "warning" : "good"]),
    zones: [
      [0, 0.1, "--warning"],
      [0.9, 1, "--warning"],
    ],
    mark: Number.isNaN(ride.request) ? NaN : place(ride.request),
    value: `${ride.current.toFixed(0)} A`,
    name: "motor current",
    left: `${(left * 100).toFixed(0)}% left`,
  });
}

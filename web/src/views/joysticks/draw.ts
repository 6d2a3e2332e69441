/** Joysticks drawn by us: gamepads, flight sticks, and plain axes and buttons for all others. */

import { color, faded, font, label, type Context } from "../../draw/canvas";
import { pulled, WIRINGS, type Pad, type State, type Wiring } from "./sticks";

export function drawStick(context: Context, width: number, height: number, pad: Pad, state: State): void {
  if (pad === "generic") return drawGeneric(context, width, height, state);
  // All gamepads are drawn on a sheet of this size.
  const [wide, high] = [360, 230];
  const scale = Math.min(width / wide, height / high, 2.2);
  context.save();
  context.translate((width - wide * scale) / 2, (height - high * scale) / 2);
  context.scale(scale, scale);
  if (pad === "flight") drawFlight(context, state);
  else drawGamepad(context, state, WIRINGS[pad]);
  context.restore();
}

const axis = (state: State, at: number) => {
  const value = state.axes[at];
  return value === undefined || !Number.isFinite(value) ? 0 : Math.min(Math.max(value, -1), 1);
};

const pressed = (state: State, button: number) => state.buttons[button - 1] ?? false;

function lit(context: Context, on: boolean): void {
  context.fillStyle = on ? color("--accent") : color("--raised");
  context.strokeStyle = on ? color("--accent") : color("--line-strong");
  context.lineWidth = 1.5;
}

function button(context: Context, x: number, y: number, radius: number, text: string, on: boolean): void {
  lit(context, on);
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
  context.stroke();
  if (!text) return;
  context.fillStyle = on ? color("--accent-text") : color("--dim");
  context.font = font(radius * 0.95, 600);
  label(context, text, x, y + 0.5);
}

/** A stick that leans: a circle with cross hairs, and where it is. y grows towards the driver, as it comes. */
function stick(context: Context, x: number, y: number, radius: number, dx: number, dy: number, down: boolean): void {
  context.fillStyle = color("--panel");
  context.strokeStyle = down ? color("--accent") : color("--line-strong");
  context.lineWidth = down ? 2.5 : 1.5;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
  context.stroke();
  context.strokeStyle = color("--line");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x - radius, y);
  context.lineTo(x + radius, y);
  context.moveTo(x, y - radius);
  context.lineTo(x, y + radius);
  context.stroke();
  const [px, py] = [x + dx * radius * 0.78, y + dy * radius * 0.78];
  context.strokeStyle = faded(color("--accent"), 0.7);
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(px, py);
  context.stroke();
  context.fillStyle = color("--accent");
  context.beginPath();
  context.arc(px, py, radius * 0.22, 0, 7);
  context.fill();
}

/** A bar that fills from one end, or from its middle for values with a sign. */
function bar(context: Context, x: number, y: number, wide: number, high: number, value: number, signed: boolean): void {
  context.fillStyle = color("--panel");
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(x, y, wide, high, 3);
  context.fill();
  context.stroke();
  context.fillStyle = color("--accent");
  const upright = high > wide;
  const long = upright ? high : wide;
  const start = signed ? long / 2 : upright ? long : 0;
  const reach = (signed ? (long / 2) * value : long * value) * (upright && !signed ? -1 : 1);
  const [from, size] = reach < 0 ? [start + reach, -reach] : [start, reach];
  context.beginPath();
  if (upright) context.roundRect(x, y + from, wide, size, 2);
  else context.roundRect(x + from, y, size, high, 2);
  context.fill();
}

const ARM = [
  [0, 1],
  [90, 0],
  [180, 3],
  [270, 2],
] as const;

/** A cross of four directions, lit by the angle of the POV. */
function cross(context: Context, x: number, y: number, size: number, pov: number): void {
  const third = size / 3;
  for (const [angle] of ARM) {
    const near = pov >= 0 && Math.abs(((pov - angle + 540) % 360) - 180) <= 45;
    const turn = (angle * Math.PI) / 180;
    const [dx, dy] = [Math.sin(turn), -Math.cos(turn)];
    lit(context, near);
    context.beginPath();
    context.roundRect(x + dx * third - third / 2, y + dy * third - third / 2, third, third, 3);
    context.fill();
    context.stroke();
  }
  context.fillStyle = color("--raised");
  context.fillRect(x - third / 2, y - third / 2, third, third);
}

function drawGamepad(context: Context, state: State, wiring: Wiring): void {
  // The body: two grips and what joins them.
  context.beginPath();
  context.moveTo(92, 52);
  context.bezierCurveTo(130, 44, 230, 44, 268, 52);
  context.bezierCurveTo(310, 60, 330, 130, 336, 176);
  context.bezierCurveTo(340, 214, 306, 226, 280, 196);
  context.bezierCurveTo(264, 184, 252, 180, 230, 180);
  context.lineTo(130, 180);
  context.bezierCurveTo(108, 180, 96, 184, 80, 196);
  context.bezierCurveTo(54, 226, 20, 214, 24, 176);
  context.bezierCurveTo(30, 130, 50, 60, 92, 52);
  context.closePath();
  context.fillStyle = faded(color("--raised"), 0.6);
  context.fill();
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 2;
  context.stroke();

  for (const [at, x] of [
    [0, 66],
    [1, 236],
  ] as const) {
    bar(context, x, 6, 58, 14, pulled(state.axes[wiring.triggers[at]] ?? NaN, wiring.rests), false);
    lit(context, pressed(state, wiring.shoulders[at]));
    context.beginPath();
    context.roundRect(x, 26, 58, 12, 6);
    context.fill();
    context.stroke();
  }
  stick(
    context,
    92,
    94,
    28,
    axis(state, wiring.left[0]),
    axis(state, wiring.left[1]),
    pressed(state, wiring.thumbs[0]),
  );
  stick(
    context,
    218,
    140,
    28,
    axis(state, wiring.right[0]),
    axis(state, wiring.right[1]),
    pressed(state, wiring.thumbs[1]),
  );
  cross(context, 142, 140, 48, state.povs[0] ?? -1);
  for (const [at, [x, y]] of [
    [268, 116],
    [291, 94],
    [245, 94],
    [268, 72],
  ].entries()) {
    button(context, x ?? 0, y ?? 0, 11, wiring.labels[at] ?? "", pressed(state, wiring.face[at] ?? 0));
  }
  button(context, 160, 92, 7, "", pressed(state, wiring.middle[0]));
  button(context, 200, 92, 7, "", pressed(state, wiring.middle[1]));
  // What this gamepad has beyond those that we know.
  const more = Math.min(state.buttons.length - wiring.known, 12);
  for (let at = 0; at < more; at++) {
    const which = wiring.known + 1 + at;
    button(context, 180 + (at - (more - 1) / 2) * 22, 208, 9, String(which), pressed(state, which));
  }
}

function drawFlight(context: Context, state: State): void {
  stick(context, 96, 106, 78, axis(state, 0), axis(state, 1), pressed(state, 1));
  context.fillStyle = color("--faint");
  context.font = font(11);
  if (state.axes.length > 2) {
    bar(context, 30, 200, 132, 14, axis(state, 2), true);
    label(context, "twist", 96, 222);
  }
  if (state.axes.length > 3) {
    bar(context, 190, 30, 14, 152, pulled(-(state.axes[3] ?? NaN), true), false);
    context.fillStyle = color("--faint");
    label(context, "slider", 197, 200);
  }
  cross(context, 282, 52, 66, state.povs[0] ?? -1);
  for (let at = 0; at < Math.min(state.buttons.length, 16); at++) {
    const [column, row] = [at % 4, Math.floor(at / 4)];
    button(context, 234 + column * 32, 114 + row * 32, 12, String(at + 1), pressed(state, at + 1));
  }
}

function drawGeneric(context: Context, width: number, height: number, state: State): void {
  const { axes, buttons, povs } = state;
  const row = Math.min(Math.max((height * 0.62) / Math.max(axes.length, 1), 12), 26);
  const [left, right] = [24, width - 14];
  for (let at = 0; at < axes.length; at++) {
    const y = 6 + at * row;
    context.fillStyle = color("--dim");
    context.font = font(Math.min(row * 0.55, 12), 500, "--mono");
    label(context, String(at), left - 8, y + row / 2, "right");
    bar(context, left, y + row * 0.2, right - left, row * 0.6, axis(state, at), true);
  }
  const top = 6 + axes.length * row + 10;
  const size = Math.min(Math.max((height - top) * 0.9, 30), 64);
  const room = povs.length > 0 ? size + 12 : 0;
  const columns = Math.max(Math.floor((right - left - room) / 26), 1);
  for (let at = 0; at < buttons.length; at++) {
    const [x, y] = [left + 11 + (at % columns) * 26, top + 11 + Math.floor(at / columns) * 26];
    button(context, x, y, 10.5, String(at + 1), pressed(state, at + 1));
  }
  if (povs.length > 0) cross(context, right - size / 2, top + size / 2, size, povs[0] ?? -1);
}

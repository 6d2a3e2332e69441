/** Actors as they look from above. */

import { type Palette } from "../../carla/colors";
import { faded, font, label, type Context } from "../../draw/canvas";
import type { Kind, ActorLife } from "../../carla/cast";
import * as lights from "../../carla/lights";
import type { Scene } from "./picture";

/** What shows who is meant: a ring around the small, a frame around the large. */
export function halo(context: Context, life: ActorLife, strong: boolean, { palette, camera }: Scene): void {
  const { cx, cy, ex, ey } = life.size;
  const [x, y] = [ex * camera.scale, ey * camera.scale];
  context.beginPath();
  if (x > 24) {
    const [mx, my] = [cx * camera.scale, cy * camera.scale];
    context.roundRect(mx - x - 6, my - y - 6, 2 * x + 12, 2 * y + 12, Math.min(y * 0.42 + 6, 16));
  } else {
    context.arc(0, 0, Math.max(Math.hypot(x, y) + 5, 11), 0, 2 * Math.PI);
  }
  context.fillStyle = faded(palette.accent, strong ? 0.16 : 0.08);
  context.fill();
  context.strokeStyle = strong ? palette.accent : faded(palette.text, 0.6);
  context.lineWidth = 1.5;
  context.stroke();
}

/** One actor around the origin, its front to the right. */
export function one(context: Context, life: ActorLife, colour: string, flags: number, scene: Scene): void {
  const { scale } = scene.camera;
  switch (life.kind) {
    case "walker":
      return walker(context, life, colour, scene);
    case "traffic_light":
      return trafficLight(context, flags, scene);
    case "traffic_sign":
      return sign(context, life, scene);
    case "sensor":
    case "spectator":
      return eye(context, colour, scene);
    default: {
      const ex = Math.max(life.size.ex * scale, 5);
      const ey = Math.max(life.size.ey * scale, 2.2);
      context.translate(life.size.cx * scale, life.size.cy * scale);
      if (life.kind === "vehicle") beams(context, ex, ey, flags, scene);
      vehicle(context, life.kind, ex, ey, colour, scene);
      lamps(context, ex, ey, flags, scene);
    }
  }
}

function vehicle(context: Context, kind: Kind, ex: number, ey: number, colour: string, { palette }: Scene): void {
  context.beginPath();
  context.roundRect(-ex, -ey, 2 * ex, 2 * ey, Math.min(ex, ey) * (kind === "vehicle" ? 0.42 : 0.8));
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = faded(palette.text, 0.75);
  context.lineWidth = 1.2;
  context.stroke();
  // The windscreen shows where its front is, on every colour.
  context.beginPath();
  if (kind === "vehicle" && ex > 9) {
    context.moveTo(ex * 0.48, -ey * 0.78);
    context.quadraticCurveTo(ex * 0.62, 0, ex * 0.48, ey * 0.78);
    context.lineTo(ex * 0.12, ey * 0.66);
    context.lineTo(ex * 0.12, -ey * 0.66);
    context.closePath();
    context.fillStyle = faded(palette.glass, 0.75);
    context.fill();
    context.strokeStyle = faded(palette.paper, 0.35);
    context.lineWidth = 0.8;
    context.stroke();
  } else {
    context.moveTo(ex * 0.85, 0);
    context.lineTo(ex * 0.25, -ey * 0.7);
    context.lineTo(ex * 0.25, ey * 0.7);
    context.closePath();
    context.fillStyle = faded(palette.panel, 0.85);
    context.fill();
  }
}

function beams(context: Context, ex: number, ey: number, flags: number, { camera, palette }: Scene): void {
  if ((flags & (lights.LOW_BEAM | lights.HIGH_BEAM)) === 0 || ex < 8) return;
  const reach = (flags & lights.HIGH_BEAM ? 18 : 9) * camera.scale;
  const light = context.createLinearGradient(ex, 0, ex + reach, 0);
  light.addColorStop(0, faded(palette.front, 0.4));
  light.addColorStop(1, faded(palette.front, 0));
  context.beginPath();
  context.moveTo(ex, -ey * 0.8);
  context.lineTo(ex + reach, -ey * 0.8 - reach * 0.28);
  context.lineTo(ex + reach, ey * 0.8 + reach * 0.28);
  context.lineTo(ex, ey * 0.8);
  context.closePath();
  context.fillStyle = light;
  context.fill();
}

function lamps(context: Context, ex: number, ey: number, flags: number, { t, palette }: Scene): void {
  if (flags === 0) return;
  const size = Math.max(Math.min(ey * 0.34, 7), 1.8);
  const lamp = (x: number, y: number, colour: string, glow: boolean) => {
    if (glow) {
      context.beginPath();
      context.arc(x, y, size * 2.1, 0, 2 * Math.PI);
      context.fillStyle = faded(colour, 0.32);
      context.fill();
    }
    context.beginPath();
    context.arc(x, y, size * 0.75, 0, 2 * Math.PI);
    context.fillStyle = colour;
    context.fill();
  };
  const [front, rear, side] = [ex - size * 0.4, -ex + size * 0.4, ey - size * 0.5];
  const on = (flag: number) => (flags & flag) !== 0;
  if (on(lights.POSITION) && ex > 7) {
    for (const y of [-side, side]) {
      lamp(front, y, palette.front, false);
      if (!on(lights.BRAKE)) lamp(rear, y, faded(palette.rear, 0.55), false);
    }
  }
  if (on(lights.LOW_BEAM) || on(lights.HIGH_BEAM)) for (const y of [-side, side]) lamp(front, y, palette.front, true);
  if (on(lights.BRAKE)) for (const y of [-side, side]) lamp(rear, y, palette.rear, true);
  if (on(lights.REVERSE)) for (const y of [-side * 0.4, side * 0.4]) lamp(rear, y, palette.paper, true);
  if (lights.blinks(t)) {
    // Its right is down on the screen before it is turned.
    if (on(lights.RIGHT_BLINKER)) for (const x of [front, rear]) lamp(x, side, palette.side, true);
    if (on(lights.LEFT_BLINKER)) for (const x of [front, rear]) lamp(x, -side, palette.side, true);
  }
}

function walker(context: Context, life: ActorLife, colour: string, { camera, palette }: Scene): void {
  const radius = Math.max(Math.max(life.size.ex, 0.28) * camera.scale, 3);
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = faded(palette.text, 0.8);
  context.lineWidth = 1;
  context.stroke();
  if (radius < 4) return;
  context.beginPath();
  context.moveTo(radius * 0.2, 0);
  context.lineTo(radius * 1.6, 0);
  context.lineWidth = 1.5;
  context.stroke();
}

export const signalColor = (state: number, palette: Palette): string =>
  ({ red: palette.red, yellow: palette.yellow, green: palette.green, off: palette.faint, unknown: palette.faint })[
    lights.trafficLight(state)
  ];

function trafficLight(context: Context, state: number, { camera, palette }: Scene): void {
  const radius = Math.min(Math.max(camera.scale * 0.9, 3.5), 9);
  const colour = signalColor(state, palette);
  const lit = state < 3;
  if (lit) {
    context.beginPath();
    context.arc(0, 0, radius * 2, 0, 2 * Math.PI);
    context.fillStyle = faded(colour, 0.28);
    context.fill();
  }
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.fillStyle = lit ? colour : palette.panel;
  context.fill();
  context.strokeStyle = lit ? faded(palette.ink, 0.55) : colour;
  context.lineWidth = 1.5;
  context.stroke();
}

function sign(context: Context, life: ActorLife, { camera, palette }: Scene): void {
  const limit = /speed_limit\.(\d+)$/.exec(life.type)?.[1];
  const radius = Math.min(Math.max(camera.scale * 0.8, 2.5), 9);
  if (limit === undefined || radius < 6) {
    context.rotate(Math.PI / 4);
    context.fillStyle = palette.kinds.traffic_sign;
    context.fillRect(-radius / 2, -radius / 2, radius, radius);
    return;
  }
  // Numbers stay upright: what was turned is turned back.
  const turned = context.getTransform();
  context.rotate(-Math.atan2(turned.b, turned.a));
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
  context.fillStyle = palette.paper;
  context.fill();
  context.strokeStyle = palette.red;
  context.lineWidth = 2;
  context.stroke();
  context.fillStyle = palette.ink;
  context.font = font(radius * (limit.length > 2 ? 0.72 : 0.95), 700);
  label(context, limit, 0, 0.5);
}

/** A sensor or the spectator: something that looks. */
function eye(context: Context, colour: string, { camera }: Scene): void {
  const size = Math.min(Math.max(camera.scale * 0.6, 4), 9);
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(size * 1.6, -size);
  context.lineTo(size * 1.6, size);
  context.closePath();
  context.fillStyle = faded(colour, 0.25);
  context.fill();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.stroke();
}

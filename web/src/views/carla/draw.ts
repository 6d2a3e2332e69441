/** Draws a moment of a recording from above. */

import { bodyColor, FASTEST, type Palette } from "../../carla/colors";
import type { Extent } from "../../carla/extent";
import type { CarlaCollision } from "../../api";
import { faded, font, label, type Context } from "../../draw/canvas";
import { scaleBar, toScreen, visible, within } from "./camera";
import { nameOf, type Kind } from "../../carla/cast";
import type { Scene } from "./picture";
import { halo, one, signalColor } from "./shapes";
import { drawTrails } from "./trails";

/** The length on the screen from which on an actor has a shape of its own, in pixels. */
const DETAIL = 13;
/** Pixels per metre below which lights, signs, walkers and sensors are dots, and half the side of one. */
const FAR = 1.5;
const DOT = 1.75;
/** How long a burst stays after a collision, in seconds. */
export const FADES = 2.5;
const MOST_LABELS = 250;

export function draw(context: Context, width: number, height: number, scene: Scene): void {
  const seen = visible(scene.camera, width, height);
  grid(context, width, height, scene, seen);
  collisionPlaces(context, width, height, scene);
  if (scene.trail > 0) drawTrails(context, width, height, scene, seen);
  const shown = visibleOnes(scene, seen);
  actors(context, width, height, scene, shown);
  bursts(context, width, height, scene);
  if (scene.labels) labels(context, width, height, scene, shown);
  legend(context, width, height, scene);
}

/** What is drawn of an actor last is on top. */
const LAYERS: Record<Kind, number> = {
  traffic_sign: 0,
  traffic_light: 1,
  other: 2,
  sensor: 3,
  spectator: 4,
  vehicle: 5,
  motorcycle: 6,
  bicycle: 7,
  walker: 8,
};

/** The places of those who can be seen, the lowest first. */
export function visibleOnes(scene: Pick<Scene, "now" | "cast" | "hidden">, seen: Extent): number[] {
  const { now, cast, hidden } = scene;
  const found: number[] = [];
  for (let place = 0; place < now.count; place++) {
    const life = cast.lives[now.life[place] ?? -1];
    if (!life || hidden.has(life.kind)) continue;
    const radius = Math.max(life.size.ex, life.size.ey) + 2;
    if (within(seen, now.x[place] ?? NaN, now.y[place] ?? NaN, radius)) found.push(place);
  }
  const layer = (place: number) => LAYERS[cast.lives[now.life[place] ?? -1]?.kind ?? "other"];
  return found.sort((a, b) => layer(a) - layer(b));
}

function grid(context: Context, width: number, height: number, { camera, palette }: Scene, seen: Extent): void {
  const step = scaleBar(camera.scale, 70);
  const line = (x0: number, y0: number, x1: number, y1: number) => {
    const [a, b] = toScreen(camera, width, height, x0, y0);
    const [c, d] = toScreen(camera, width, height, x1, y1);
    context.moveTo(a, b);
    context.lineTo(c, d);
  };
  for (const [every, colour] of [
    [step, faded(palette.line, 0.45)],
    [step * 5, faded(palette.line, 0.95)],
    [0, palette.strong],
  ] as const) {
    context.beginPath();
    if (every === 0) {
      line(seen.left, 0, seen.right, 0);
      line(0, seen.top, 0, seen.bottom);
    } else {
      for (let x = Math.ceil(seen.left / every) * every; x <= seen.right; x += every) line(x, seen.top, x, seen.bottom);
      for (let y = Math.ceil(seen.top / every) * every; y <= seen.bottom; y += every) line(seen.left, y, seen.right, y);
    }
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.stroke();
  }
}

function actors(context: Context, width: number, height: number, scene: Scene, shown: number[]): void {
  const { now, cast, camera, palette, coloring } = scene;
  // Those that are small on the screen are filled together, colour by colour.
  const [small, dots] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const together = (kept: Map<string, number[]>, colour: string, place: number) => {
    const same = kept.get(colour);
    if (same) same.push(place);
    else kept.set(colour, [place]);
  };
  for (const place of shown) {
    const life = cast.lives[now.life[place] ?? -1];
    if (!life) continue;
    const colour = bodyColor(life, now.speed[place] ?? NaN, coloring, palette);
    const marked = life.hero || now.life[place] === scene.followed || now.life[place] === scene.hovered;
    const box =
      life.kind === "vehicle" || life.kind === "bicycle" || life.kind === "motorcycle" || life.kind === "other";
    if (box && !marked && life.size.ex * 2 * camera.scale < DETAIL) {
      together(small, colour, place);
      continue;
    }
    if (!box && !marked && camera.scale < FAR) {
      together(dots, life.kind === "traffic_light" ? signalColor(now.lights[place] ?? 0, palette) : colour, place);
      continue;
    }
    const [sx, sy] = toScreen(camera, width, height, now.x[place] ?? 0, now.y[place] ?? 0);
    context.save();
    context.translate(sx, sy);
    context.rotate(((now.yaw[place] ?? 0) * Math.PI) / 180 + camera.turn);
    if (marked) halo(context, life, now.life[place] === scene.followed || life.hero, scene);
    one(context, life, colour, now.lights[place] ?? 0, scene);
    context.restore();
  }
  for (const [colour, places] of dots) {
    context.beginPath();
    for (const place of places) {
      const [sx, sy] = toScreen(camera, width, height, now.x[place] ?? 0, now.y[place] ?? 0);
      context.rect(sx - DOT, sy - DOT, 2 * DOT, 2 * DOT);
    }
    context.fillStyle = colour;
    context.fill();
  }
  for (const [colour, places] of small) {
    context.beginPath();
    for (const place of places) corners(context, width, height, scene, place);
    context.fillStyle = colour;
    context.fill();
    context.strokeStyle = faded(palette.text, 0.45);
    context.lineWidth = 0.75;
    context.stroke();
  }
}

/** An actor as four corners, at least some pixels large. */
function corners(context: Context, width: number, height: number, { now, cast, camera }: Scene, place: number): void {
  const life = cast.lives[now.life[place] ?? -1];
  if (!life) return;
  const [sx, sy] = toScreen(camera, width, height, now.x[place] ?? 0, now.y[place] ?? 0);
  const angle = ((now.yaw[place] ?? 0) * Math.PI) / 180 + camera.turn;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const ex = Math.max(life.size.ex * camera.scale, 3);
  const ey = Math.max(life.size.ey * camera.scale, 1.6);
  const to = (x: number, y: number) => context.lineTo(sx + x * cos - y * sin, sy + x * sin + y * cos);
  // The front is cut to a point, so that a heading can be seen.
  context.moveTo(sx + ex * cos, sy + ex * sin);
  to(ex * 0.55, ey);
  to(-ex, ey);
  to(-ex, -ey);
  to(ex * 0.55, -ey);
  // In a path of thousands `closePath` is slow.
  to(ex, 0);
}

/** Where collisions are, at any time. */
function collisionPlaces(context: Context, width: number, height: number, scene: Scene): void {
  context.strokeStyle = faded(scene.palette.red, 0.55);
  context.lineWidth = 1.2;
  context.beginPath();
  for (const { location: at } of scene.collisions) {
    if (!at) continue;
    const [x, y] = toScreen(scene.camera, width, height, at[0], at[1]);
    if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
    for (const side of [-4, 4]) {
      context.moveTo(x - 4, y - side);
      context.lineTo(x + 4, y + side);
    }
  }
  context.stroke();
}

/** How strong the burst of a collision is at a moment: 1 while it lasts, then less and less. */
export function burst({ start, end }: Pick<CarlaCollision, "start" | "end">, now: number): number {
  if (now < start) return 0;
  return now <= end ? 1 : Math.max(1 - (now - end) / FADES, 0);
}

function bursts(context: Context, width: number, height: number, scene: Scene): void {
  for (const collision of scene.collisions) {
    const strength = collision.location ? burst(collision, scene.t) : 0;
    if (!collision.location || strength <= 0) continue;
    const [x, y] = toScreen(scene.camera, width, height, collision.location[0], collision.location[1]);
    const radius = 16 + 10 * (1 - strength);
    context.beginPath();
    for (let ray = 0; ray < 20; ray++) {
      const length = ray % 2 === 0 ? radius : radius * 0.5;
      const angle = (ray * Math.PI) / 10;
      context.lineTo(x + length * Math.cos(angle), y + length * Math.sin(angle));
    }
    context.closePath();
    context.fillStyle = faded(scene.palette.yellow, 0.75 * strength);
    context.fill();
    context.strokeStyle = faded(scene.palette.red, strength);
    context.lineWidth = 2;
    context.stroke();
  }
}

function labels(context: Context, width: number, height: number, scene: Scene, shown: number[]): void {
  const { now, cast, camera, palette } = scene;
  const [some, all] = [camera.scale > 5, camera.scale > 11];
  const marked = (place: number) =>
    (cast.lives[now.life[place] ?? -1]?.hero ?? false) ||
    now.life[place] === scene.followed ||
    now.life[place] === scene.hovered;
  // Whoever is marked has a name in any case; others have one where there is room.
  const order = some ? [...shown].sort((a, b) => Number(marked(b)) - Number(marked(a))) : shown.filter(marked);
  const taken: Extent[] = [];
  context.lineJoin = "round";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const place of order) {
    const life = cast.lives[now.life[place] ?? -1];
    if (!life || life.kind === "traffic_light" || life.kind === "traffic_sign") continue;
    if (taken.length >= MOST_LABELS) return;
    const text = all || marked(place) ? `${life.id} ${nameOf(life)}` : String(life.id);
    const [sx, sy] = toScreen(camera, width, height, now.x[place] ?? 0, now.y[place] ?? 0);
    const y = sy + Math.max(Math.hypot(life.size.ex, life.size.ey) * camera.scale, 6) + 11;
    const half = text.length * 3.1;
    const box = { left: sx - half, right: sx + half, top: y - 6, bottom: y + 6 };
    if (taken.some((other) => overlap(box, other))) continue;
    taken.push(box);
    context.font = font(11, marked(place) ? 600 : 400);
    context.strokeStyle = faded(palette.panel, 0.85);
    context.lineWidth = 3;
    context.strokeText(text, sx, y);
    context.fillStyle = marked(place) ? palette.text : palette.dim;
    context.fillText(text, sx, y);
  }
}

const overlap = (a: Extent, b: Extent): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** How long things are, and where x and y go. */
function legend(context: Context, width: number, height: number, { camera, palette, coloring }: Scene): void {
  const metres = scaleBar(camera.scale, Math.min(140, width / 4));
  const length = metres * camera.scale;
  const [x, y] = [16, height - 16];
  context.strokeStyle = palette.text;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x, y);
  context.lineTo(x + length, y);
  context.lineTo(x + length, y - 5);
  context.stroke();
  context.fillStyle = palette.text;
  context.font = font(11, 500);
  label(context, metres >= 1000 ? `${metres / 1000} km` : `${metres} m`, x + length / 2, y - 9);
  const [ox, oy] = [x + 14, y - 46];
  for (const [angle, colour, text] of [
    [camera.turn, palette.red, "x"],
    [camera.turn + Math.PI / 2, palette.green, "y"],
  ] as const) {
    const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(ox, oy);
    context.lineTo(ox + dx * 14, oy + dy * 14);
    context.stroke();
    label(context, text, ox + dx * 21, oy + dy * 21);
  }
  if (coloring === "speed") speeds(context, width, height, palette);
}

function speeds(context: Context, width: number, height: number, palette: Palette): void {
  const [long, x, y] = [110, width - 126, height - 20];
  for (let step = 0; step < 40; step++) {
    context.fillStyle = `hsl(${220 - step * 5.5} 78% 58%)`;
    context.fillRect(x + (step * long) / 40, y, long / 40 + 0.5, 6);
  }
  context.fillStyle = palette.text;
  context.font = font(11, 500);
  label(context, "0", x, y - 8, "left");
  label(context, `${FASTEST}+ m/s`, x + long, y - 8, "right");
}

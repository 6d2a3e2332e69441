/** Ribbons in 3D: where things came from, and the paths that they are to take. */

import type { Pose } from "../../poses/poses";
import type { ActorList, Kind } from "../../carla/cast";
import type { Snapshot, Tile } from "../../carla/tracks";
import type { Ribbons } from "./stage";
import type { Point } from "./world";

/** So many points are the most; what is beyond them is left out. */
const MOST = 180_000;
/** A step that is longer is a jump, in metres. */
const JUMP = 8;
/** Trails lie a little above the ground, in metres. */
const ABOVE = 0.04;

export type Rgb = [number, number, number];

/** `#rrggbb` as three parts of light, 0 to 1. */
export function rgb(hex: string): Rgb {
  const part = (from: number) => parseInt(hex.slice(from, from + 2), 16) / 255;
  // Blending happens in linear light, not in sRGB.
  const light = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return [light(part(1)), light(part(3)), light(part(5))];
}

/** Draws ribbons that lie flat: lines would be one pixel wide wherever they are. */
export class Pencil implements Ribbons {
  points = new Float32Array(9000);
  colors = new Float32Array(12000);
  count = 0;

  begin(): void {
    this.count = 0;
  }

  /** A ribbon from one place to another, with an opacity for each end: two triangles. */
  line(a: Point, b: Point, width: number, color: Rgb, from: number, to: number): void {
    if (this.count + 6 > MOST) return;
    if ((this.count + 6) * 3 > this.points.length) {
      const grown = [new Float32Array(this.points.length * 2), new Float32Array(this.colors.length * 2)] as const;
      grown[0].set(this.points);
      grown[1].set(this.colors);
      [this.points, this.colors] = grown;
    }
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const [nx, ny] = [(-(b[1] - a[1]) / length) * (width / 2), ((b[0] - a[0]) / length) * (width / 2)];
    for (const [end, side, strength] of [
      [a, 1, from],
      [a, -1, from],
      [b, 1, to],
      [b, 1, to],
      [a, -1, from],
      [b, -1, to],
    ] as const) {
      this.points[this.count * 3] = end[0] + nx * side;
      this.points[this.count * 3 + 1] = end[1] + ny * side;
      this.points[this.count * 3 + 2] = end[2];
      this.colors[this.count * 4] = color[0];
      this.colors[this.count * 4 + 1] = color[1];
      this.colors[this.count * 4 + 2] = color[2];
      this.colors[this.count * 4 + 3] = strength;
      this.count++;
    }
  }

  /** A path through poses. */
  path(poses: Pose[], color: Rgb): void {
    for (let place = 1; place < poses.length; place++) {
      const [a, b] = [poses[place - 1], poses[place]];
      if (a && b) this.line([a.x, a.y, a.z + ABOVE], [b.x, b.y, b.z + ABOVE], 0.06, color, 0.9, 0.9);
    }
  }
}

/** One trail, place by place, from the oldest on. */
export class Trail {
  #last: Point | null = null;
  #strength = 0;

  constructor(
    private readonly pencil: Pencil,
    private readonly color: Rgb,
    private readonly width: number,
    private readonly t: number,
    private readonly seconds: number,
  ) {}

  to(time: number, x: number, y: number, z: number): void {
    const here: Point = [x, y, z + ABOVE];
    const strength = Math.min(Math.max(1 - (this.t - time) / this.seconds, 0), 1) * 0.85;
    const last = this.#last;
    if (last && Math.hypot(x - last[0], y - last[1]) < JUMP) {
      this.pencil.line(last, here, this.width, this.color, this.#strength, strength);
    }
    this.#last = here;
    this.#strength = strength;
  }
}

const MOVING: ReadonlySet<Kind> = new Set(["vehicle", "bicycle", "motorcycle", "walker", "other"]);

/** The trails of all actors that move. */
export function actorTrails(
  pencil: Pencil,
  now: Snapshot,
  cast: ActorList,
  tiles: Tile[],
  t: number,
  seconds: number,
  colorOf: (life: number) => Rgb,
): void {
  for (let place = 0; place < now.count; place++) {
    const number = now.life[place] ?? -1;
    const life = cast.lives[number];
    if (!life || !MOVING.has(life.kind)) continue;
    const trail = new Trail(pencil, colorOf(number), Math.min(life.size.ey, 0.4), t, seconds);
    // A walker's place is in its middle, its trail on the ground.
    const down = life.kind === "walker" ? life.size.ez : 0;
    let before = -Infinity;
    for (const tile of tiles) {
      const slot = tile.slotOf(number);
      if (slot < 0) continue;
      const { rows, starts } = tile;
      const end = starts[slot + 1] ?? 0;
      for (let row = Math.max(tile.rowAt(slot, t - seconds), starts[slot] ?? 0); row < end; row++) {
        const time = rows.t[row] ?? 0;
        if (time >= t) break;
        if (time <= before || time < t - seconds) continue;
        before = time;
        trail.to(time, rows.x[row] ?? 0, -(rows.y[row] ?? 0), (rows.z[row] ?? 0) - down);
      }
    }
    trail.to(t, now.x[place] ?? 0, -(now.y[place] ?? 0), (now.z[place] ?? 0) - down);
  }
}

/**
 * The world as it is drawn in 3D: metres, right-handed, x forward, y left, z up, as WPILib has it. CARLA's is left-handed with
 * y right: a place is mirrored, and so are the angles about x and z seen from there.
 */

import type { Quaternion } from "../../poses/angles";
import { fromCarla } from "../../poses/poses";
import type { Size } from "../../carla/cast";

export type Point = [number, number, number];

/** A vector turned by a rotation. */
export function turned(q: Quaternion, [x, y, z]: Point): Point {
  // t = 2 q × v; v + w t + q × t.
  const [tx, ty, tz] = [2 * (q.y * z - q.z * y), 2 * (q.z * x - q.x * z), 2 * (q.x * y - q.y * x)];
  return [x + q.w * tx + q.y * tz - q.z * ty, y + q.w * ty + q.z * tx - q.x * tz, z + q.w * tz + q.x * ty - q.y * tx];
}

/** Where the middle of an actor's box is, from where CARLA says the actor is; and how it is turned. */
export function boxOf(
  size: Size,
  x: number,
  y: number,
  z: number,
  roll: number,
  pitch: number,
  yaw: number,
): { middle: Point; q: Quaternion } {
  const q = fromCarla(roll, pitch, yaw);
  const [dx, dy, dz] = turned(q, [size.cx, -size.cy, size.cz]);
  return { middle: [x + dx, -y + dy, z + dz], q };
}

/** From where to look at a sphere so that it fills the picture, from some direction. */
export function lookFrom(middle: Point, radius: number, direction: Point, angle: number): Point {
  const length = Math.hypot(...direction) || 1;
  const distance = (Math.max(radius, 0.5) / Math.sin((angle * Math.PI) / 360)) * 1.05;
  return [0, 1, 2].map((axis) => (middle[axis] ?? 0) + ((direction[axis] ?? 0) / length) * distance) as Point;
}

/** The length of a grid's cells at a distance: tens, and halves of them where that reads better. */
export function cellAt(distance: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(distance, 0.1) / 8));
  return distance / 8 >= power * 5 ? power * 5 : power;
}

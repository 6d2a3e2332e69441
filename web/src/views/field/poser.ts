/** From the numbers of one pose, as they were fetched, to its place on the field. */

import type { Origin, Size } from "../../field/kinds";
import type { PoseSeries } from "../../field/places";
import { mixAngle, yawOf } from "../../poses/angles";
import type { Pose } from "../../poses/poses";
import { toField, type Spot } from "./geometry";

/** Nothing drives so far between two samples: it was put there, in metres. */
const JUMP = 3;

const q = { w: 1, x: 0, y: 0, z: 0 };

function yawIn(single: PoseSeries, values: Float64Array, from: number): number {
  if (single.turn === null) return NaN;
  if (single.turn === "yaw") return (values[from + 2] ?? NaN) * single.angle;
  q.w = values[from + 2] ?? NaN;
  q.x = values[from + 3] ?? NaN;
  q.y = values[from + 4] ?? NaN;
  q.z = values[from + 5] ?? NaN;
  return yawOf(q);
}

/** Values at a time and the next ones, of which `part` has passed, as a place on the field; false if it is none. */
export function spotOf(
  single: PoseSeries,
  values: Float64Array,
  part: number,
  origin: Origin,
  size: Size,
  into: Spot,
): boolean {
  const next = single.refs.length;
  const up = single.mirrored ? -single.long : single.long;
  let [x, y] = [(values[0] ?? NaN) * single.long, (values[1] ?? NaN) * up];
  let yaw = yawIn(single, values, 0);
  if (!Number.isFinite(x) || !Number.isFinite(y)) return false;
  if (part > 0) {
    const [x1, y1] = [(values[next] ?? NaN) * single.long, (values[next + 1] ?? NaN) * up];
    if (Math.abs(x1 - x) + Math.abs(y1 - y) < JUMP) {
      x += (x1 - x) * part;
      y += (y1 - y) * part;
      yaw = mixAngle(yaw, yawIn(single, values, next), part);
    }
  }
  toField(x, y, yaw, origin, size, into);
  return true;
}

/** Decoded poses as places on the field. */
export const spotsOf = (poses: Pose[], origin: Origin, size: Size): Spot[] =>
  poses.map(({ x, y, yaw }) => toField(x, y, yaw, origin, size, { x: 0, y: 0, yaw: 0 }));

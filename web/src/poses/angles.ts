/** Angles and rotations. Angles are in radians and grow counter-clockwise, as WPILib has them. */

export interface Quaternion {
  w: number;
  x: number;
  y: number;
  z: number;
}

const TURN = 2 * Math.PI;

/** The same direction within half a turn of 0: above -π, up to π. */
export function wrapped(angle: number): number {
  const rest = angle % TURN;
  if (rest > Math.PI) return rest - TURN;
  return rest <= -Math.PI ? rest + TURN : rest;
}

export const degrees = (angle: number): number => (angle * 180) / Math.PI;
export const radians = (angle: number): number => (angle * Math.PI) / 180;

/** The angle at a part of the shorter way from one to another. */
export const mixAngle = (from: number, to: number, part: number): number => wrapped(from + wrapped(to - from) * part);

/** The rotation at a part of the shorter way from one to another. */
export function slerp(from: Quaternion, to: Quaternion, part: number): Quaternion {
  let dot = from.w * to.w + from.x * to.x + from.y * to.y + from.z * to.z;
  const sign = dot < 0 ? -1 : 1;
  dot = Math.min(Math.abs(dot), 1);
  const angle = Math.acos(dot);
  const sine = Math.sin(angle);
  // Nearly the same: the sines would be a division of nothing by nothing.
  const a = sine < 1e-6 ? 1 - part : Math.sin((1 - part) * angle) / sine;
  const b = (sine < 1e-6 ? part : Math.sin(part * angle) / sine) * sign;
  return unit({
    w: a * from.w + b * to.w,
    x: a * from.x + b * to.x,
    y: a * from.y + b * to.y,
    z: a * from.z + b * to.z,
  });
}

/** A rotation of length 1; none at all for one without length. */
export function unit({ w, x, y, z }: Quaternion): Quaternion {
  const length = Math.hypot(w, x, y, z);
  return length > 0 && Number.isFinite(length)
    ? { w: w / length, x: x / length, y: y / length, z: z / length }
    : { w: 1, x: 0, y: 0, z: 0 };
}

/** The heading that is left of a rotation seen from above. */
export const yawOf = ({ w, x, y, z }: Quaternion): number => Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));

/** The rotation by a roll about x, then a pitch about y, then a yaw about z, all about fixed axes. */
export function quaternion(roll: number, pitch: number, yaw: number): Quaternion {
  const [cr, sr] = [Math.cos(roll / 2), Math.sin(roll / 2)];
  const [cp, sp] = [Math.cos(pitch / 2), Math.sin(pitch / 2)];
  const [cy, sy] = [Math.cos(yaw / 2), Math.sin(yaw / 2)];
  return {
    w: cr * cp * cy + sr * sp * sy,
    x: sr * cp * cy - cr * sp * sy,
    y: cr * sp * cy + sr * cp * sy,
    z: cr * cp * sy - sr * sp * cy,
  };
}

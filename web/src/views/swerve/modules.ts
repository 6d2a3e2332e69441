/** Swerve modules, speeds of a chassis and rotations in the values of channels. */

import type { Json } from "../../api";
import { radians, yawOf } from "../../poses/angles";
import { decodePose, number } from "../../poses/poses";

/** Metres per second and radians, as seen by the robot. */
export interface Module {
  speed: number;
  angle: number;
}

/** Metres per second forward and left, radians per second counter-clockwise. */
export interface Speeds {
  vx: number;
  vy: number;
  omega: number;
}

/** How lists of numbers are read. */
export interface Pairs {
  /** Which of a pair comes first. */
  first: "angle" | "speed";
  degrees: boolean;
}

const fields = (value: Json | undefined): { [key: string]: Json } | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;

function some(from: { [key: string]: Json }, ...names: string[]): number {
  const name = names.find((known) => known in from);
  return name === undefined ? NaN : number(from[name]);
}

/** The angle of a struct, whatever its spelling, or of a number. */
function angleOf(value: Json | undefined): number {
  const inside = fields(value);
  return inside ? some(inside, "value", "radians") : number(value);
}

/** The modules of a list: structs with `speed` and `angle`, or pairs of numbers. Positions have a direction only. */
export function decodeModules(value: Json, pairs: Pairs): Module[] {
  if (!Array.isArray(value)) return [];
  if (value.some((part) => fields(part))) {
    return value.map((part) => {
      const inside = fields(part) ?? {};
      return { speed: some(inside, "speed", "speedMetersPerSecond"), angle: angleOf(inside["angle"]) };
    });
  }
  const modules: Module[] = [];
  for (let at = 0; at + 1 < value.length; at += 2) {
    const [a, b] = [number(value[at]), number(value[at + 1])];
    const [angle, speed] = pairs.first === "angle" ? [a, b] : [b, a];
    modules.push({ speed, angle: pairs.degrees ? radians(angle) : angle });
  }
  return modules;
}

/** The speeds of a chassis: a struct, or `[vx, vy, omega]`. */
export function decodeSpeeds(value: Json): Speeds | null {
  const inside = fields(value);
  const [vx, vy, omega] = Array.isArray(value)
    ? value.map(number)
    : inside
      ? [
          some(inside, "vx", "vxMetersPerSecond"),
          some(inside, "vy", "vyMetersPerSecond"),
          some(inside, "omega", "omegaRadiansPerSecond"),
        ]
      : [];
  if (vx === undefined || vy === undefined || !Number.isFinite(vx) || !Number.isFinite(vy)) return null;
  return { vx, vy, omega: omega !== undefined && Number.isFinite(omega) ? omega : 0 };
}

/** A heading in radians: of a rotation, of a pose, of a number. */
export function decodeRotation(value: Json, degrees: boolean): number {
  if (typeof value === "number") return degrees ? radians(value) : value;
  const inside = fields(value);
  if (!inside) return NaN;
  const q = fields(inside["q"]);
  if (q) return yawOf({ w: some(q, "w"), x: some(q, "x"), y: some(q, "y"), z: some(q, "z") });
  const pose = decodePose(value);
  return pose ? pose.yaw : some(inside, "value", "radians");
}

export type Corner = "FL" | "FR" | "BL" | "BR";
export const CORNERS: Corner[] = ["FL", "FR", "BL", "BR"];

/** All orders in which four modules may stand in a list. */
export const ORDERS: string[] = permutations(CORNERS).map((order) => order.join(" "));

function permutations<T>(of: T[]): T[][] {
  if (of.length < 2) return [of];
  return of.flatMap((one, at) => permutations(of.filter((_, place) => place !== at)).map((rest) => [one, ...rest]));
}

/** Where the modules of an order are, in metres from the middle: x forward, y left. */
export function cornersOf(order: string, length: number, width: number): { corner: Corner; x: number; y: number }[] {
  return order.split(" ").map((name) => {
    const corner = CORNERS.find((known) => known === name) ?? "FL";
    return { corner, x: (corner[0] === "F" ? length : -length) / 2, y: (corner[1] === "L" ? width : -width) / 2 };
  });
}

/** The speeds that modules make, by least squares: what a robot does if no wheel slips. */
export function speedsOf(modules: Module[], places: { x: number; y: number }[]): Speeds | null {
  let [vx, vy, turn, reach, count] = [0, 0, 0, 0, 0];
  for (const [at, { speed, angle }] of modules.entries()) {
    const place = places[at];
    if (!place || !Number.isFinite(speed) || !Number.isFinite(angle)) continue;
    const [x, y] = [speed * Math.cos(angle), speed * Math.sin(angle)];
    vx += x;
    vy += y;
    // Places are symmetric about the middle, so translation and rotation do not mix.
    turn += place.x * y - place.y * x;
    reach += place.x * place.x + place.y * place.y;
    count++;
  }
  return count > 0 ? { vx: vx / count, vy: vy / count, omega: reach > 0 ? turn / reach : 0 } : null;
}

/** Which series contain poses, and what each most likely is. */

import type { SeriesRef } from "../model/series";
import {
  elements,
  findPoses,
  guessReading,
  partsOfNumbers,
  shapeOf,
  type PoseKind,
  type PosePaths,
  type PosePlace,
  type Reading,
} from "../poses/poses";
import { logs } from "../store/session.svelte";
import type { Role } from "./kinds";

/** One pose whose parts are series: what is fetched ahead of the cursor. */
export interface PoseSeries {
  refs: SeriesRef[];
  /** What stands behind x and y. */
  turn: "yaw" | "quaternion" | null;
  /** What one of the source's angles is in radians. */
  angle: number;
  /** What one of its lengths is in metres. */
  long: number;
  /** CARLA's y goes right. */
  mirrored: boolean;
}

export interface Place {
  kind: PoseKind;
  many: boolean;
  single: PoseSeries | null;
}

/** Where in the values of a series its poses are: the paths of one pose, or none for a list of poses. */
export interface Located {
  kind: PoseKind;
  /** Whether the poses are plain numbers, of which `reading` says what they are. */
  numbers: boolean;
  parts: PosePaths | null;
  /** What stands before the paths of a pose. */
  base: string;
}

export function locate(ref: SeriesRef, reading: Reading): Located | null {
  const found = logs.find(ref);
  if (!found) return null;
  const fields = ref.path ? (found.field?.fields ?? []) : found.channel.fields;
  const shape = shapeOf(ref.path ? "" : found.channel.type, found.kind, fields);
  if (!shape) return null;
  const numbers = shape.kind === "numbers";
  const parts = numbers ? partsOfNumbers(elements(fields), reading) : shape.many ? null : shape.parts;
  return { kind: shape.kind, numbers, parts, base: numbers ? ref.path : "" };
}

/** The poses of a series, given how lists are read; `null` if it has none. */
export function placeOf(ref: SeriesRef, reading: Reading): Place | null {
  const located = locate(ref, reading);
  if (!located) return null;
  const { kind, numbers, parts, base } = located;
  if (!parts) return { kind, many: true, single: null };
  const behind = parts.q ?? (parts.yaw ? [parts.yaw] : []);
  return {
    kind,
    many: false,
    single: {
      refs: [parts.x, parts.y, ...behind].map((path) => ({ ...ref, path: base + path })),
      turn: parts.q ? "quaternion" : parts.yaw ? "yaw" : null,
      angle: kind === "carla" ? -Math.PI / 180 : numbers && reading.degrees ? Math.PI / 180 : 1,
      long: numbers && reading.inches ? 0.0254 : 1,
      mirrored: kind === "carla",
    },
  };
}

/** The series itself or what it is a part of, whichever has a pose. */
export function poseAround(ref: SeriesRef): SeriesRef | null {
  let path = ref.path;
  for (;;) {
    const around = { ...ref, path };
    if (placeOf(around, guessReading(ref.name))) return around;
    if (!path) return null;
    path = path.replace(/(\.[^.[]+|\[\d+\])$/, "");
  }
}

const GHOST = /setpoint|target|desired|goal|ghost|vision|estimat|reference|sample/i;
const PATH = /traj|path|plan|waypoint/i;
const SEEN = /tag|landmark|target/i;
const THINGS = /piece|note|coral|algae|fuel|ball|cube|cone|object|obstacle/i;

/** What a series most likely is. */
export function guessRole(ref: SeriesRef, place: Place, others: { role: Role }[]): Role {
  if (place.many) {
    if (PATH.test(ref.name)) return "trajectory";
    if (SEEN.test(ref.name)) return "targets";
    if (THINGS.test(ref.name) || place.kind.startsWith("point3")) return "points";
    return "trajectory";
  }
  if (place.kind.startsWith("point")) return SEEN.test(ref.name) ? "targets" : "points";
  return GHOST.test(ref.name) || others.some(({ role }) => role === "robot") ? "ghost" : "robot";
}

/** How likely a name is where the robot is. */
function rank({ channel, path, shape }: PosePlace): number {
  if (shape.many || shape.kind.startsWith("point") || GHOST.test(channel.name)) return 0;
  const name = channel.name + path;
  return (
    1 +
    (/pose/i.test(name) ? 2 : 0) +
    (/(odometry|drive|robot|swerve|state)/i.test(name) ? 2 : 0) +
    (/(^|\/)(robot|robotpose|pose|estimatedpose)$/i.test(name) ? 2 : 0) +
    (path === "" ? 1 : 0)
  );
}

/** The robot of a log, its ghosts and its trajectories; empty if the log has no poses. */
export function robotSeries(log: number): SeriesRef[] {
  const channels = logs.channels[log] ?? [];
  if (logs.logs[log]?.dialect === "carla") return [];
  const poses = findPoses(channels).filter(({ channel }) => channel.samples > 0);
  const [robot] = poses.filter((place) => rank(place) > 0).sort((a, b) => rank(b) - rank(a));
  if (!robot) return [];
  const more = poses.filter((place) => place !== robot && (place.shape.many ? PATH : GHOST).test(place.channel.name));
  return [robot, ...more.slice(0, 5)].map(({ channel, path }) => logs.refOf(log, channel, path));
}

/** Which series are what on a field: found, guessed, bound to their parts. */

import type { SeriesRef } from "../../model";
import { sameSeries } from "../../model";
import {
  elements,
  findPoses,
  guessReading,
  partsOfNumbers,
  shapeOf,
  type PoseKind,
  type PosePlace,
  type Reading,
} from "../../poses";
import { logs } from "../../store/session.svelte";
import type { FieldConfig, FieldSource, Role } from "./config";
import { emptyField } from "./config";

/** One pose whose parts are series: what is fetched ahead of the cursor. */
export interface Single {
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
  single: Single | null;
}

/** What a series holds, seen with a way to read lists; nothing if it has no poses. */
export function placeOf(ref: SeriesRef, reading: Reading): Place | null {
  const found = logs.find(ref);
  if (!found) return null;
  const fields = ref.path ? (found.field?.fields ?? []) : found.channel.fields;
  const shape = shapeOf(ref.path ? "" : found.channel.type, found.sort, fields);
  if (!shape) return null;
  const numbers = shape.kind === "numbers";
  const parts = numbers ? partsOfNumbers(elements(fields), reading) : shape.parts;
  if (!parts || (shape.many && !numbers)) return { kind: shape.kind, many: true, single: null };
  const behind = parts.q ?? (parts.yaw ? [parts.yaw] : []);
  const base = numbers ? ref.path : "";
  return {
    kind: shape.kind,
    many: false,
    single: {
      refs: [parts.x, parts.y, ...behind].map((path) => ({ ...ref, path: base + path })),
      turn: parts.q ? "quaternion" : parts.yaw ? "yaw" : null,
      angle: shape.kind === "carla" ? -Math.PI / 180 : numbers && reading.degrees ? Math.PI / 180 : 1,
      long: numbers && reading.inches ? 0.0254 : 1,
      mirrored: shape.kind === "carla",
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

/** Adds a series with the role that fits; one that is there already gives a heat map. */
export function addSource(config: FieldConfig, ref: SeriesRef): boolean {
  const around = poseAround(ref);
  if (!around) return false;
  const reading = guessReading(ref.name);
  const place = placeOf(around, reading);
  if (!place) return false;
  const same = config.sources.filter((source) => sameSeries(source.ref, around));
  if (same.length > 0 && (!place.single || same.some(({ role }) => role === "heat"))) return true;
  const role = same.length > 0 ? "heat" : guessRole(around, place, config.sources);
  config.sources.push({ ref: around, role, color: freeColor(config.sources), reading, hidden: false });
  return true;
}

function freeColor(sources: FieldSource[]): number {
  const used = new Set(sources.map(({ color }) => color));
  for (let color = 0; color < 10; color++) if (!used.has(color)) return color;
  return sources.length % 10;
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

/** A field with the robot of a log, its ghosts and its trajectories; nothing if the log has no poses. */
export function autoField(log: number): FieldConfig | null {
  const channels = logs.channels[log] ?? [];
  if (logs.logs[log]?.dialect === "carla") return null;
  const poses = findPoses(channels).filter(({ channel }) => channel.samples > 0);
  const [robot] = poses.filter((place) => rank(place) > 0).sort((a, b) => rank(b) - rank(a));
  if (!robot) return null;
  const config = emptyField();
  const more = poses.filter((place) => place !== robot && (place.shape.many ? PATH : GHOST).test(place.channel.name));
  for (const { channel, path } of [robot, ...more.slice(0, 5)]) addSource(config, logs.refOf(log, channel, path));
  return config;
}

/** Who tells the alliance, by the end of its name: 1 to 3 are red stations where it is a number. */
const ALLIANCE = /(\/FMSInfo\/IsRedAlliance|\/DriverStation\/AllianceStation|^\/ds\/control\/station)$/;

export function allianceRef(log: number): SeriesRef | null {
  const channel = logs.channels[log]?.find(({ name }) => ALLIANCE.test(name));
  return channel ? logs.refOf(log, channel) : null;
}

export function allianceOf(value: unknown): "blue" | "red" | null {
  if (typeof value === "boolean") return value ? "red" : "blue";
  if (typeof value === "number") return value >= 1 && value <= 6 ? (value <= 3 ? "red" : "blue") : null;
  if (typeof value !== "string") return null;
  return /^red/i.test(value) ? "red" : /^blue/i.test(value) ? "blue" : null;
}

/** Which series are what in 3D: found, guessed, bound to their parts. */

import { actorOf } from "../../carla/cast";
import { guessRole, locate, placeOf, poseAround, robotSeries } from "../../field/places";
import { quaternion, slerp, unit, yawOf } from "../../poses/angles";
import { sameSeries, type SeriesRef } from "../../model/series";
import { findPoses, fromCarla, guessReading, type Pose, type Reading } from "../../poses/poses";
import { logs } from "../../store/session.svelte";
import { emptyScene, type SceneConfig, type SceneSource, type Shape } from "./config";

/** One pose whose parts are series: x and y, z where there is one, and what turns it. */
export interface PoseSeries3d {
  refs: SeriesRef[];
  z: boolean;
  /** Roll, pitch and yaw; or a quaternion; or a heading alone. */
  turn: "angles" | "quaternion" | "yaw" | null;
  /** What one of its angles is in radians; CARLA's are turned into ours. */
  angle: number;
  carla: boolean;
  /** What one of its lengths is in metres. */
  long: number;
}

/** The pose of a series in 3D: `null` if it has no poses, without a `solid` if it is a list. */
export function solidOf(ref: SeriesRef, reading: Reading): { solid: PoseSeries3d | null } | null {
  const located = locate(ref, reading);
  if (!located) return null;
  const { kind, numbers, parts, base } = located;
  if (!parts) return { solid: null };
  const carla = kind === "carla";
  // A heading of three angles stands behind roll and pitch.
  const three = carla
    ? parts.yaw && ["roll", "pitch", "yaw"].map((name) => parts.yaw?.replace(/yaw$/, name) ?? "")
    : parts.yaw === "[5]" && ["[3]", "[4]", "[5]"];
  const behind = parts.q ?? (three || null) ?? (parts.yaw ? [parts.yaw] : []);
  const paths = [parts.x, parts.y, ...(parts.z ? [parts.z] : []), ...behind];
  return {
    solid: {
      refs: paths.map((path) => ({ ...ref, path: base + path })),
      z: parts.z !== null,
      turn: parts.q ? "quaternion" : three ? "angles" : parts.yaw ? "yaw" : null,
      angle: numbers && reading.degrees ? Math.PI / 180 : 1,
      carla,
      long: numbers && reading.inches ? 0.0254 : 1,
    },
  };
}

/** Nothing drives so far between two samples: it was put there, in metres. */
const JUMP = 3;

function read(solid: PoseSeries3d, values: ArrayLike<number>, from: number): Pose | null {
  const at = (place: number) => values[from + place] ?? NaN;
  const [x, y] = [at(0) * solid.long, at(1) * solid.long * (solid.carla ? -1 : 1)];
  if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
  const z = solid.z ? at(2) * solid.long : 0;
  const turn = solid.z ? 3 : 2;
  const one = (place: number) => at(turn + place) * solid.angle || 0;
  let q = unit({ w: 1, x: 0, y: 0, z: 0 });
  if (solid.turn === "quaternion") q = unit({ w: at(turn), x: at(turn + 1), y: at(turn + 2), z: at(turn + 3) });
  else if (solid.turn === "angles") q = (solid.carla ? fromCarla : quaternion)(one(0), one(1), one(2));
  else if (solid.turn === "yaw") q = quaternion(0, 0, one(0));
  return { x, y, z: Number.isFinite(z) ? z : 0, yaw: solid.turn === null ? NaN : yawOf(q), q };
}

/** Values at a time and the next ones, of which `part` has passed, as a pose; nothing if it is none. */
export function poseOf(solid: PoseSeries3d, values: ArrayLike<number>, part: number): Pose | null {
  const from = read(solid, values, 0);
  if (!from || !(part > 0)) return from;
  const to = read(solid, values, solid.refs.length);
  if (!to || Math.hypot(to.x - from.x, to.y - from.y, to.z - from.z) > JUMP) return from;
  const q = slerp(from.q, to.q, part);
  return {
    x: from.x + (to.x - from.x) * part,
    y: from.y + (to.y - from.y) * part,
    z: from.z + (to.z - from.z) * part,
    yaw: Number.isNaN(from.yaw) ? NaN : yawOf(q),
    q,
  };
}

function guessShape(ref: SeriesRef, reading: Reading, others: SceneSource[]): Shape {
  const place = placeOf(ref, reading);
  const role = place
    ? guessRole(
        ref,
        place,
        others.map(({ shape }) => ({ role: shape === "robot" ? "robot" : "ghost" })),
      )
    : "robot";
  if (role === "robot" || role === "ghost") return role;
  if (role === "trajectory") return "path";
  return place?.kind === "pose3d" ? "axes" : "points";
}

/** Adds a series with the shape that fits. */
export function addSource(config: SceneConfig, ref: SeriesRef): boolean {
  const around = poseAround(ref);
  if (!around) return false;
  const reading = guessReading(ref.name);
  if (!solidOf(around, reading)) return false;
  if (config.sources.some((source) => sameSeries(source.ref, around))) return true;
  const used = new Set(config.sources.map(({ color }) => color));
  const free = Array.from({ length: 10 }, (_, color) => color).find((color) => !used.has(color));
  config.sources.push({
    ref: around,
    shape: guessShape(around, reading, config.sources),
    color: free ?? config.sources.length % 10,
    reading,
    hidden: false,
  });
  return true;
}

/** Whose channel is dropped is followed: actors are in the picture anyway. */
export function followActor(config: SceneConfig, ref: SeriesRef): boolean {
  const actor = actorOf(ref);
  if (actor === null) return false;
  config.actors = true;
  config.log = ref.log;
  config.follow = { actor };
  return true;
}

/**
 * A scene with the robot of a log, its ghosts and paths, or with the actors of a recording; nothing if it has
 * neither.
 */
export function autoScene(log: number): SceneConfig | null {
  const channels = logs.channels[log] ?? [];
  const config = emptyScene();
  if (channels.some(({ name }) => name === "/carla/frame")) return { ...config, log };
  const robot = robotSeries(log);
  const refs =
    robot.length > 0
      ? robot
      : findPoses(channels)
          .slice(0, 1)
          .map(({ channel, path }) => logs.refOf(log, channel, path));
  refs.forEach((ref) => addSource(config, ref));
  return config.sources.length > 0 ? config : null;
}

/** Poses in the values of channels: WPILib's structs, lists of numbers, CARLA's transforms, one or many. */

import type { Channel, Field, Json, ValueKind } from "../api";
import { formatFixed } from "../values/format";
import { degrees, quaternion, radians, unit, yawOf, type Quaternion } from "./angles";

/** A place and a direction: metres, x forward, y left, z up. */
export interface Pose {
  x: number;
  y: number;
  z: number;
  /** The heading seen from above, in radians, counter-clockwise; NaN for a mere place. */
  yaw: number;
  q: Quaternion;
}

export type PoseKind = "pose2d" | "pose3d" | "point2d" | "point3d" | "carla" | "numbers";

/** Where in a value its pose is, as paths behind that of the value. */
export interface PosePaths {
  x: string;
  y: string;
  z: string | null;
  yaw: string | null;
  /** w, x, y and z of a quaternion. */
  q: [string, string, string, string] | null;
}

export interface PoseShape {
  kind: PoseKind;
  many: boolean;
  /** Of one pose whose parts are series of their own. */
  parts: PosePaths | null;
}

/** What the numbers of a list are. `auto` goes by how many there are. */
export type Layout = "auto" | "xy" | "xyr" | "xyz" | "xyzrpy" | "xyzq";
export const LAYOUTS: Record<Layout, string> = {
  auto: "by count",
  xy: "x y, x y, …",
  xyr: "x y heading, …",
  xyz: "x y z, …",
  xyzrpy: "x y z roll pitch yaw",
  xyzq: "x y z, quaternion w x y z, …",
};

/** How lists of numbers are read. */
export interface Reading {
  layout: Layout;
  degrees: boolean;
  inches: boolean;
}

export const PLAIN: Reading = { layout: "auto", degrees: false, inches: false };
const INCH = 0.0254;

/** Guesses the layout from the name: WPILib's Field2d has degrees, and so has a Limelight, with six numbers first. */
export function guessReading(name: string): Reading {
  if (/botpose|targetpose|camerapose/i.test(name)) return { layout: "xyzrpy", degrees: true, inches: false };
  if (/(^|[/:])(SmartDashboard|Shuffleboard)\/(.*\/)?[^/]*field[^/]*\//i.test(name)) {
    return { layout: "xyr", degrees: true, inches: false };
  }
  return { layout: "auto", degrees: /deg/i.test(name), inches: /inch/i.test(name) };
}

/** A number of an answer; the server spells what JSON has no number for. */
export function number(value: Json | undefined): number {
  if (typeof value === "number") return value;
  if (value === "Infinity") return Infinity;
  return value === "-Infinity" ? -Infinity : NaN;
}

function object(value: Json | undefined): { [key: string]: Json } | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}

/** All poses of a value; those without a place are left out. */
export function decodePoses(value: Json, reading: Reading = PLAIN): Pose[] {
  if (Array.isArray(value)) {
    if (value.every((part) => object(part) === null && !Array.isArray(part))) {
      return fromNumbers(value.map(number), reading);
    }
    return value.flatMap((part) => decodePoses(part, reading));
  }
  const pose = decodePose(value);
  return pose ? [pose] : [];
}

/** The pose of a struct, whatever its spelling. */
export function decodePose(value: Json): Pose | null {
  const fields = object(value);
  if (!fields) return null;
  const inside = object(fields["pose"]);
  if (inside) return decodePose(inside);
  const place = object(fields["translation"]) ?? fields;
  const [x, y] = [number(place["x"]), number(place["y"])];
  const z = "z" in place ? number(place["z"]) : 0;
  if (["roll", "pitch", "yaw"].every((name) => name in fields)) {
    const [roll, pitch, yaw] = [number(fields["roll"]), number(fields["pitch"]), number(fields["yaw"])];
    return turned(x, y, z, fromCarla(roll, pitch, yaw), true);
  }
  const rotation = object(fields["rotation"]);
  const q = object(rotation?.["q"]) ?? (rotation && "w" in rotation ? rotation : null);
  if (q) return turned(x, y, z, unit({ w: number(q["w"]), x: number(q["x"]), y: number(q["y"]), z: number(q["z"]) }));
  return flat(x, y, z, heading(fields));
}

const HEADINGS = ["heading", "theta", "yaw"];
const ANGLES = ["value", "radians"];

function heading(fields: { [key: string]: Json }): number {
  const rotation = fields["rotation"];
  const angles = object(rotation);
  if (angles) {
    const name = ANGLES.find((known) => known in angles);
    return name ? number(angles[name]) : NaN;
  }
  const name = ["rotation", ...HEADINGS].find((known) => known in fields);
  return name ? number(fields[name]) : NaN;
}

/** CARLA's y goes right, its angles are degrees, and noses go up: here as everything else has it. */
export const fromCarla = (roll: number, pitch: number, yaw: number): Quaternion =>
  quaternion(radians(roll), -radians(pitch), -radians(yaw));

function turned(x: number, y: number, z: number, q: Quaternion, mirrored = false): Pose | null {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
  return { x, y: mirrored ? -y : y, z: Number.isFinite(z) ? z : 0, yaw: yawOf(q), q };
}

function flat(x: number, y: number, z: number, yaw: number): Pose | null {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
  const known = Number.isFinite(yaw) ? yaw : NaN;
  return { x, y, z: Number.isFinite(z) ? z : 0, yaw: known, q: quaternion(0, 0, Number.isNaN(known) ? 0 : known) };
}

/** What a list of so many numbers is. */
export function layoutOf(count: number, layout: Layout): Exclude<Layout, "auto"> {
  if (layout !== "auto") return layout;
  if (count % 3 === 0) return "xyr";
  return count % 7 === 0 ? "xyzq" : "xy";
}

const SIZES: Record<Exclude<Layout, "auto">, number> = { xy: 2, xyr: 3, xyz: 3, xyzrpy: 6, xyzq: 7 };

function fromNumbers(values: number[], reading: Reading): Pose[] {
  const layout = layoutOf(values.length, reading.layout);
  const size = SIZES[layout];
  const long = reading.inches ? INCH : 1;
  const angle = (place: number) => (reading.degrees ? radians(values[place] ?? NaN) : (values[place] ?? NaN));
  const poses: Pose[] = [];
  // Behind the six numbers of a Limelight are others than poses.
  const end = layout === "xyzrpy" ? size : values.length;
  for (let at = 0; at + size <= end; at += size) {
    const [x, y] = [(values[at] ?? NaN) * long, (values[at + 1] ?? NaN) * long];
    const z = size > 2 && layout !== "xyr" ? (values[at + 2] ?? NaN) * long : 0;
    let pose: Pose | null;
    if (layout === "xyzq") {
      const [w = 1, i = 0, j = 0, k = 0] = values.slice(at + 3, at + 7);
      pose = turned(x, y, z, unit({ w, x: i, y: j, z: k }));
    } else if (layout === "xyzrpy") {
      pose = turned(x, y, z, quaternion(angle(at + 3), angle(at + 4), angle(at + 5)));
    } else {
      pose = flat(x, y, z, layout === "xyr" ? angle(at + 2) : NaN);
    }
    if (pose) poses.push(pose);
  }
  return poses;
}

const named = (fields: Field[], name: string) => fields.find((field) => field.name === name);

/** The parts of a struct that is a pose, by its fields. */
export function partsOf(fields: Field[]): { kind: PoseKind; parts: PosePaths } | null {
  const inside = named(fields, "pose");
  if (inside) return partsOf(inside.fields);
  const translation = named(fields, "translation");
  const place = translation ? translation.fields : fields;
  const [x, y, z] = [named(place, "x"), named(place, "y"), named(place, "z")];
  if (x?.kind !== "number" || y?.kind !== "number") return null;
  const parts: PosePaths = { x: x.path, y: y.path, z: z?.path ?? null, yaw: null, q: null };
  const [roll, pitch, yaw] = [named(fields, "roll"), named(fields, "pitch"), named(fields, "yaw")];
  if (roll && pitch && yaw) return { kind: "carla", parts: { ...parts, yaw: yaw.path } };
  const rotation = named(fields, "rotation");
  const q = rotation && (named(rotation.fields, "q")?.fields ?? rotation.fields);
  const four = ["w", "x", "y", "z"].map((name) => named(q ?? [], name)?.path);
  if (four.every((path) => path !== undefined)) {
    return { kind: "pose3d", parts: { ...parts, q: four as PosePaths["q"] } };
  }
  const angle =
    rotation?.kind === "number"
      ? rotation
      : (ANGLES.map((name) => named(rotation?.fields ?? [], name)).find((one) => one) ??
        HEADINGS.map((name) => named(fields, name)).find((one) => one));
  if (angle) return { kind: "pose2d", parts: { ...parts, yaw: angle.path } };
  // A struct of many numbers that has an x and a y is not a position.
  const alone = translation !== undefined || fields.every((field) => "xyz".includes(field.name));
  return alone ? { kind: z ? "point3d" : "point2d", parts } : null;
}

const TYPES: Record<string, PoseKind> = {
  Pose2d: "pose2d",
  Transform2d: "pose2d",
  Pose3d: "pose3d",
  Transform3d: "pose3d",
  Translation2d: "point2d",
  Translation3d: "point3d",
  CarlaTransform: "carla",
};

/** What poses a value of this type has; nothing where there are none. */
export function shapeOf(type: string, kind: ValueKind, fields: Field[]): PoseShape | null {
  if (kind === "struct" || kind === "any") {
    const found = partsOf(fields);
    return found ? { ...found, many: false } : null;
  }
  if (kind !== "list") return null;
  if (/^(double|float)\[\]$/.test(type)) return { kind: "numbers", many: true, parts: null };
  const pose = TYPES[type.match(/(\w+)\[\w*\]$/)?.[1] ?? ""] ?? partsOf(fields[0]?.fields ?? [])?.kind;
  if (pose) return { kind: pose, many: true, parts: null };
  return fields[0]?.kind === "number" && !type ? { kind: "numbers", many: true, parts: null } : null;
}

/** How many elements a list has, by its fields: its length is a field too. */
export const elements = (fields: Field[]): number => fields.filter(({ path }) => path.endsWith("]")).length;

/** The parts of one pose in a list of so many numbers; `null` where there are several. */
export function partsOfNumbers(count: number, reading: Reading): PosePaths | null {
  const layout = layoutOf(count, reading.layout);
  if (layout === "xyzrpy" ? count < 6 : count !== SIZES[layout]) return null;
  const z = layout === "xy" || layout === "xyr" ? null : "[2]";
  const yaw = layout === "xyr" ? "[2]" : layout === "xyzrpy" ? "[5]" : null;
  return { x: "[0]", y: "[1]", z, yaw, q: layout === "xyzq" ? ["[3]", "[4]", "[5]", "[6]"] : null };
}

/** A pose in a channel or in a part of it. */
export interface PosePlace {
  channel: Channel;
  path: string;
  shape: PoseShape;
}

/** All poses among channels: structs at any depth, and lists of numbers with a telling name. */
export function findPoses(channels: Channel[]): PosePlace[] {
  const found: PosePlace[] = [];
  for (const channel of channels) {
    const shape = shapeOf(channel.type, channel.kind, channel.fields);
    if (shape?.kind === "numbers") {
      if (guessReading(channel.name).layout !== "auto") found.push({ channel, path: "", shape });
    } else if (shape) found.push({ channel, path: "", shape });
    else if (channel.kind === "struct") within(channel, channel.fields, found);
  }
  return found;
}

function within(channel: Channel, fields: Field[], found: PosePlace[]): void {
  for (const field of fields) {
    if (field.kind !== "struct" && field.kind !== "list") continue;
    const shape = shapeOf("", field.kind, field.fields);
    if (shape && shape.kind !== "numbers") found.push({ channel, path: field.path, shape });
    else if (field.kind === "struct") within(channel, field.fields, found);
  }
}

/** `(3.25, 1.50) m, 90.0°`, for people. */
export function poseText(pose: { x: number; y: number; yaw: number }): string {
  const place = `(${formatFixed(pose.x, 2)}, ${formatFixed(pose.y, 2)}) m`;
  return Number.isNaN(pose.yaw) ? place : `${place}, ${formatFixed(degrees(pose.yaw), 1)}°`;
}

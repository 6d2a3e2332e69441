/** What a swerve view keeps, and what it shows of a log automatically. */

import type { Channel } from "../../api";
import { sameSeries, seriesRef, type SeriesRef } from "../../model/series";
import { elements, findPoses } from "../../poses/poses";
import { logs } from "../../store/session.svelte";
import { flag, items, oneOf, record, within } from "../../model/config";
import { measureOf } from "../../values/units";
import { ORDERS, type Pairs } from "./modules";

export type SwerveRole = "measured" | "setpoint" | "speeds" | "rotation";
export const SWERVE_ROLES: Record<SwerveRole, string> = {
  measured: "Measured states",
  setpoint: "Setpoints",
  speeds: "Chassis speeds",
  rotation: "Robot rotation",
};

export interface SwerveSource {
  ref: SeriesRef;
  role: SwerveRole;
}

export interface SwerveConfig {
  sources: SwerveSource[];
  order: string;
  pairs: Pairs;
  /** A speed that reaches to the edge of the view, in metres per second. */
  fastest: number;
  /** Between the modules, in metres. */
  length: number;
  width: number;
  /** Whether numbers are shown beside the picture. */
  numbers: boolean;
  panel: boolean;
}

export const emptySwerve = (): SwerveConfig => ({
  sources: [],
  order: "FL FR BL BR",
  pairs: { first: "angle", degrees: false },
  fastest: 4.5,
  length: 0.6,
  width: 0.6,
  numbers: true,
  panel: false,
});

export function restoreSwerve(data: unknown): SwerveConfig {
  const [fields, plain] = [record(data), emptySwerve()];
  const pairs = record(fields["pairs"]);
  return {
    sources: items(fields["sources"]).flatMap((one) => {
      const ref = seriesRef(record(one)["ref"]);
      const roles = Object.keys(SWERVE_ROLES) as SwerveRole[];
      return ref ? [{ ref, role: oneOf(record(one)["role"], roles, "measured") }] : [];
    }),
    order: oneOf(fields["order"], ORDERS, plain.order),
    pairs: {
      first: oneOf(pairs["first"], ["angle", "speed"], "angle"),
      degrees: flag(pairs["degrees"], false),
    },
    fastest: within(fields["fastest"], 0.1, 100, plain.fastest),
    length: within(fields["length"], 0.05, 5, plain.length),
    width: within(fields["width"], 0.05, 5, plain.width),
    numbers: flag(fields["numbers"], true),
    panel: flag(fields["panel"], false),
  };
}

const WANTED = /setpoint|target|desired|optimi|goal|command/i;

const has = (channel: Channel, ...names: string[]) =>
  names.every((name) => channel.fields.some((field) => field.name === name));

/** Whether a number may be where the robot points to: an angle by its unit, or by its name where it has none. */
export const isHeading = (unit: string | null, name: string): boolean =>
  unit === null ? /yaw|heading|gyro|rotation|angle/i.test(name) : measureOf(unit) === "angle";

/** The role of a series; `null` if the view cannot use it. */
export function roleOf(ref: SeriesRef): SwerveRole | null {
  const found = logs.find(ref);
  if (!found) return null;
  const { channel, kind: sort } = found;
  if (ref.path === "" && sort === "list") {
    const element = channel.fields[0]?.fields.map(({ name }) => name) ?? [];
    const modules = /SwerveModule(State|Position)\[/.test(channel.type) || element.includes("angle");
    if (modules) return WANTED.test(ref.name) ? "setpoint" : "measured";
    if (!/^(double|float)\[\]$/.test(channel.type)) return null;
    const count = elements(channel.fields);
    if (count === 3) return "speeds";
    // An angle and a speed for each of three or four modules.
    return count === 6 || count === 8 ? (WANTED.test(ref.name) ? "setpoint" : "measured") : null;
  }
  if (ref.path === "" && (/ChassisSpeeds$/.test(channel.type) || has(channel, "vx", "vy", "omega"))) return "speeds";
  if (sort === "number") return isHeading(found.unit, ref.name + ref.path) ? "rotation" : null;
  const names = (ref.path ? (found.field?.fields ?? []) : channel.fields).map(({ name }) => name);
  return ["value", "q", "rotation"].some((name) => names.includes(name)) ? "rotation" : null;
}

/** Adds a series; of each kind there is one, and the newest wins. The first states bring what belongs to them. */
export function addSwerve(config: SwerveConfig, ref: SeriesRef): boolean {
  const whole = config.sources.length === 0 ? autoSwerve(ref.log) : null;
  if (whole?.sources[0] && sameSeries(whole.sources[0].ref, ref)) {
    config.sources.push(...whole.sources);
    return true;
  }
  // Without modules there is nothing that could be turned.
  if (config.sources.length === 0 && roleOf(ref) === "rotation") return false;
  return addOne(config, ref);
}

function addOne(config: SwerveConfig, ref: SeriesRef): boolean {
  let role = roleOf(ref);
  if (!role) return false;
  if (config.sources.some((source) => sameSeries(source.ref, ref))) return true;
  const taken = (other: SwerveRole) => config.sources.findIndex((source) => source.role === other);
  // Two lists of states are nearly always what was wanted and what was.
  if (role === "measured" && taken("measured") >= 0 && taken("setpoint") < 0) role = "setpoint";
  const at = taken(role);
  if (at >= 0) config.sources[at] = { ref, role };
  else config.sources.push({ ref, role });
  return true;
}

/** States, setpoints, speeds and the rotation of a log; nothing if it has no modules. */
export function autoSwerve(log: number): SwerveConfig | null {
  const channels = (logs.channels[log] ?? []).filter(({ samples }) => samples > 0);
  const states = channels.filter(({ type }) => /SwerveModuleState\[/.test(type));
  const measured = states.find(({ name }) => !WANTED.test(name)) ?? states[0];
  if (!measured) return null;
  const config = emptySwerve();
  const add = (channel: Channel | undefined, path = "") => {
    if (channel && channel !== measured) addOne(config, logs.refOf(log, channel, path));
  };
  addOne(config, logs.refOf(log, measured));
  add(states.find(({ name }) => WANTED.test(name)));
  const speeds = channels.filter(({ type }) => /ChassisSpeeds$/.test(type));
  add(speeds.find(({ name }) => !WANTED.test(name)) ?? speeds[0]);
  const turned = channels.find(({ type, name }) => /Rotation[23]d$/.test(type) && !WANTED.test(name));
  const pose = findPoses(channels).find(
    ({ channel, shape }) => !shape.many && /^pose/.test(shape.kind) && !WANTED.test(channel.name),
  );
  if (turned) add(turned);
  else add(pose?.channel, pose?.path);
  return config;
}

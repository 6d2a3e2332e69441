/** Which series are what on a field: found, guessed, bound to their parts. */

import { guessRole, placeOf, poseAround, robotSeries } from "../../field/places";
import type { SeriesRef } from "../../model/series";
import { sameSeries } from "../../model/series";
import { guessReading } from "../../poses/poses";
import { logs } from "../../store/session.svelte";
import type { FieldConfig, FieldSource } from "./config";
import { emptyField } from "./config";

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

/** A field with the robot of a log, its ghosts and its trajectories; nothing if the log has no poses. */
export function autoField(log: number): FieldConfig | null {
  const refs = robotSeries(log);
  if (refs.length === 0) return null;
  const config = emptyField();
  for (const ref of refs) addSource(config, ref);
  return config;
}

/** Channels that give the alliance, by the end of the name: 1 to 3 are red stations where it is a number. */
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

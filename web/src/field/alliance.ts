/** Which alliance a robot plays for. */

import type { SeriesRef } from "../model/series";
import { logs } from "../store/session.svelte";

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

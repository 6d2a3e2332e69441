/** Which alliance a robot plays for. */

import type { SeriesRef } from "../model/series";
import { logs } from "../store/session.svelte";

/**
 * Channels that give the alliance, the best first: 1 to 3 are red stations where it is a number. Teams without a field
 * management system, as in FTC, write it into the metadata themselves.
 */
const ALLIANCE = [
  /(\/FMSInfo\/IsRedAlliance|\/DriverStation\/AllianceStation|^\/ds\/control\/station)$/,
  /^\/?RealMetadata\/alliance$/i,
];

export function allianceRef(log: number): SeriesRef | null {
  const channel = allianceChannel(logs.channels[log] ?? []);
  return channel ? logs.refOf(log, channel) : null;
}

export function allianceChannel<C extends { name: string }>(channels: C[]): C | undefined {
  for (const known of ALLIANCE) {
    const channel = channels.find(({ name }) => known.test(name));
    if (channel) return channel;
  }
  return undefined;
}

export function allianceOf(value: unknown): "blue" | "red" | null {
  if (typeof value === "boolean") return value ? "red" : "blue";
  if (typeof value === "number") return value >= 1 && value <= 6 ? (value <= 3 ? "red" : "blue") : null;
  if (typeof value !== "string") return null;
  return /^red/i.test(value) ? "red" : /^blue/i.test(value) ? "blue" : null;
}

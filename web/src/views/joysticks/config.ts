/** What a view of joysticks keeps. */

import type { SeriesRef } from "../../model/series";
import { logs } from "../../store/session.svelte";
import { flag, items, oneOf, record, within } from "../../model/config";
import { findSticks, partOf, PADS, type Pad } from "./sticks";

export interface JoysticksConfig {
  log: number;
  /** Which ports; none for all that are there. */
  ports: number[];
  /** Layouts chosen by the user, by port. */
  pads: Record<string, Pad>;
  /** Whether numbers are shown below. */
  numbers: boolean;
  /** Whether ports without a controller are shown. */
  empty: boolean;
}

export const emptyJoysticks = (log = firstLog()): JoysticksConfig => ({
  log,
  ports: [],
  pads: {},
  numbers: true,
  empty: false,
});

/** The first log that has any. */
function firstLog(): number {
  return Math.max(
    logs.channels.findIndex((channels) => findSticks(channels).length > 0),
    0,
  );
}

export function restoreJoysticks(data: unknown): JoysticksConfig {
  const fields = record(data);
  const pads: Record<string, Pad> = {};
  for (const [port, pad] of Object.entries(record(fields["pads"]))) {
    if (/^\d$/.test(port) && typeof pad === "string" && pad in PADS) pads[port] = pad as Pad;
  }
  return {
    log: Math.round(within(fields["log"], 0, 1000, firstLog())),
    ports: items(fields["ports"]).filter((port) => oneOf(port, [0, 1, 2, 3, 4, 5], -1) >= 0) as number[],
    pads,
    numbers: flag(fields["numbers"], true),
    empty: flag(fields["empty"], false),
  };
}

/** A channel of a joystick chooses its log and adds its port to those that are chosen. */
export function addJoystick(config: JoysticksConfig, ref: SeriesRef): boolean {
  const known = partOf(ref.name);
  if (!known) return false;
  if (config.log !== ref.log) {
    config.log = ref.log;
    config.ports = [];
  }
  if (config.ports.length > 0 && !config.ports.includes(known.port)) config.ports.push(known.port);
  return true;
}

/** The joysticks of a log; nothing if it has none. */
export const autoJoysticks = (log: number): JoysticksConfig | null =>
  findSticks(logs.channels[log] ?? []).length > 0 ? emptyJoysticks(log) : null;

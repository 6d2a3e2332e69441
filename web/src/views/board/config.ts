/** What a view of a board keeps. */

import type { SeriesRef } from "../../model/series";
import { logs } from "../../store/session.svelte";
import { flag, oneOf, record, within } from "../../model/config";
import { boardChannels, idOf, isBoard } from "./ride";

export interface BoardConfig {
  log: number;
  speed: "km/h" | "mph" | "m/s";
  temperature: "°C" | "°F";
  /** Limits set by the user; 0 means the limits found in the log, or usual ones. */
  maxDuty: number;
  pushbackDuty: number;
  maxCurrent: number;
  lowVoltage: number;
  panel: boolean;
}

export const emptyBoard = (log = firstLog()): BoardConfig => ({
  log,
  speed: "km/h",
  temperature: "°C",
  maxDuty: 0,
  pushbackDuty: 0,
  maxCurrent: 0,
  lowVoltage: 0,
  panel: false,
});

function firstLog(): number {
  return Math.max(
    logs.channels.findIndex((channels) => isBoard(boardChannels(channels))),
    0,
  );
}

export function restoreBoard(data: unknown): BoardConfig {
  const fields = record(data);
  return {
    log: Math.round(within(fields["log"], 0, 1000, firstLog())),
    speed: oneOf(fields["speed"], ["km/h", "mph", "m/s"], "km/h"),
    temperature: oneOf(fields["temperature"], ["°C", "°F"], "°C"),
    maxDuty: within(fields["maxDuty"], 0, 1, 0),
    pushbackDuty: within(fields["pushbackDuty"], 0, 1, 0),
    maxCurrent: within(fields["maxCurrent"], 0, 1000, 0),
    lowVoltage: within(fields["lowVoltage"], 0, 1000, 0),
    panel: flag(fields["panel"], false),
  };
}

/** Any channel of a board chooses its log. */
export function addBoard(config: BoardConfig, ref: SeriesRef): boolean {
  if (idOf(ref.name) === null) return false;
  config.log = ref.log;
  return true;
}

/** The board of a log; nothing if it has none. */
export const autoBoard = (log: number): BoardConfig | null =>
  isBoard(boardChannels(logs.channels[log] ?? [])) ? emptyBoard(log) : null;

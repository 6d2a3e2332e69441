/** How levels look: an icon besides the colour, for people who see colours differently. */

import type { Level } from "../api";

export const LEVELS: readonly Level[] = ["info", "warning", "error"];

export const LEVEL_ICONS: Record<Level, string> = {
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.2v4M8 4.8v.01",
  warning: "M8 2 14.5 13.5h-13ZM8 6.5v3.2M8 11.6v.01",
  error: "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5ZM6 6l4 4M10 6l-4 4",
};

export const LEVEL_NAMES: Record<Level, string> = { info: "Info", warning: "Warnings", error: "Errors" };

/** Levels from a stored configuration; all of them if it is invalid. */
export function levelsOf(data: unknown): Level[] {
  return Array.isArray(data) ? LEVELS.filter((level) => data.includes(level)) : [...LEVELS];
}

/** Switches one on or off. */
export function toggled<T>(chosen: readonly T[], one: T, all: readonly T[]): T[] {
  return all.filter((each) => (each === one ? !chosen.includes(one) : chosen.includes(each)));
}

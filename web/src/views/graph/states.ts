/** Runs of states over tiles. */

import type { States } from "../../api";
import type { Piece } from "../../store/tiles";

export interface Run {
  start: number;
  end: number;
  /** Nothing where states change faster than pixels. */
  label: string | null;
}

/** The runs of a window; those that tiles cut are whole again. */
export function runsOf(pieces: readonly Piece<States>[], start: number, end: number): Run[] {
  const runs: Run[] = [];
  for (const { data, from, to } of pieces) {
    for (const [first, last, place] of data.runs) {
      const [low, high] = [Math.max(first, from), Math.min(last, to)];
      if (high < start || low > end || high < low) continue;
      const label = place < 0 ? null : (data.labels[place] ?? "");
      const before = runs.at(-1);
      if (before && before.label === label && low - before.end <= (high - low) * 1e-6 + 1e-9)
        before.end = Math.max(before.end, high);
      else runs.push({ start: low, end: high, label });
    }
  }
  return runs;
}

/** The colour of a state among those of the theme: the same text has the same one everywhere. */
export function colorOf(label: string): number {
  let hash = 2166136261;
  for (let place = 0; place < label.length; place++) hash = Math.imul(hash ^ label.charCodeAt(place), 16777619);
  return (hash >>> 0) % 10;
}

/** Samples far from all others, at the edges of the timeline: folded into a stub until somebody opens it. */

import type { LogInfo } from "../api";
import type { Edge } from "./clock.svelte";

export interface Stub {
  edge: Edge;
  /** How far they reach, in session time. */
  to: number;
  /** What they are, a sentence for each log. */
  texts: string[];
}

/** The stubs of a session from `start` to `end`. Stragglers of one log within the range of another are in sight anyway. */
export function stubsOf(logs: LogInfo[], start: number, end: number): Stub[] {
  const all = logs.flatMap((log) =>
    log.stragglers.map((found) => ({ ...found, text: logs.length > 1 ? `${log.name}: ${found.text}` : found.text })),
  );
  const before = all.filter((found) => found.start < start);
  const after = all.filter((found) => found.end > end);
  const stubs: Stub[] = [
    { edge: "before", to: Math.min(...before.map((found) => found.start)), texts: before.map((found) => found.text) },
    { edge: "after", to: Math.max(...after.map((found) => found.end)), texts: after.map((found) => found.text) },
  ];
  return stubs.filter((stub) => stub.texts.length > 0);
}

/** The events of all logs as lines. */

import type { Events, Level, LogEvent } from "../../api";
import { seeker } from "../../lists/paging";

export interface Listed extends LogEvent {
  log: number;
}

/** One event, or the same one several times in a row. */
export interface Line {
  /** The time of the first. */
  time: number;
  first: Listed;
  /** All of them; one where it is a line of its own. */
  events: Listed[];
  /** Whether it is one of a group that is open. */
  inside: boolean;
}

export interface Wanted {
  levels: readonly Level[];
  hidden: readonly string[];
  text: string;
}

/** The events of all logs in the order of time. */
export function allEvents(events: readonly Events[]): Listed[] {
  return events
    .flatMap((of, log) => of.events.map((event) => ({ ...event, log })))
    .sort((a, b) => a.start - b.start || a.log - b.log);
}

/** How many there are of each kind, in the order in which they first appear. */
export function kindsOf(events: readonly Listed[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of events) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

export function passing(events: readonly Listed[], wanted: Wanted): Listed[] {
  const fits = seeker(wanted.text) ?? (() => false);
  return events.filter(
    (event) =>
      wanted.levels.includes(event.level) &&
      !wanted.hidden.includes(event.kind) &&
      (fits(event.text) || fits(event.kind)),
  );
}

const alike = (a: Listed, b: Listed): boolean => a.log === b.log && a.kind === b.kind && a.text === b.text;

/** Lines: repeats are one, unless their first event is among the open ones. */
export function linesOf(events: readonly Listed[], group: boolean, open: ReadonlySet<Listed>): Line[] {
  const lines: Line[] = [];
  const alone = (event: Listed, inside: boolean): Line => ({
    time: event.start,
    first: event,
    events: [event],
    inside,
  });
  if (!group) return events.map((event) => alone(event, false));
  for (let start = 0; start < events.length;) {
    const first = events[start];
    if (!first) break;
    let end = start + 1;
    for (let next = events[end]; next && alike(first, next); next = events[end]) end++;
    const same = events.slice(start, end);
    lines.push({ time: first.start, first, events: same, inside: false });
    if (same.length > 1 && open.has(first)) lines.push(...same.map((event) => alone(event, true)));
    start = end;
  }
  return lines;
}

/** How long an event, or all of a group, lasted; nothing for a moment. */
export function lasted(line: Line): number | null {
  const last = line.events.at(-1);
  if (!last) return null;
  const end = last.end ?? (line.events.length > 1 ? last.start : null);
  return end === null || end <= line.time ? null : end - line.time;
}

/** The event before or behind a moment. */
export function neighbour(events: readonly Listed[], t: number, back: boolean): Listed | null {
  // What is as good as at the cursor is where one is already.
  const near = 1e-6;
  return (
    (back ? events.findLast((event) => event.start < t - near) : events.find((event) => event.start > t + near)) ?? null
  );
}

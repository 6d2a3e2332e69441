/** Rows by loop: what a robot logs within one turn of its loop stands in one row. */

import type { TableRow } from "../../api";

/** The longest that a loop takes to log all of its values, in seconds: half of the 20 ms of a robot's loop. */
const LOGGING = 0.01;

/**
 * Joins rows that follow each other closely. No value is left out: a channel that has another new value begins another row.
 * `known` keeps rows that were joined before, so that a list in which they stand does not move.
 */
export function byLoop(rows: readonly TableRow[], known: WeakMap<TableRow, TableRow>): TableRow[] {
  const joined: TableRow[] = [];
  for (let start = 0; start < rows.length;) {
    const first = rows[start];
    if (!first) break;
    const fresh = [...first.fresh];
    let end = start + 1;
    for (let row = rows[end]; row && row.time - first.time < LOGGING; row = rows[++end]) {
      if (row.fresh.some((is, place) => is && fresh[place])) break;
      row.fresh.forEach((is, place) => (fresh[place] ||= is));
    }
    const last = rows[end - 1] ?? first;
    let row = end - start === 1 ? first : known.get(last);
    if (!row || row.time !== first.time) {
      row = { time: first.time, cells: last.cells, fresh };
      known.set(last, row);
    }
    joined.push(row);
    start = end;
  }
  return joined;
}

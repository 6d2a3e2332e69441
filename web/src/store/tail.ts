/** The newest samples of a live series, in bounded memory. */

import type { Trace } from "../api";
import type { Piece } from "./tiles";

export class Tail {
  #columns: Float64Array[];
  #length = 0;

  constructor(private readonly most: number) {
    this.#columns = Array.from({ length: 6 }, () => new Float64Array(most));
  }

  get length(): number {
    return this.#length;
  }

  /** Adds buckets; those that are not behind the last one are known already. */
  push(trace: Trace): void {
    const [t, ...rest] = [trace.start, trace.end, trace.first, trace.min, trace.max, trace.last];
    let from = after(t, this.#length > 0 ? (this.#columns[1]?.[this.#length - 1] ?? -Infinity) : -Infinity);
    from = Math.max(from, t.length - this.most);
    const count = t.length - from;
    if (count <= 0) return;
    if (this.#length + count > this.most) {
      // Half is dropped at once: to move all at each message would cost more.
      const keep = Math.min(Math.floor(this.most / 2), this.most - count, this.#length);
      for (const column of this.#columns) column.copyWithin(0, this.#length - keep, this.#length);
      this.#length = keep;
    }
    [t, ...rest].forEach((column, place) => this.#columns[place]?.set(column.subarray(from), this.#length));
    this.#length += count;
  }

  /** What lies behind `known` and in the window, as a piece that goes on where tiles end. */
  behind(known: number, start: number, end: number): Piece<Trace> | null {
    const [t, u, first, min, max, last] = this.#columns.map((column) => column.subarray(0, this.#length));
    if (!t || !u || !first || !min || !max || !last) return null;
    const from = after(t, known);
    if (from >= t.length || (t[from] ?? Infinity) > end || (u[t.length - 1] ?? -Infinity) < start) return null;
    const part = (column: Float64Array) => column.subarray(from);
    const data: Trace = {
      start: part(t),
      end: part(u),
      first: part(first),
      min: part(min),
      max: part(max),
      last: part(last),
      samples: t.length - from,
      raw: true,
      series_min: null,
      series_max: null,
    };
    return { data, from: Math.max(known, t[from] ?? known), to: Infinity };
  }
}

/** The first place whose time is greater. */
function after(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

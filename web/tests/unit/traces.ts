/** Traces for tests of what draws them. */

import type { Trace } from "../../src/api";
import type { Piece } from "../../src/store/tiles";
import type { Projection, TraceContext } from "../../src/views/graph/trace";

/** Buckets as `[t, u, first, min, max, last]`, samples as `[t, value]`. */
export function trace(rows: number[][]): Trace {
  const buckets = rows.map((row) => (row.length === 2 ? [row[0], row[0], row[1], row[1], row[1], row[1]] : row));
  const column = (place: number) => Float64Array.from(buckets, (row) => row[place] ?? NaN);
  return {
    start: column(0),
    end: column(1),
    first: column(2),
    min: column(3),
    max: column(4),
    last: column(5),
    samples: rows.length,
    raw: rows.every((row) => row.length === 2),
    series_min: null,
    series_max: null,
  };
}

export const whole = (data: Trace): Piece<Trace>[] => [{ data, from: -Infinity, to: Infinity }];

/** A unit is a pixel. */
export const PLAIN: Projection = { ax: 1, bx: 0, ay: 1, by: 0, factor: 1, offset: 0, log: false };

/** Keeps what is drawn on it. */
export class Paper implements TraceContext {
  bars: number[][] = [];
  lines: number[][] = [];
  #at: number[] = [];
  fillRect(x: number, y: number, width: number, height: number) {
    this.bars.push([x, y, width, height]);
  }
  beginPath() {}
  moveTo(x: number, y: number) {
    this.#at = [x, y];
  }
  lineTo(x: number, y: number) {
    this.lines.push([...this.#at, x, y]);
    this.#at = [x, y];
  }
  stroke() {}
  /** Whether there is ink on a pixel. */
  has = (x: number, y: number) =>
    this.bars.some(
      ([bx = 0, by = 0, width = 0, height = 0]) => x >= bx && x < bx + width && y >= by - 0.5 && y <= by + height + 0.5,
    );
}

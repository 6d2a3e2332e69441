/** The buckets of a trace: walking through them, counting them, the range of their values. */

import type { Trace } from "../../api";
import type { Piece } from "../../store/tiles";
import type { Style } from "./config";

/** Calls `visit` for each bucket of the window and its neighbours on both sides, in the order of time, none twice. */
export function eachBucket(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  visit: (trace: Trace, place: number) => void,
): void {
  let previous = -Infinity;
  let before: { trace: Trace; place: number } | null = null;
  for (let which = 0; which < pieces.length; which++) {
    const piece = pieces[which];
    if (!piece) continue;
    const { data: trace, from, to } = piece;
    const { start: t, end: u } = trace;
    const isFirst = which === 0;
    const isLast = which === pieces.length - 1;
    // The first piece may begin with the sample before it, the last one end with the sample behind it.
    let place = Math.max(isFirst ? 0 : firstFrom(t, from), firstFrom(u, start) - 1);
    while (place < t.length && (t[place] as number) <= previous) place++;
    for (; place < t.length; place++) {
      const time = t[place] as number;
      if (!isLast && time >= to) break;
      if ((u[place] as number) < start) {
        before = { trace, place };
        continue;
      }
      if (before) {
        visit(before.trace, before.place);
        before = null;
      }
      previous = u[place] as number;
      visit(trace, place);
      if (time > end) return;
    }
  }
  if (before) visit(before.trace, before.place);
}

function firstFrom(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) >= time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How many buckets a window has, and whether each is one sample. */
export function countBuckets(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
): { count: number; raw: boolean } {
  let count = 0;
  let raw = true;
  eachBucket(pieces, start, end, (trace, place) => {
    count++;
    raw &&= trace.raw || trace.start[place] === trace.end[place];
  });
  return { count, raw };
}

/** The min and the max of a line within the window. */
export function extent(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  style: Style,
  positive = false,
): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  const take = (value: number) => {
    if (positive && value <= 0) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  let [lastTime, lastValue] = [NaN, NaN];
  eachBucket(pieces, start, end, (trace, place) => {
    const [t, u] = [trace.start[place] as number, trace.end[place] as number];
    const first = trace.first[place] as number;
    // Outside of the window only what the line is at its edge counts.
    if (t > end) {
      if (style === "smooth") take(between(lastTime, lastValue, t, first, end));
    } else if (u < start) {
      if (style === "stepped") take(trace.last[place] as number);
    } else {
      if (lastTime < start && style === "smooth" && t > start) take(between(lastTime, lastValue, t, first, start));
      take(trace.min[place] as number);
      take(trace.max[place] as number);
    }
    // A line that passes through the whole window has no sample in it.
    if (t > end && lastTime < start && style === "smooth") take(between(lastTime, lastValue, t, first, start));
    lastTime = u;
    lastValue = trace.last[place] as number;
  });
  return [low, high];
}

const between = (t0: number, v0: number, t1: number, v1: number, t: number): number =>
  t1 > t0 ? v0 + ((v1 - v0) * (t - t0)) / (t1 - t0) : v1;

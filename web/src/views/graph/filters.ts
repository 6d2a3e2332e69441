/**
 * What is drawn instead of the values themselves: how fast they change, their sum over time, their mean, their size.
 */

import type { Trace } from "../../api";
import type { Piece } from "../../store/tiles";
import type { Filter } from "./config";
import { eachBucket } from "./buckets";

/** The pieces of a window as one trace. */
export function joined(pieces: readonly Piece<Trace>[], start: number, end: number): Trace {
  let count = 0;
  eachBucket(pieces, start, end, () => count++);
  const trace = emptyTrace(count);
  let filled = 0;
  eachBucket(pieces, start, end, (from, place) => {
    trace.start[filled] = from.start[place] as number;
    trace.end[filled] = from.end[place] as number;
    trace.first[filled] = from.first[place] as number;
    trace.min[filled] = from.min[place] as number;
    trace.max[filled] = from.max[place] as number;
    trace.last[filled] = from.last[place] as number;
    trace.raw &&= from.raw || from.start[place] === from.end[place];
    filled++;
  });
  trace.samples = count;
  return trace;
}

function emptyTrace(count: number): Trace {
  const column = () => new Float64Array(count);
  return {
    start: column(),
    end: column(),
    first: column(),
    min: column(),
    max: column(),
    last: column(),
    samples: count,
    raw: true,
    series_min: null,
    series_max: null,
  };
}

/**
 * `earlier` is the sum of all that lies before the trace: what an integral begins with; `held` says whether values
 * are held until the next.
 */
export function filtered(trace: Trace, filter: Filter, window: number, earlier = 0, held = false): Trace {
  switch (filter) {
    case "none":
      return trace;
    case "derivative":
      return derivative(trace);
    case "integral":
      return integral(trace, earlier, held);
    case "average":
      return average(trace, window);
    case "absolute":
      return absolute(trace);
  }
}

/** Between a sample and the one before it; of buckets the slope from each to the next, which misses what is inside. */
function derivative(trace: Trace): Trace {
  const { start: t, end: u, first, last, raw } = trace;
  const count = Math.max(t.length - 1, 0);
  const made = emptyTrace(count);
  made.raw = raw;
  for (let place = 0; place < count; place++) {
    const step = (t[place + 1] as number) - (u[place] as number);
    const between = ((first[place + 1] as number) - (last[place] as number)) / step;
    const inside =
      ((last[place + 1] as number) - (first[place + 1] as number)) /
      ((u[place + 1] as number) - (t[place + 1] as number));
    const before = Number.isFinite(between) ? between : NaN;
    const own = Number.isFinite(inside) ? inside : before;
    made.start[place] = t[place + 1] as number;
    made.end[place] = u[place + 1] as number;
    made.first[place] = before;
    made.last[place] = own;
    made.min[place] = Number.isNaN(before) ? own : Math.min(before, own);
    made.max[place] = Number.isNaN(before) ? own : Math.max(before, own);
  }
  return made;
}

/** Rectangles for held values, which end at NaN, else trapezoids from sample to sample, without what is NaN. */
function integral(trace: Trace, earlier: number, held: boolean): Trace {
  const { start: t, end: u, first, last, raw } = trace;
  const made = emptyTrace(t.length);
  made.raw = raw;
  let sum = earlier;
  let [time, value] = [NaN, NaN];
  const add = (t: number, v: number) => {
    const part = (held ? value : (v + value) / 2) * (t - time);
    if (Number.isFinite(part)) sum += part;
    if (held || !Number.isNaN(v)) [time, value] = [t, v];
  };
  for (let place = 0; place < t.length; place++) {
    add(t[place] as number, first[place] as number);
    const opening = sum;
    if ((u[place] as number) > (t[place] as number)) add(u[place] as number, last[place] as number);
    made.start[place] = t[place] as number;
    made.end[place] = u[place] as number;
    made.first[place] = opening;
    made.last[place] = sum;
    made.min[place] = Math.min(opening, sum);
    made.max[place] = Math.max(opening, sum);
  }
  return made;
}

/** The mean of what lies within half a window on both sides. */
function average(trace: Trace, window: number): Trace {
  const { start: t, end: u, min, max, raw, first } = trace;
  const made = emptyTrace(t.length);
  made.raw = raw;
  const middle = (place: number) =>
    raw ? (first[place] as number) : ((min[place] as number) + (max[place] as number)) / 2;
  let [from, to, sum, count] = [0, 0, 0, 0];
  for (let place = 0; place < t.length; place++) {
    const time = ((t[place] as number) + (u[place] as number)) / 2;
    while (to < t.length && (t[to] as number) <= time + window / 2) {
      const value = middle(to++);
      if (!Number.isNaN(value)) [sum, count] = [sum + value, count + 1];
    }
    while (from < to && (u[from] as number) < time - window / 2) {
      const value = middle(from++);
      if (!Number.isNaN(value)) [sum, count] = [sum - value, count - 1];
    }
    const mean = count > 0 && !Number.isNaN(middle(place)) ? sum / count : NaN;
    made.start[place] = t[place] as number;
    made.end[place] = u[place] as number;
    made.first[place] = made.last[place] = made.min[place] = made.max[place] = mean;
  }
  return made;
}

function absolute(trace: Trace): Trace {
  const made = { ...trace, first: trace.first.map(Math.abs), last: trace.last.map(Math.abs) };
  made.max = trace.max.map((value, place) => Math.max(Math.abs(value), Math.abs(trace.min[place] as number)));
  made.min = trace.min.map((value, place) => {
    const high = trace.max[place] as number;
    return value <= 0 && high >= 0 ? 0 : Math.min(Math.abs(value), Math.abs(high));
  });
  return made;
}

/** The sum up to a moment, out of an integral over everything. */
export function sumBefore(whole: Trace, time: number): number {
  const { start: t, end: u, first, last } = whole;
  let [low, high] = [0, t.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((t[middle] as number) > time) high = middle;
    else low = middle + 1;
  }
  const place = low - 1;
  if (place < 0) return 0;
  const [t0, t1] = [t[place] as number, u[place] as number];
  const part = t1 > t0 ? Math.min((time - t0) / (t1 - t0), 1) : 1;
  return (first[place] as number) + part * ((last[place] as number) - (first[place] as number));
}

/**
 * The value that held at a moment: the last one at or before it. Within a bucket of many samples there is only a
 * guess.
 */
export function heldIn(trace: Trace, time: number): number {
  const { start: t, end: u, first, last } = trace;
  let [low, high] = [0, t.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((t[middle] as number) > time) high = middle;
    else low = middle + 1;
  }
  const place = low - 1;
  if (place < 0) return NaN;
  return time >= (u[place] as number) ? (last[place] as number) : (first[place] as number);
}

/** The integral between two moments. */
export function integralBetween(
  pieces: readonly Piece<Trace>[],
  start: number,
  end: number,
  held: boolean,
): { sum: number; exact: boolean } {
  let [sum, time, value] = [0, NaN, NaN];
  let exact = true;
  const add = (t: number, v: number) => {
    const [from, to] = [Math.max(time, start), Math.min(t, end)];
    if (to > from && !Number.isNaN(value)) {
      const at = (moment: number) => (held ? value : value + ((v - value) * (moment - time)) / (t - time));
      const part = ((at(from) + at(to)) / 2) * (to - from);
      if (Number.isFinite(part)) sum += part;
    }
    if (held || !Number.isNaN(v)) [time, value] = [t, v];
  };
  eachBucket(pieces, start, end, (trace, place) => {
    const [t, u] = [trace.start[place] as number, trace.end[place] as number];
    add(t, trace.first[place] as number);
    if (u > t) {
      add(u, trace.last[place] as number);
      exact = false;
    }
  });
  if (held) add(end, NaN);
  return { sum, exact };
}

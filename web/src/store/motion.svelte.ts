/**
 * Samples around the cursor, fetched ahead in segments, so that playback draws every frame without a request.
 * Segments are shared by all views and kept for a while: a loop asks only once.
 */

import { postRows, postValues } from "../api";
import type { Reference, Rows } from "../api";
import type { SeriesRef } from "../model/series";
import { number } from "../poses/poses";
import { clock } from "./clock.svelte";
import { logs } from "./session.svelte";

/** Series of one channel that are read together; the first has the times. */
export interface Track {
  refs: SeriesRef[];
}

/** Samples further apart than this are not interpolated, in seconds. */
const LONGEST_STEP = 0.5;
/** About how many samples a segment has. */
const SAMPLES = 3000;
/** How many segments are kept. */
const KEPT = 128;
/** How old the newest segment of a live log may be, in seconds. */
const STALE = 0.4;

/** Samples of a segment of time. */
export interface Segment {
  rows: Rows;
  /** What held when it began; nothing if there was no sample before. */
  before: { t: number; values: number[] } | null;
  /** Up to when it was known. */
  until: number;
}

/** How long segments of a channel are: a power of two, so that all views ask for the same. */
export function segmentLength(samples: number, seconds: number): number {
  const rate = seconds > 0 ? samples / seconds : 0;
  const wanted = rate > 0 ? SAMPLES / rate : 64;
  return 2 ** Math.min(Math.max(Math.floor(Math.log2(wanted)), -6), 8);
}

/** The place of the last time that is not behind `t`, or -1. */
export function lastAt(times: Float64Array, t: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? Infinity) <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A track whose channel is known. */
interface BoundTrack {
  key: string;
  references: Reference[];
  length: number;
}

class SegmentCache {
  readonly #kept = new Map<string, Segment>();
  readonly #asked = new Set<string>();
  /** Grows whenever samples came. */
  version = $state(0);

  stretch(track: BoundTrack, place: number): Segment | undefined {
    return this.#kept.get(`${track.key}@${place}`);
  }

  /** Requests a segment if it is missing. */
  want(track: BoundTrack, place: number): void {
    const key = `${track.key}@${place}`;
    const known = this.#kept.get(key);
    if (known) {
      // What was used last is kept longest.
      this.#kept.delete(key);
      this.#kept.set(key, known);
      const whole = known.until >= (place + 1) * track.length;
      if (whole || clock.last - known.until < STALE) return;
    }
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    void this.#load(key, track, place).finally(() => this.#asked.delete(key));
  }

  async #load(key: string, track: BoundTrack, place: number): Promise<void> {
    const [start, end] = [place * track.length, (place + 1) * track.length];
    const until = clock.live ? clock.last : end;
    const points = logs.session.limits.points;
    try {
      const [rows, held] = await Promise.all([
        postRows({ start, end, points, series: track.references }),
        postValues({ time: start, series: track.references }),
      ]);
      const first = held[0];
      const before = first ? { t: first.time, values: held.map((one) => truth(one?.value)) } : null;
      this.#kept.set(key, { rows, before, until });
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= KEPT) break;
        this.#kept.delete(oldest);
      }
      this.version++;
    } catch {
      // The window reports that the server is gone. It is asked again when the cursor moves.
    }
  }
}

const truth = (value: Parameters<typeof number>[0]): number =>
  typeof value === "boolean" ? Number(value) : number(value);

const segments = new SegmentCache();

/** The samples of tracks around the cursor. */
export class Motion {
  readonly #tracks: () => (BoundTrack | null)[];

  constructor(tracks: () => (BoundTrack | null)[]) {
    this.#tracks = tracks;
  }

  /**
   * Writes the values of a track at a time into the first half of `out`, and what comes next into its second half. Returns how far
   * the one has become the other, 0 to 1; 0 where the next is far or nothing, NaN where nothing is known.
   */
  at(place: number, t: number, out: Float64Array): number {
    void segments.version;
    const track = this.#tracks()[place];
    const stretch = track && segments.stretch(track, Math.floor(t / track.length));
    if (!track || !stretch) return NaN;
    const count = track.references.length;
    const { time: times, columns } = stretch.rows;
    const last = lastAt(times, t);
    const now = last >= 0 ? (times[last] ?? NaN) : stretch.before?.t;
    if (now === undefined) return NaN;
    for (let column = 0; column < count; column++) {
      out[column] = (last >= 0 ? columns[column]?.[last] : stretch.before?.values[column]) ?? NaN;
    }
    let after = stretch;
    let next = last + 1;
    if (next >= times.length) {
      const behind = segments.stretch(track, Math.floor(t / track.length) + 1);
      if (!behind) return 0;
      after = behind;
      next = 0;
    }
    const then = after.rows.time[next];
    if (then === undefined || then - now > LONGEST_STEP || then <= now) return 0;
    for (let column = 0; column < count; column++) out[count + column] = after.rows.columns[column]?.[next] ?? NaN;
    return (t - now) / (then - now);
  }

  /** Visits the samples of a track between two times, oldest first: `read(column)` is a value of the visited one. */
  each(place: number, start: number, end: number, visit: (t: number, read: (column: number) => number) => void): void {
    void segments.version;
    const track = this.#tracks()[place];
    if (!track) return;
    for (let at = Math.floor(start / track.length); at <= Math.floor(end / track.length); at++) {
      const rows = segments.stretch(track, at)?.rows;
      if (!rows) continue;
      let row = lastAt(rows.time, start) + 1;
      const read = (column: number) => rows.columns[column]?.[row] ?? NaN;
      for (; row < rows.time.length; row++) {
        const t = rows.time[row] ?? NaN;
        if (t > end) return;
        visit(t, read);
      }
    }
  }
}

/** The samples of tracks around the cursor: at least `back` seconds of them. Call it while a component is made. */
export function motionOf(tracks: () => Track[], back: () => number): Motion {
  const bound = $derived(tracks().map(bind));
  $effect(() => {
    const [cursor, behind] = [clock.cursor, back()];
    for (const track of bound) {
      if (!track) continue;
      const here = Math.floor(cursor / track.length);
      // Enough for two seconds of the wall, and never the whole log at once.
      const ahead = Math.min(Math.max(2 * clock.speed, 1), 4 * track.length);
      segments.want(track, here);
      for (let place = here + 1; place <= Math.floor((cursor + ahead) / track.length); place++)
        segments.want(track, place);
      const first = Math.max(Math.floor((cursor - behind) / track.length), here - 16);
      for (let place = here - 1; place >= first; place--) segments.want(track, place);
    }
  });
  return new Motion(() => bound);
}

function bind(track: Track): BoundTrack | null {
  const found = track.refs.map((ref) => logs.find(ref));
  const channel = found[0]?.channel;
  if (!channel || found.some((one) => one === null)) return null;
  const references = found.flatMap((one) => (one ? [one.reference] : []));
  const length = segmentLength(channel.samples, (channel.end ?? 0) - (channel.start ?? 0));
  return { key: `${JSON.stringify(references)}/${length}`, references, length };
}

/**
 * Series as they are drawn: windows of buckets for lines, of runs for states, both cached in tiles; and what live
 * logs add.
 */

import { postPixels, postStates } from "../api";
import type { Reference, States, Trace } from "../api";
import { clock } from "./clock.svelte";
import { live } from "./live.svelte";
import { logs } from "./session.svelte";
import { Tail } from "./tail";
import { referenceKey, Tiles } from "./tiles";
import type { Piece, Source, View, Watch } from "./tiles";

export { referenceKey } from "./tiles";
export type { Piece, View, Watch } from "./tiles";

/** Buckets of a window. */
export type TraceView = View<Trace>;

/** The most samples kept of a live series beside its tiles. */
const TAIL_MOST = 20000;

class Traces {
  /** Another number whenever something came: who draws reads it and draws again. */
  version = $state(0);
  /** Why data is missing, if it is. */
  trouble = $state<string | null>(null);
  #tails = new Map<string, Tail>();
  /** The series whose new samples are asked for as they come. */
  #followed = "";
  #unfollow: (() => void) | null = null;

  readonly #lines = new Tiles<Trace>(this.#source((query) => postPixels(query), traceSize));
  readonly #states = new Tiles<States>(
    this.#source((query) => postStates(query), statesSize),
    32 * 1024 * 1024,
  );

  /** For one who draws lines. Close it in the end. */
  lines(): Watch<Trace> {
    const watch = this.#lines.watch();
    return {
      ask: (references, start, end, width) => {
        const views = watch.ask(references, start, end, width);
        if (clock.live) references.forEach((reference, place) => this.#addTail(views[place], reference, start, end));
        this.#follow();
        return views;
      },
      close: () => {
        watch.close();
        this.#follow();
      },
    };
  }

  /** For one who draws states. Close it in the end. */
  states(): Watch<States> {
    return this.#states.watch();
  }

  /** New samples of a live log. */
  append(reference: Reference, trace: Trace): void {
    if (trace.start.length === 0) return;
    const key = referenceKey(reference);
    let tail = this.#tails.get(key);
    if (!tail) this.#tails.set(key, (tail = new Tail(TAIL_MOST)));
    tail.push(trace);
    this.version++;
  }

  /** The channels of a log, or of all, are others. */
  forget(log?: number): void {
    for (const key of this.#tails.keys()) if (log === undefined || key.startsWith(`${log}:`)) this.#tails.delete(key);
    this.#lines.forget(log);
    this.#states.forget(log);
  }

  /** Bytes of what is kept. */
  get size(): number {
    return this.#lines.size + this.#states.size;
  }

  #addTail(view: TraceView | undefined, reference: Reference, start: number, end: number): void {
    const tail = this.#tails.get(referenceKey(reference));
    if (!view || !tail) return;
    const piece = tail.behind(lastOf(view.pieces), start, end);
    if (piece) view.pieces.push(piece);
  }

  /** Subscribes to what is drawn of live logs. */
  #follow(): void {
    const references = clock.live ? this.#lines.references() : [];
    const keys = references.map(referenceKey).sort().join("\n");
    if (keys === this.#followed) return;
    this.#followed = keys;
    this.#unfollow?.();
    const take = (found: (Trace | null)[]) =>
      found.forEach((trace, place) => {
        const reference = references[place];
        if (trace && reference) this.append(reference, trace);
      });
    this.#unfollow = references.length > 0 ? live.subscribe(references, take) : null;
  }

  #source<T>(fetch: Source<T>["fetch"], size: (data: T) => number): Source<T> {
    return {
      fetch,
      size,
      limits: () => logs.session.limits,
      bounds: () => ({ first: clock.first, last: clock.last, live: clock.live }),
      changed: () => {
        this.trouble = this.#lines.trouble ?? this.#states.trouble;
        this.version++;
      },
      // Behind the frame: several who draw in it make one request.
      schedule: (flush) => setTimeout(flush, 0),
      now: () => performance.now(),
    };
  }
}

/** The time of the last sample of the pieces. */
function lastOf(pieces: Piece<Trace>[]): number {
  for (let place = pieces.length - 1; place >= 0; place--) {
    const last = pieces[place]?.data.end.at(-1);
    if (last !== undefined) return last;
  }
  return -Infinity;
}

const traceSize = (trace: Trace): number => 48 * trace.start.length + 200;

const statesSize = (states: States): number => 64 * states.runs.length + 100 * states.labels.length + 200;

export const traces = new Traces();

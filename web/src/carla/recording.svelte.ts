/** Recordings of CARLA: their actors, and the motion around the cursor. All views of a log share one. */

import { messageOf } from "../api/later";
import { getActors, getMotion } from "../api";
import type { CarlaActors, LogInfo } from "../api";
import { ActorList } from "./cast";
import { motionOf, Snapshot, Tile } from "./tracks";
import { budget, lengthOf, stepOf, wanted } from "./windows";
import { clock } from "../store/clock.svelte";
import { logs } from "../store/session.svelte";

/** How many requests are pending at a time: the next tile must not wait for one that is no longer needed. */
const BUSY = 2;
/** How long nothing is asked after a request failed, in milliseconds. */
const PAUSE = 1000;

/** Whether a log is a recording, or was made of one. */
export const isRecording = (log: number): boolean =>
  logs.channels[log]?.some((channel) => channel.name === "/carla/frame") ?? false;

/** The open recordings. */
export const recordings = (): LogInfo[] => logs.logs.filter((log) => isRecording(log.id));

/** An actor at a moment: metres, degrees, metres per second. */
export interface ActorState {
  x: number;
  y: number;
  z: number;
  roll: number;
  pitch: number;
  yaw: number;
  speed: number;
  lights: number;
}

export class Recording {
  about = $state.raw<CarlaActors | null>(null);
  error = $state<string | null>(null);
  /** Increases when data arrives: drawing depends on it. */
  version = $state(0);
  cast = new ActorList([]);
  /** The length of a tile in seconds, once it is known. */
  #length = 0;
  #rows = 0;
  readonly #tiles = new Map<string, Tile>();
  readonly #asked = new Set<string>();
  #failed = -Infinity;
  readonly #alone = new Snapshot();

  constructor(readonly log: number) {
    void this.#open();
  }

  async #open(): Promise<void> {
    try {
      const about = await getActors(this.log);
      this.cast = ActorList.of(about);
      const frames = logs.channels[this.log]?.find((channel) => channel.name === "/carla/frame");
      const span = Math.max((frames?.end ?? 0) - (frames?.start ?? 0), 0);
      const rate = span > 0 && frames ? frames.samples / span : 20;
      const lived = about.actors.reduce((sum, one) => sum + ((one.destroyed ?? frames?.end ?? 0) - one.spawned), 0);
      const crowd = Math.max(span > 0 ? lived / span : about.actors.length, 1);
      this.#length = lengthOf(crowd * rate);
      this.#rows = crowd * rate * this.#length;
      this.about = about;
    } catch (reason) {
      this.error = messageOf(reason);
    }
  }

  /** Sees to it that there is motion from `back` seconds before a moment on, and ahead of it while it plays. */
  want(t: number, back: number): void {
    if (!this.about || performance.now() < this.#failed + PAUSE) return;
    const speed = clock.playing ? clock.speed : 1;
    const step = stepOf(speed);
    // More than is kept would drive itself out.
    const needed = wanted(t, back, speed, this.#length, clock.playing).slice(0, budget(this.#rows) - 1);
    for (const place of needed) {
      if (this.#asked.size >= BUSY) return;
      const key = `${place}:${step}`;
      if (this.#tiles.has(key) || this.#tiles.has(`${place}:0`) || this.#asked.has(key)) continue;
      if (!this.#exists(place)) continue;
      void this.#ask(place, step, key);
    }
  }

  #exists(place: number): boolean {
    const info = logs.logs[this.log];
    const [start, end] = [place * this.#length, (place + 1) * this.#length];
    return !info || ((info.end === null || start <= info.end) && (info.start === null || end >= info.start));
  }

  async #ask(place: number, step: number, key: string): Promise<void> {
    this.#asked.add(key);
    try {
      const [start, end] = [place * this.#length, (place + 1) * this.#length];
      const table = await getMotion(this.log, start, end, step);
      this.#tiles.set(key, new Tile(start, end, motionOf(table), this.cast));
      this.#forget();
      this.error = null;
    } catch (reason) {
      this.error = messageOf(reason);
      this.#failed = performance.now();
      setTimeout(() => this.version++, PAUSE);
    }
    this.#asked.delete(key);
    this.version++;
  }

  /** Gives back what was not used for longest. */
  #forget(): void {
    const most = budget(this.#rows);
    for (const key of this.#tiles.keys()) {
      if (this.#tiles.size <= most) return;
      this.#tiles.delete(key);
    }
  }

  /** The tile of a moment, the finest that there is. */
  tile(t: number): Tile | null {
    if (!(this.#length > 0)) return null;
    // Before the first tile and behind the last there is nothing else: the nearest moment of the log counts.
    const info = logs.logs[this.log];
    const within = Math.min(Math.max(t, info?.start ?? t), info?.end ?? t);
    const place = Math.floor(within / this.#length);
    let found: string | null = null;
    for (const key of this.#tiles.keys()) {
      if (!key.startsWith(`${place}:`)) continue;
      if (found === null || key.endsWith(":0")) found = key;
    }
    if (found === null) return null;
    const tile = this.#tiles.get(found);
    if (!tile) return null;
    this.#tiles.delete(found);
    this.#tiles.set(found, tile);
    return tile;
  }

  /** The tiles of a time range, in order of time; those that are not there yet are left out. */
  tiles(start: number, end: number): Tile[] {
    if (!(this.#length > 0)) return [];
    const found: Tile[] = [];
    for (let place = Math.floor(start / this.#length); place * this.#length <= end; place++) {
      const tile = this.tile((place + 0.5) * this.#length);
      if (tile && tile !== found.at(-1)) found.push(tile);
    }
    return found;
  }

  /** Everybody at a moment; false while it is not known. */
  sample(t: number, out: Snapshot): boolean {
    const tile = this.tile(t);
    if (!tile) return false;
    tile.sample(t, out);
    return true;
  }

  /** One life at a moment. */
  one(life: number, t: number): ActorState | null {
    if (!this.tile(t)?.sampleOne(life, t, this.#alone)) return null;
    const { x, y, z, roll, pitch, yaw, speed, lights } = this.#alone;
    const first = <A extends ArrayLike<number>>(column: A): number => column[0] ?? NaN;
    return {
      x: first(x),
      y: first(y),
      z: first(z),
      roll: first(roll),
      pitch: first(pitch),
      yaw: first(yaw),
      speed: first(speed),
      lights: first(lights),
    };
  }
}

const known = new Map<number, Recording>();

/** The recording of a log. */
export function recordingOf(log: number): Recording {
  let recording = known.get(log);
  if (!recording) {
    recording = new Recording(log);
    known.set(log, recording);
  }
  return recording;
}

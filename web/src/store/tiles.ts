/**
 * Series over time in tiles: ranges of 2ᵏ seconds, each as wide as `TILE` pixels. A view asks for a window and
 * gets at once what is known of it, coarser or finer than wanted if need be; what is missing is requested from the server, for all who
 * draw in one request, and they hear of it when it has come.
 */

import { ApiError, type Reference } from "../api";
import { messageOf } from "../api/later";

/** Pixels of a tile. */
export const TILE = 1024;

export const referenceKey = (reference: Reference): string =>
  `${reference.log}:${reference.channel}:${reference.path ?? ""}`;

/** A part of a window: the data of a tile in `from..to`. */
export interface Piece<T> {
  data: T;
  from: number;
  to: number;
}

export interface View<T> {
  /** In the order of time; parts of which nothing is known are left out. */
  pieces: Piece<T>[];
  /** Whether all of it is as fine as was asked for. */
  exact: boolean;
}

export interface Query {
  start: number;
  end: number;
  width: number;
  series: Reference[];
}

export interface Source<T> {
  /** Asks the server. */
  fetch(query: Query): Promise<T[]>;
  /** How much memory an answer takes, in bytes. */
  size(data: T): number;
  /** The most series and pixels of one request. */
  limits(): { series: number; width: number };
  /** The range of the logs, and whether it still grows. */
  bounds(): { first: number; last: number; live: boolean };
  /** Something came. */
  changed(): void;
  /** Called once work is there; runs `flush` soon. */
  schedule(flush: () => void): void;
  now(): number;
}

interface Tile<T> {
  data: T;
  size: number;
  used: number;
  /** How far the log reached when a tile of a log that still grows was asked for. */
  until: number;
  asked: number;
}

/** One who draws: what it wants now. */
interface Client {
  wants: Want[];
  references: Map<string, Reference>;
}

interface Want {
  reference: Reference;
  key: string;
  level: number;
  from: number;
  to: number;
  soon: boolean;
}

const AT_ONCE = 2;
const RETRY_MS = 2000;
const RENEW_MS = 1000;
/** How many levels above a tile something coarser is sought. */
const HEIGHT = 24;

export class Tiles<T> {
  #series = new Map<string, Map<string, Tile<T>>>();
  #clients = new Set<Client>();
  #pending = new Set<string>();
  #failed = new Map<string, number>();
  #size = 0;
  #tick = 0;
  #running = 0;
  #scheduled = false;
  #age = 0;

  constructor(
    private readonly source: Source<T>,
    private readonly most = 192 * 1024 * 1024,
  ) {}

  /** The level whose tiles are at least as fine as `width` pixels for `span` seconds. */
  static level(span: number, width: number): number {
    return Math.floor(Math.log2((TILE * span) / Math.max(width, 1)));
  }

  /** Bytes held. */
  get size(): number {
    return this.#size;
  }

  /** Why the newest answer did not come; nothing if it did. */
  trouble: string | null = null;

  watch(): Watch<T> {
    const client: Client = { wants: [], references: new Map() };
    this.#clients.add(client);
    return {
      ask: (references, start, end, width) => this.#ask(client, references, start, end, width),
      close: () => {
        this.#clients.delete(client);
      },
    };
  }

  /** All series that are drawn. */
  references(): Reference[] {
    const found = new Map<string, Reference>();
    for (const client of this.#clients) for (const [key, reference] of client.references) found.set(key, reference);
    return [...found.values()];
  }

  /** Forgets a log, or everything: it is another one now. Answers on their way are dropped. */
  forget(log?: number): void {
    this.#age++;
    for (const [key, tiles] of this.#series) {
      if (log !== undefined && !key.startsWith(`${log}:`)) continue;
      for (const tile of tiles.values()) this.#size -= tile.size;
      this.#series.delete(key);
    }
    this.#failed.clear();
    this.source.changed();
  }

  #ask(client: Client, references: Reference[], start: number, end: number, width: number): View<T>[] {
    this.#tick++;
    client.wants = [];
    client.references.clear();
    if (!(end > start)) return references.map(() => ({ pieces: [], exact: true }));
    const level = Tiles.level(end - start, width);
    const length = 2 ** level;
    const { first, last, live } = this.source.bounds();
    // Nothing lies beyond the logs; one tile further does no harm and gets what is still arriving.
    const low = Math.max(Math.floor(start / length), Math.floor(first / length));
    const high = Math.min(Math.floor(end / length), Math.floor(last / length));
    const views = references.map((reference) => {
      const key = referenceKey(reference);
      client.references.set(key, reference);
      const view: View<T> = { pieces: [], exact: true };
      for (let place = low; place <= high; place++) {
        const tile = this.#series.get(key)?.get(`${level}:${place}`);
        if (!tile || (live && this.#stale(tile, (place + 1) * length, last))) {
          client.wants.push({ reference, key, level, from: place, to: place, soon: false });
          view.exact = false;
        }
        this.#add(view.pieces, key, level, place);
      }
      return view;
    });
    if (client.wants.length === 0) this.#wantMore(client, level, low, high, Math.floor(first / length), last);
    if (client.wants.length > 0) this.#schedule();
    return views;
  }

  /** What is likely wanted next: the neighbours, and one level up, so that zooming out shows something. */
  #wantMore(client: Client, level: number, low: number, high: number, first: number, last: number): void {
    const want = (reference: Reference, key: string, level: number, place: number) => {
      if (this.#series.get(key)?.has(`${level}:${place}`)) return;
      client.wants.push({ reference, key, level, from: place, to: place, soon: true });
    };
    const end = Math.floor(last / 2 ** level);
    for (const [key, reference] of client.references) {
      if (high + 1 <= end) want(reference, key, level, high + 1);
      if (low - 1 >= first) want(reference, key, level, low - 1);
      for (let place = Math.floor(low / 2); place <= Math.floor(high / 2); place++) {
        want(reference, key, level + 1, place);
      }
    }
  }

  #stale(tile: Tile<T>, end: number, last: number): boolean {
    return tile.until < end && tile.until < last && this.source.now() - tile.asked > RENEW_MS;
  }

  /** Adds what is known of a tile: itself, or its halves, or what is coarser. */
  #add(pieces: Piece<T>[], key: string, level: number, place: number): void {
    const tiles = this.#series.get(key);
    if (!tiles) return;
    const length = 2 ** level;
    const [from, to] = [place * length, (place + 1) * length];
    const take = (tile: Tile<T>, from: number, to: number) => {
      tile.used = this.#tick;
      const before = pieces.at(-1);
      if (before && before.data === tile.data && before.to === from) before.to = to;
      else pieces.push({ data: tile.data, from, to });
    };
    const own = tiles.get(`${level}:${place}`);
    if (own) return take(own, from, to);
    const [left, right] = [tiles.get(`${level - 1}:${place * 2}`), tiles.get(`${level - 1}:${place * 2 + 1}`)];
    const middle = (from + to) / 2;
    if (left && right) {
      take(left, from, middle);
      take(right, middle, to);
      return;
    }
    for (let up = 1; up <= HEIGHT; up++) {
      const above = tiles.get(`${level + up}:${Math.floor(place / 2 ** up)}`);
      if (above) return take(above, from, to);
    }
    if (left) take(left, from, middle);
    if (right) take(right, middle, to);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.source.schedule(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Sends as few requests as cover what is wanted: what is seen first, then what may be. */
  #flush(): void {
    const all = [...this.#clients].flatMap((client) => client.wants);
    if (all.length === 0) return;
    const urgent = all.filter((want) => !want.soon);
    const now = this.source.now();
    const open = (urgent.length > 0 ? urgent : all).filter((want) => {
      const id = `${want.key}/${want.level}:${want.from}`;
      return !this.#pending.has(id) && now - (this.#failed.get(id) ?? -Infinity) > RETRY_MS;
    });
    for (const query of group(open, this.source.limits())) {
      if (this.#running >= AT_ONCE) break;
      void this.#run(query);
    }
  }

  async #run(query: Group): Promise<void> {
    const { level, from, to, series } = query;
    const length = 2 ** level;
    const age = this.#age;
    const ids = new Set<string>();
    for (let place = from; place <= to; place++) for (const key of series.keys()) ids.add(`${key}/${level}:${place}`);
    for (const id of ids) this.#pending.add(id);
    this.#running++;
    const { last, live } = this.source.bounds();
    const asked = this.source.now();
    try {
      const answers = await this.source.fetch({
        start: from * length,
        end: (to + 1) * length,
        width: (to - from + 1) * TILE,
        series: [...series.values()],
      });
      if (age === this.#age) {
        this.trouble = null;
        const until = live ? last : Infinity;
        [...series.keys()].forEach((key, which) => {
          const data = answers[which];
          if (data === undefined) return;
          const size = this.source.size(data) / (to - from + 1);
          for (let place = from; place <= to; place++) {
            this.#put(key, `${level}:${place}`, { data, size, used: this.#tick, until, asked });
          }
        });
        this.#evict();
      }
    } catch (error) {
      // A log that was closed meanwhile is reported at its views.
      this.trouble = error instanceof ApiError && error.code === "log-closed" ? null : messageOf(error);
      for (const id of ids) this.#failed.set(id, this.source.now());
      setTimeout(() => this.#schedule(), RETRY_MS + 50);
    } finally {
      for (const id of ids) this.#pending.delete(id);
      this.#running--;
    }
    // What was only fetched ahead changes no picture.
    let seen = this.trouble !== null;
    for (const client of this.#clients) {
      client.wants = client.wants.filter((want) => {
        const came = ids.has(`${want.key}/${want.level}:${want.from}`);
        seen ||= came && !want.soon;
        return !came || this.trouble !== null;
      });
    }
    if (seen) this.source.changed();
    this.#schedule();
  }

  #put(key: string, id: string, tile: Tile<T>): void {
    let tiles = this.#series.get(key);
    if (!tiles) this.#series.set(key, (tiles = new Map<string, Tile<T>>()));
    this.#size += tile.size - (tiles.get(id)?.size ?? 0);
    tiles.set(id, tile);
  }

  /** Drops what was not drawn for the longest time. */
  #evict(): void {
    if (this.#size <= this.most) return;
    const all: { tiles: Map<string, Tile<T>>; id: string; tile: Tile<T> }[] = [];
    for (const tiles of this.#series.values()) for (const [id, tile] of tiles) all.push({ tiles, id, tile });
    all.sort((a, b) => a.tile.used - b.tile.used);
    for (const { tiles, id, tile } of all) {
      if (this.#size <= this.most * 0.75) break;
      tiles.delete(id);
      this.#size -= tile.size;
    }
  }
}

export interface Watch<T> {
  /** What is known of a window, one view for each series. It replaces what this watch asked before. */
  ask(references: Reference[], start: number, end: number, width: number): View<T>[];
  close(): void;
}

interface Group {
  level: number;
  from: number;
  to: number;
  series: Map<string, Reference>;
}

/** Wants of neighbouring tiles and of series with the same wants become one request. */
function group(wants: Want[], limits: { series: number; width: number }): Group[] {
  const runs = new Map<string, Want>();
  const longest = Math.max(Math.floor(limits.width / TILE), 1);
  const sorted = [...wants].sort(
    (a, b) => a.level - b.level || (a.key < b.key ? -1 : a.key > b.key ? 1 : a.from - b.from),
  );
  let run: Want | null = null;
  for (const want of sorted) {
    if (run && run.key === want.key && run.level === want.level && want.from <= run.to + 1) {
      if (want.from - run.from < longest) {
        run.to = Math.max(run.to, want.from);
        continue;
      }
    }
    run = { ...want };
    runs.set(`${run.key}/${run.level}:${run.from}`, run);
  }
  const groups = new Map<string, Group[]>();
  for (const { level, from, to, key, reference } of runs.values()) {
    const id = `${level}:${from}:${to}`;
    const same = groups.get(id) ?? [];
    let last = same.at(-1);
    if (!last || last.series.size >= limits.series) same.push((last = { level, from, to, series: new Map() }));
    last.series.set(key, reference);
    groups.set(id, same);
  }
  return [...groups.values()].flat();
}

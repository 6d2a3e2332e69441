/** What is still arriving: the socket, how far the logs reach, and who wants new samples at once. */

import { getSession, LiveSocket } from "../api";
import type { LogState, Reference, Tick, Trace } from "../api";
import { clock } from "./clock.svelte";
import { logs } from "./session.svelte";

type Take = (traces: (Trace | null)[]) => void;

interface Subscription {
  references: Reference[];
  take: Take;
}

export interface LiveLog {
  state: LogState;
  /** Why nothing comes. */
  trouble: string | null;
  /** Samples per second. */
  rate: number;
  samples: number;
}

/** The newest moment is guessed on between two ticks, but no longer than this many seconds. */
const GUESS_S = 0.25;

/** A step of the visible range that takes longer than this to draw is followed by a rest of the same length. */
const SLOW_MS = 40;

/** Events of one log are not asked for more often than this: a robot may complain at every turn of its loop. */
const EVENTS_MS = 500;

/** Counts, facts and problems of logs that grow are asked for as often. */
const DESCRIBE_MS = 1000;

const isWaited = (log: LiveLog): boolean => log.state === "waiting" && log.samples === 0;

const keyOf = (reference: Reference): string => `${reference.log}:${reference.channel}${reference.path ?? ""}`;

class Live {
  /** Whether the server is there. */
  connected = $state(true);
  /** By log; empty until the first tick. */
  logs = $state.raw<LiveLog[]>([]);
  /** Samples per second, of all logs. */
  readonly rate = $derived(this.logs.reduce((sum, log) => sum + log.rate, 0));
  /** Whether nothing has come yet: then nobody can say what there is not. */
  readonly waiting = $derived(clock.live && (this.logs.length === 0 || this.logs.some(isWaited)));
  /** What keeps data from coming, of all logs. */
  readonly trouble = $derived(this.logs.find((log) => log.trouble)?.trouble ?? null);

  #socket: LiveSocket | null = null;
  readonly #subscriptions = new Set<Subscription>();
  #revisions: number[] = [];
  /** Of each log: as of which number its events are here, and from when on they may be asked for again. */
  #events: { known: number; from: number }[] = [];
  /** The end according to the last tick, and when that arrived. */
  #end: { t: number; at: number } | null = null;
  /** When the visible range moved last, if no frame came since, and when it may move again. */
  #moved: number | null = null;
  #rest = 0;

  open(): void {
    this.#revisions = logs.logs.map((log) => log.revision);
    this.#events = logs.logs.map(() => ({ known: 0, from: 0 }));
    this.#socket ??= new LiveSocket(
      (tick) => this.#tick(tick),
      (found, subscribed) => this.#spread(found, subscribed),
      (open) => {
        if (!open) void this.#check();
        else if (!this.connected) void this.#again();
      },
    );
    this.#subscribe();
  }

  /**
   * Calls `take` with new samples of these series, null for those without any, until the function that it returns is
   * called.
   */
  subscribe(references: Reference[], take: Take): () => void {
    const subscription = { references, take };
    this.#subscriptions.add(subscription);
    this.#subscribe();
    return () => {
      this.#subscriptions.delete(subscription);
      this.#subscribe();
    };
  }

  /** A frame is about to be drawn: who follows sees time go on evenly, not by ticks. */
  frame(now: number): void {
    if (this.#moved !== null) {
      const cost = now - this.#moved;
      this.#rest = cost > SLOW_MS ? now + cost : 0;
      this.#moved = null;
    }
    if (!clock.following || !this.#end || now < this.#rest) return;
    const passed = Math.min((now - this.#end.at) / 1000, GUESS_S);
    const flowing = this.connected && this.rate > 0;
    const target = this.#end.t + (flowing ? passed : 0);
    // Never back, and a guess that was too high waits for the data.
    if (target <= clock.last) return;
    clock.setBounds(clock.first, target);
    this.#moved = now;
  }

  #subscribe(): void {
    if (!clock.live) return;
    const wanted = new Map<string, Reference>();
    for (const { references } of this.#subscriptions) {
      for (const reference of references) wanted.set(keyOf(reference), reference);
    }
    this.#socket?.subscribe([...wanted.values()].slice(0, logs.session.limits.series));
  }

  #tick(tick: Tick): void {
    this.logs = tick.logs.map(({ state, problem: trouble, samples_per_s: rate, samples }) => ({
      state,
      trouble,
      rate,
      samples,
    }));
    clock.live = tick.logs.some((log) => log.state === "live" || log.state === "waiting");
    if (tick.start !== null && tick.end !== null) {
      this.#end = { t: tick.end, at: performance.now() };
      // Who follows is moved by frames, as fast as they can be drawn.
      if (!clock.following) clock.setBounds(tick.start, tick.end);
      else if (tick.start !== clock.first) clock.setBounds(tick.start, Math.max(tick.end, clock.last));
    }
    if (tick.revision !== logs.session.revision) this.#reload();
    else if (clock.live) this.#describe(tick);
    for (const log of tick.logs) {
      // One that was closed, or came just now.
      if (log.state === "closed" || !logs.channels[log.id]) continue;
      this.#look(log.id, log.events_revision);
      if (this.#revisions[log.id] === log.revision) continue;
      this.#revisions[log.id] = log.revision;
      void logs.refresh(log.id).catch(() => {
        this.#revisions[log.id] = -1;
      });
    }
  }

  /** Logs were added or closed, here or in another window. */
  #reload(): void {
    if (this.#reloading) return;
    this.#reloading = true;
    void logs
      .load()
      .catch(() => undefined)
      .finally(() => (this.#reloading = false));
  }
  #reloading = false;

  /** Asks how logs that grow are, if they grew. */
  #describe(tick: Tick): void {
    const samples = tick.logs.reduce((sum, log) => sum + log.samples, 0);
    if (samples === this.#described.samples || performance.now() < this.#described.from) return;
    this.#described = { samples, from: performance.now() + DESCRIBE_MS };
    void logs.describe().catch(() => undefined);
  }
  #described = { samples: 0, from: 0 };

  /** Asks for what happened in a log if that is more than is here; a later tick asks for what comes meanwhile. */
  #look(log: number, events: number): void {
    const here = (this.#events[log] ??= { known: 0, from: 0 });
    if (here.known === events || performance.now() < here.from) return;
    // No request while one is pending.
    here.from = Infinity;
    void logs
      .refreshEvents(log)
      .then(
        () => (here.known = events),
        () => undefined,
      )
      .finally(() => (here.from = performance.now() + EVENTS_MS));
  }

  #spread(received: Trace[], subscribed: Reference[]): void {
    const byKey = new Map(subscribed.map((reference, place) => [keyOf(reference), received[place] ?? null]));
    for (const { references, take } of this.#subscriptions) {
      const found = references.map((reference) => {
        const trace = byKey.get(keyOf(reference));
        return trace && trace.start.length > 0 ? trace : null;
      });
      if (found.some((trace) => trace !== null)) take(found);
    }
  }

  /** The socket ended. That alone does not mean that the server did. */
  async #check(): Promise<void> {
    try {
      await getSession();
    } catch {
      this.connected = false;
    }
  }

  /** The server is back; perhaps another one, with other logs. */
  async #again(): Promise<void> {
    const names = () => logs.logs.map((log) => log.path).join("\n");
    const before = names();
    try {
      logs.session = await getSession();
      if (names() !== before) location.reload();
      else await Promise.all(logs.logs.map((log) => logs.refresh(log.id)));
      this.connected = true;
    } catch {
      return;
    }
    this.#revisions = logs.logs.map((log) => log.revision);
  }
}

export const live = new Live();

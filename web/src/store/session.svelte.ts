/** The open logs and their channels. */

import { getChannels, getEvents, getSession } from "../api";
import type { Band, Channel, Events, Field, LogInfo, Reference, Session, ValueKind } from "../api";
import type { SeriesRef } from "../model/series";
import { firstMoment } from "../model/start";
import { clock } from "./clock.svelte";
import { stubsOf, type Stub } from "./stragglers";

/** What a reference by name leads to. */
export interface Found {
  reference: Reference;
  channel: Channel;
  /** The part of the channel's values; nothing for the value itself, or for a path that is in no schema. */
  field: Field | null;
  kind: ValueKind;
  unit: string | null;
  /** The unit in which people read it, where the log has another one: ms for a trip time in seconds. */
  shown: string | null;
}

const NOTHING: Session = {
  version: "",
  title: "logpose",
  origin_ns: "0",
  start: null,
  end: null,
  sql: false,
  limits: { series: 64, width: 8192, points: 20000, rows: 1000, runs: 8192 },
  revision: 0,
  adding: null,
  logs: [],
};

class Logs {
  session = $state.raw<Session>(NOTHING);
  /** By log. */
  channels = $state.raw<Channel[][]>([]);
  events = $state.raw<Events[]>([]);
  ready = $state(false);
  #byName = $derived(this.channels.map(byName));

  get logs(): LogInfo[] {
    return this.session.logs;
  }

  /** The logs without those that were closed; a closed one keeps its place among all. */
  readonly opened = $derived(this.session.logs.filter((log) => log.state !== "closed"));
  /** Another number whenever logs came or went. */
  readonly revision = $derived(this.session.revision);
  /** Whether labels must name the log. */
  readonly several = $derived(this.opened.length > 1);

  /** Loads which logs there are: at first, and again when some were added or closed. */
  load(): Promise<void> {
    return (this.#loading = this.#load(++this.#age));
  }
  #age = 0;
  #loading: Promise<void> = Promise.resolve();

  async #load(age: number): Promise<void> {
    const session = await getSession();
    const known = new Set(this.opened.map((log) => log.id));
    const [channels, events] = await Promise.all([
      Promise.all(session.logs.map((log) => this.#channelsOf(log, known))),
      Promise.all(session.logs.map((log) => this.#eventsOf(log, known))),
    ]);
    // Another one asked later and knows more.
    if (age !== this.#age) return this.#loading;
    this.session = session;
    this.channels = channels;
    this.events = events;
    this.ready = true;
    clock.live = session.logs.some((log) => log.state === "live" || log.state === "waiting");
    if (session.start !== null && session.end !== null) clock.setBounds(session.start, session.end);
  }

  async #channelsOf(log: LogInfo, known: Set<number>): Promise<Channel[]> {
    if (log.state === "closed") return [];
    return (known.has(log.id) && this.channels[log.id]) || (await getChannels(log.id)).channels;
  }

  async #eventsOf(log: LogInfo, known: Set<number>): Promise<Events> {
    if (log.state === "closed") return { bands: [], events: [], truncated: false };
    return (known.has(log.id) && this.events[log.id]) || (await getEvents(log.id));
  }

  /** A log is about to be closed: nothing asks for it any more. */
  letGo(log: number): void {
    this.channels = this.channels.map((known, place) => (place === log ? [] : known));
    const closed = (one: LogInfo): LogInfo => (one.id === log ? { ...one, state: "closed" } : one);
    this.session = { ...this.session, logs: this.session.logs.map(closed) };
  }

  /** Shows all of the logs, with the cursor where something happens. */
  showAll(): void {
    clock.showAll();
    this.begin();
  }

  /** Loads what is said of logs that grow: counts, facts and problems. */
  async describe(): Promise<void> {
    const session = await getSession();
    // Logs that were added or closed meanwhile come with their channels.
    if (session.revision === this.session.revision) this.session = session;
  }

  /** Puts the cursor where it begins: at the first moment that has values of all that is shown. */
  begin(shown: Reference[] = []): void {
    const bands = this.events.flatMap((found) => found.bands);
    const start = this.logs.find((log) => log.start !== null)?.start ?? clock.first;
    const starts = shown.flatMap(({ log, channel }) => this.channels[log]?.[channel]?.start ?? []);
    const enabled = bands.find((band) => ENABLED.includes(band.kind));
    clock.cursor = Math.min(
      Math.max(firstMoment({ start, end: clock.last }, enabled, starts), clock.first),
      clock.last,
    );
  }

  /** The channels of one log are others. */
  async refresh(log: number): Promise<void> {
    const [{ channels }, events] = await Promise.all([getChannels(log), getEvents(log), this.describe()]);
    this.channels = this.channels.map((known, place) => (place === log ? channels : known));
    this.events = this.events.map((known, place) => (place === log ? events : known));
  }

  /** Samples far from all others. */
  readonly stubs = $derived.by((): Stub[] => {
    const { start, end, logs } = this.session;
    return start === null || end === null ? [] : stubsOf(logs, start, end);
  });

  /** From when the robot is first enabled until it is last disabled; nothing if it never is. */
  readonly enabled = $derived.by((): { start: number; end: number } | null => {
    const bands = this.events.flatMap((found) => found.bands).filter((band) => ENABLED.includes(band.kind));
    if (bands.length === 0) return null;
    return {
      start: Math.min(...bands.map((band) => band.start)),
      end: Math.max(...bands.map((band) => band.end)),
    };
  });

  /** The modes of the first log that has any. The last mode of a live robot extends to the newest data. */
  readonly bands = $derived.by((): Band[] => {
    const place = this.events.findIndex((events) => events.bands.length > 0);
    const bands = this.events[place]?.bands ?? [];
    const last = bands.at(-1);
    if (!last || !clock.live || this.logs[place]?.state === "finished") return bands;
    return [...bands.slice(0, -1), { ...last, end: Math.max(last.end, clock.last) }];
  });

  /** What happened in one log is more. */
  async refreshEvents(log: number): Promise<void> {
    const events = await getEvents(log);
    this.events = this.events.map((known, place) => (place === log ? events : known));
  }

  /** The channel and part that a name means; nothing if there is no such channel. */
  find(ref: SeriesRef): Found | null {
    const named = this.#byName[ref.log]?.get(ref.name);
    const channel = ref.type === undefined ? named?.[0] : named?.find((one) => one.type === ref.type);
    if (!channel) return null;
    const field = ref.path ? fieldAt(channel.fields, ref.path) : null;
    const reference: Reference = { log: ref.log, channel: channel.id };
    if (ref.path) reference.path = ref.path;
    return {
      reference,
      channel,
      field,
      kind: ref.path ? (field?.kind ?? "any") : channel.kind,
      unit: unitAt(channel, ref.path),
      shown: /^(\[\d+\])?$/.test(ref.path) ? channel.shown_unit : null,
    };
  }

  /** The name of a channel, as a reference to it. */
  refOf(log: number, channel: Channel, path = ""): SeriesRef {
    const ref: SeriesRef = { log, name: channel.name, path };
    if ((this.#byName[log]?.get(channel.name)?.length ?? 0) > 1) ref.type = channel.type;
    return ref;
  }
}

/** The unit of a part of a channel. Elements that are not listed have the unit of the first one. */
function unitAt(channel: Channel, path: string): string | null {
  if (/^(\[\d+\])?$/.test(path)) return channel.unit;
  return fieldAt(channel.fields, path)?.unit ?? fieldAt(channel.fields, path.replace(/\[\d+\]/g, "[0]"))?.unit ?? null;
}

const ENABLED = ["auto", "teleop", "test"];

function byName(channels: Channel[]): Map<string, Channel[]> {
  const names = new Map<string, Channel[]>();
  for (const channel of channels) {
    const same = names.get(channel.name);
    if (same) same.push(channel);
    else names.set(channel.name, [channel]);
  }
  return names;
}

function fieldAt(fields: Field[], path: string): Field | null {
  for (const field of fields) {
    if (field.path === path) return field;
    const inside = path.startsWith(field.path) ? fieldAt(field.fields, path) : null;
    if (inside) return inside;
  }
  return null;
}

export const logs = new Logs();

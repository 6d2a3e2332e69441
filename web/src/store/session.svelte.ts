/** The open logs and their channels. */

import { getChannels, getEvents, getSession } from "../api";
import type { Band, Channel, Events, Field, LogInfo, Reference, Session, ValueKind } from "../api";
import type { SeriesRef } from "../model/series";
import { clock } from "./clock.svelte";

/** What a reference by name leads to. */
export interface Found {
  reference: Reference;
  channel: Channel;
  /** The part of the channel's values; nothing for the value itself, or for a path that is in no schema. */
  field: Field | null;
  kind: ValueKind;
  unit: string | null;
}

const NOTHING: Session = {
  version: "",
  title: "logpose",
  origin_ns: "0",
  start: null,
  end: null,
  sql: false,
  limits: { series: 64, width: 8192, points: 20000, rows: 1000, runs: 8192 },
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

  async open(): Promise<void> {
    this.session = await getSession();
    clock.live = this.session.logs.some((log) => log.state === "live" || log.state === "waiting");
    if (this.session.start !== null && this.session.end !== null) {
      clock.setBounds(this.session.start, this.session.end);
      clock.showAll();
    }
    const [channels, events] = await Promise.all([
      Promise.all(this.session.logs.map((log) => getChannels(log.id))),
      Promise.all(this.session.logs.map((log) => getEvents(log.id))),
    ]);
    this.channels = channels.map((answer) => answer.channels);
    this.events = events;
    clock.cursor = firstMoment(this.session, events);
    this.ready = true;
  }

  /** The channels of one log are others. */
  async refresh(log: number): Promise<void> {
    const [{ channels }, events] = await Promise.all([getChannels(log), getEvents(log)]);
    this.channels = this.channels.map((known, place) => (place === log ? channels : known));
    this.events = this.events.map((known, place) => (place === log ? events : known));
  }

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

/** The initial cursor: when the robot is first enabled, else the start of the first log. */
function firstMoment(session: Session, events: Events[]): number {
  const bands = events.flatMap((found) => found.bands).filter((band) => ENABLED.includes(band.kind));
  return bands[0]?.start ?? session.logs.find((log) => log.start !== null)?.start ?? clock.first;
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

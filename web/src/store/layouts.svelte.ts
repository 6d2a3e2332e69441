/** Layouts that the server keeps: what was shown last of each kind of log, and those that have a name. */

import { getLayouts, postLayout } from "../api";
import type { Json, Layouts, LogInfo, NamedLayout } from "../api";
import { messageOf } from "../api/later";
import { seriesRef, type SeriesRef } from "../model/series";
import { layout } from "./layout.svelte";
import { logs } from "./session.svelte";
import { toasts } from "./toasts.svelte";

/** Changes that come closer together than this are kept together. */
const TOGETHER_MS = 1000;
/** The part of its series that the logs must have, so that a layout is for logs like these. */
const FITTING = 0.5;
/** Layouts of more logs at once are for these logs alone. */
const MOST_LOGS = 8;

/** What logs are, for the choice of a layout; empty for those that none is remembered for. */
export const kindOf = (open: readonly LogInfo[]): string =>
  open.length > MOST_LOGS ? "" : open.map((log) => log.preset).join("+");

/** A layout with other numbers of logs: what is kept counts the open logs, whose own numbers have gaps where some were closed. */
function renumbered(data: Json, numbers: ReadonlyMap<number, number>): Json {
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== "object" || value === null) return value;
    const made = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, visit(part)]));
    const { log } = made;
    if ("name" in made && "path" in made && typeof log === "number") made["log"] = numbers.get(log) ?? log;
    return made;
  };
  return visit(data);
}

/** All series that a layout shows. */
export function seriesIn(data: unknown): SeriesRef[] {
  const found: SeriesRef[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const ref = "name" in value && "path" in value ? seriesRef(value) : null;
    if (ref) found.push(ref);
    else Object.values(value).forEach(visit);
  };
  visit(data);
  return found;
}

class KeptLayouts {
  /** Whether the server keeps any. */
  kept = $state(false);
  named = $state.raw<NamedLayout[]>([]);
  /** The one that the page was started with. */
  given: NamedLayout | null = null;
  #kinds: Layouts["kinds"] = {};
  /** What is kept of this kind of log while the user changes nothing, as text; nothing if nothing is. */
  #base: string | null = null;
  #sent: string | null = null;
  /** What the server suggests for these logs: it is no choice of the user. */
  #suggested = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  async open(): Promise<void> {
    try {
      const found = await getLayouts();
      this.given = found.given;
      this.#take(found);
    } catch {
      // Without them the page works too.
      this.kept = false;
    }
  }

  /** The logs are known: what is kept of their kind stays until the user changes something. */
  begin(): void {
    const data = this.#kinds[kindOf(logs.opened)];
    this.#base = this.#sent = data === undefined ? null : JSON.stringify(data);
  }

  /** The layout that was shown last of logs like these; nothing where most of its series are not in them. */
  remembered(): Json | null {
    const kept = this.#kinds[kindOf(logs.opened)];
    if (kept === undefined) return null;
    const data = renumbered(kept, new Map(logs.opened.map((log, place) => [place, log.id])));
    const series = seriesIn(data);
    const here = series.filter((ref) => logs.find(ref) !== null).length;
    // Channels of a live source come later.
    const unknown = logs.channels.every((channels) => channels.length === 0);
    return unknown || series.length === 0 || here >= series.length * FITTING ? data : null;
  }

  /** What is shown now is what the server suggests. */
  suggested(): void {
    this.#suggested = JSON.stringify(layout.data().tabs);
  }

  /** Keeps what the user arranges, for the next log of this kind. To be called once, where effects live. */
  watch(ready: () => boolean): void {
    const shown = $derived(JSON.stringify(this.#placed()));
    $effect(() => {
      const { canUndo } = layout;
      if (!ready() || !this.kept || !kindOf(logs.opened)) return;
      const text = !canUndo ? this.#base : JSON.stringify(layout.data().tabs) === this.#suggested ? null : shown;
      clearTimeout(this.#timer);
      if (text !== this.#sent) this.#timer = setTimeout(() => void this.#remember(text), TOGETHER_MS);
    });
  }

  /** Keeps what is shown under a name. */
  save(name: string): Promise<boolean> {
    return this.#post({ name, layout: this.#placed() });
  }

  forget(name: string): Promise<boolean> {
    return this.#post({ name });
  }

  /** What is shown, with the logs counted by their places. */
  #placed(): Json {
    return renumbered(layout.data() as unknown as Json, new Map(logs.opened.map((log, place) => [log.id, place])));
  }

  async #remember(text: string | null): Promise<void> {
    this.#sent = text;
    const kind = kindOf(logs.opened);
    await this.#post(text === null ? { kind } : { kind, layout: JSON.parse(text) as Json });
  }

  async #post(query: Parameters<typeof postLayout>[0]): Promise<boolean> {
    try {
      this.#take(await postLayout(query));
      return true;
    } catch (error) {
      toasts.show(`The layout was not saved: ${messageOf(error)}`, "warning");
      return false;
    }
  }

  #take(found: Layouts): void {
    this.kept = found.kept;
    this.named = found.named;
    this.#kinds = found.kinds;
  }
}

export const keptLayouts = new KeptLayouts();

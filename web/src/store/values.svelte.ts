/** Values at the cursor and under the pointer, for everything that shows them. */

import { untrack } from "svelte";
import { postValues } from "../api";
import type { Held, Reference } from "../api";
import type { SeriesRef } from "../model/series";
import { clock } from "./clock.svelte";
import { logs } from "./session.svelte";

const keyOf = (reference: Reference): string => `${reference.log}:${reference.channel}${reference.path ?? ""}`;

/** Somebody who wants to know. */
class Watcher {
  /** Where a name leads to nothing there is a null. */
  references: (Reference | null)[] = [];
  values = $state.raw<(Held | null)[]>([]);

  /**
   * Other series are wanted. What is known of them already moves to its new place; nothing stays beside a wrong name.
   */
  want(references: (Reference | null)[]): void {
    const known = new Map<string, Held | null>();
    this.references.forEach((reference, place) => {
      if (reference) known.set(keyOf(reference), this.values[place] ?? null);
    });
    this.references = references;
    this.values = references.map((reference) => (reference ? (known.get(keyOf(reference)) ?? null) : null));
  }
}

/** Merges the requests of all watchers into one per frame. One is pending at a time, always for the newest time. */
class Hub {
  constructor(private readonly time: () => number | null) {}

  readonly #watchers = new Set<Watcher>();
  #asked = false;
  #busy = false;
  #pause = 0;

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  /** The cursor moved, or other series are requested. */
  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    if (!this.#busy) this.#schedule();
  }

  #schedule(): void {
    requestAnimationFrame(() => void this.#send());
  }

  async #send(): Promise<void> {
    if (this.#busy || !this.#asked) return;
    this.#asked = false;
    const places = new Map<string, number>();
    const wanted: Reference[] = [];
    for (const watcher of this.#watchers) {
      for (const reference of watcher.references) {
        if (!reference || places.has(keyOf(reference))) continue;
        places.set(keyOf(reference), wanted.length);
        wanted.push(reference);
      }
    }
    const t = this.time();
    if (wanted.length === 0 || t === null) {
      for (const watcher of this.#watchers) watcher.values = watcher.references.map(() => null);
      return;
    }
    this.#busy = true;
    try {
      const values = await this.#fetch(t, wanted);
      for (const watcher of this.#watchers) {
        watcher.values = watcher.references.map((reference) => {
          const place = reference ? places.get(keyOf(reference)) : undefined;
          return place === undefined ? null : (values[place] ?? null);
        });
      }
      this.#pause = 0;
    } catch {
      // The window reports that the server is gone; values come again with it.
      this.#pause = Math.min(this.#pause * 2 + 250, 5000);
      setTimeout(() => this.ask(), this.#pause);
    }
    this.#busy = false;
    if (this.#asked) this.#schedule();
  }

  async #fetch(t: number, wanted: Reference[]): Promise<(Held | null)[]> {
    const most = Math.max(logs.session.limits.series, 1);
    const parts: Reference[][] = [];
    for (let start = 0; start < wanted.length; start += most) parts.push(wanted.slice(start, start + most));
    const answers = await Promise.all(parts.map((values) => postValues({ time: t, series: values })));
    return answers.flat();
  }
}

const atCursor = new Hub(() => clock.cursor);
const atPointer = new Hub(() => clock.hover);

/**
 * The values of series at the cursor, in the order of the references; null where there are none. For use in
 * components.
 */
export const valuesAtCursor = (refs: () => SeriesRef[]) => valuesAt(atCursor, () => clock.cursor, refs);

/** The same under the pointer; null where there is none. */
export const valuesAtPointer = (refs: () => SeriesRef[]) => valuesAt(atPointer, () => clock.hover, refs);

function valuesAt(hub: Hub, time: () => number | null, refs: () => SeriesRef[]): { readonly values: (Held | null)[] } {
  const watcher = new Watcher();
  $effect(() => {
    const references = refs().map((ref) => logs.find(ref)?.reference ?? null);
    untrack(() => watcher.want(references));
    hub.ask();
  });
  $effect(() => {
    void time();
    hub.ask();
  });
  $effect(() => {
    hub.add(watcher);
    return () => hub.remove(watcher);
  });
  return {
    get values() {
      return watcher.values;
    },
  };
}

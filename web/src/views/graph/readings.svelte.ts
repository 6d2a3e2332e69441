/** Numbers beside the names: at the mark, and over a time range. */

import { postStats, postValues } from "../../api";
import { askLater } from "../../api/later";
import type { Held, Reference, Stats } from "../../api";
import { clock } from "../../store/clock.svelte";
import { logs } from "../../store/session.svelte";

/** How long a range must stay the same before all of its samples are read, in ms. */
const PAUSE = 180;

/** What series held at the mark; for use in components. */
export function valuesAtMark(references: () => (Reference | null)[]): { readonly values: (Held | null)[] } {
  let values = $state.raw<(Held | null)[]>([]);
  $effect(() => {
    const { mark } = clock;
    const wanted = references();
    const present = wanted.filter((reference) => reference !== null);
    if (mark === null || present.length === 0) {
      values = [];
      return;
    }
    const control = new AbortController();
    void postValues({ time: mark, series: present.slice(0, logs.session.limits.series) }, control.signal).then(
      (answers) => {
        let next = 0;
        values = wanted.map((reference) => (reference ? (answers[next++] ?? null) : null));
      },
      () => {
        if (!control.signal.aborted) values = [];
      },
    );
    return () => control.abort();
  });
  return {
    get values() {
      return values;
    },
  };
}

/** The statistics of a time range, null until they are known; for use in components. */
export function statsOf(
  references: () => (Reference | null)[],
  window: () => { start: number; end: number } | null,
): { readonly stats: (Stats | null)[]; readonly loading: boolean } {
  let stats = $state.raw<(Stats | null)[]>([]);
  let loading = $state(false);
  $effect(() => {
    const range = window();
    const wanted = references();
    const present = wanted.filter((reference) => reference !== null);
    if (!range || present.length === 0) {
      stats = [];
      loading = false;
      return;
    }
    loading = true;
    return askLater(PAUSE, async (signal) => {
      try {
        const series = present.slice(0, logs.session.limits.series);
        const answers = await postStats({ ...range, bins: 1, series }, signal);
        let next = 0;
        stats = wanted.map((reference) => (reference ? (answers[next++] ?? null) : null));
        loading = false;
      } catch {
        if (!signal.aborted) loading = false;
      }
    });
  });
  return {
    get stats() {
      return stats;
    },
    get loading() {
      return loading;
    },
  };
}

/** Series beside each other, for views that show one against another. */

import { untrack } from "svelte";
import { postRows } from "../api";
import { askLater, messageOf } from "../api/later";
import type { Reference, Rows, Window } from "../api";
import type { SeriesRef } from "../model/series";
import { clock } from "./clock.svelte";
import { logs } from "./session.svelte";

/** How long a request waits for the next change, in ms. */
const PAUSE = 60;
/** How many answers are kept. */
const KEPT = 24;
/** How often the newest data are asked for while they come. */
const LIVE = 500;

const answers = new Map<string, Rows>();

function remember(key: string, rows: Rows): void {
  answers.delete(key);
  answers.set(key, rows);
  const [oldest] = answers.keys();
  if (answers.size > KEPT && oldest !== undefined) answers.delete(oldest);
}

export interface RowsOf {
  /** The newest answer; of another range while the next is pending, never of other series. */
  readonly rows: Rows | null;
  readonly loading: boolean;
  readonly error: string | null;
}

/**
 * Rows at the samples of the first series, at most `points`, whenever series or window change. Call it while a component
 * is made. Without a window, or with a series that no log has, nothing is asked.
 */
export function rowsOf(refs: () => SeriesRef[], window: () => Window | null, points: number): RowsOf {
  let rows = $state.raw<Rows | null>(null);
  let loading = $state(false);
  let error = $state<string | null>(null);

  const series = $derived.by(() => {
    const found = refs().map((ref) => logs.find(ref));
    if (found.length === 0 || found.some((one) => one === null)) return null;
    return JSON.stringify(found.flatMap((one) => (one ? [one.reference] : [])));
  });
  /** Increases while data arrives in the window. */
  const beat = $derived(
    clock.live && (window()?.end ?? -Infinity) >= clock.last ? Math.floor(clock.last / (LIVE / 1000)) : 0,
  );
  const wish = $derived.by(() => {
    // A window that moves with the newest data moves in every frame.
    const stretch = beat === 0 ? window() : untrack(window);
    if (!stretch || series === null) return null;
    return JSON.stringify({
      start: stretch.start,
      end: stretch.end,
      points,
      series: JSON.parse(series) as Reference[],
    });
  });
  let shown: string | null = null;

  $effect(() => {
    const body = wish;
    error = null;
    if (shown !== series) rows = null;
    shown = series;
    if (body === null) {
      rows = null;
      loading = false;
      return;
    }
    const key = beat === 0 ? body : null;
    const known = key === null ? undefined : answers.get(key);
    if (known && key !== null) {
      remember(key, known);
      rows = known;
      loading = false;
      return;
    }
    loading = true;
    return askLater(PAUSE, async (signal) => {
      try {
        const answer = await postRows(JSON.parse(body) as Parameters<typeof postRows>[0], signal);
        if (key !== null) remember(key, answer);
        rows = answer;
        loading = false;
      } catch (reason) {
        if (signal.aborted) return;
        error = messageOf(reason);
        loading = false;
      }
    });
  });

  return {
    get rows() {
      return rows;
    },
    get loading() {
      return loading;
    },
    get error() {
      return error;
    },
  };
}

/** Everything that is shown, behind the # of the address. */

import { decodeState, encodeState } from "../model/hash";
import { VERSION } from "../model/layout";
import { clock } from "./clock.svelte";
import { layout } from "./layout.svelte";
import { logs } from "./session.svelte";
import { sidebar } from "./sidebar.svelte";
import { toasts } from "./toasts.svelte";

/** Browsers allow few changes of the address; and it is not needed while things move. */
const WAIT_MS = 500;
const LONGEST_WAIT_MS = 4000;

const number = (data: unknown): data is number => typeof data === "number" && Number.isFinite(data);

function clockData(): unknown {
  const { start, end, cursor, mark, selection, speed, loop, following } = clock;
  const stretch = selection && { start: selection.start, end: selection.end };
  const opened = logs.stubs.flatMap(({ edge }) => (clock.opened[edge] === null ? [] : [edge]));
  // Who follows sees the end, whenever that is.
  if (following) return { following, span: end - start };
  return { start, end, cursor, mark, selection: stretch, speed, loop, ...(opened.length > 0 ? { opened } : {}) };
}

function restoreClock(data: unknown): void {
  if (typeof data !== "object" || data === null) return;
  const { start, end, cursor, mark, selection, speed, loop, following, span, opened } = data as Record<string, unknown>;
  if (following === true && number(span) && clock.live) {
    clock.show(clock.last - span, clock.last);
    clock.lock(true);
    return;
  }
  for (const { edge, to } of logs.stubs) {
    const open = Array.isArray(opened) && opened.includes(edge);
    if (open !== (clock.opened[edge] !== null)) clock.open(edge, open ? to : null);
  }
  if (number(start) && number(end) && end > start && start < clock.last && end > clock.first) clock.show(start, end);
  if (number(cursor)) clock.seek(cursor, true);
  clock.mark = number(mark) ? mark : null;
  if (typeof selection === "object" && selection !== null) {
    const { start, end } = selection as Record<string, unknown>;
    if (number(start) && number(end) && end > start) clock.selection = { start, end };
  }
  if (number(speed) && speed >= 0.1 && speed <= 16) clock.speed = speed;
  clock.loop = loop === true;
}

const behindHash = (): string => location.hash.replace(/^#/, "");

class Address {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = 0;
  /** What is behind the #, as far as it was written or read. */
  #known = "";

  /** Reads the address. False if there is nothing of ours in it; then what is shown stays as it is. */
  read(): boolean {
    const hash = behindHash();
    this.#known = hash;
    if (!hash) return false;
    const state = decodeState(hash) as Record<string, unknown> | null;
    const good = typeof state === "object" && state !== null && layout.load(state["layout"], "The link");
    if (!good) {
      toasts.show("The link contains no readable layout", "warning");
      return false;
    }
    sidebar.restore(state["sidebar"]);
    restoreClock(state["clock"]);
    return true;
  }

  /** Nothing is shown any more. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#since = 0;
    this.#known = "";
    history.replaceState(null, "", `${location.pathname}${location.search}`);
  }

  /** Writes what is shown whenever it changes. To be called once, where effects live. */
  watch(ready: () => boolean): void {
    // Only what changed is read again: time goes on at every frame.
    const shown = $derived(JSON.stringify(layout.data()));
    const side = $derived(JSON.stringify(sidebar.data()));
    const time = $derived(clock.playing ? "" : JSON.stringify(clockData()));
    $effect(() => {
      if (!ready()) return;
      void [shown, side, time];
      const now = Date.now();
      clearTimeout(this.#timer);
      if (!this.#since) this.#since = now;
      const wait = Math.min(WAIT_MS, Math.max(this.#since + LONGEST_WAIT_MS - now, 0));
      this.#timer = setTimeout(() => this.#write(), wait);
    });
    $effect(() => {
      const changed = () => {
        if (ready() && behindHash() !== this.#known) this.read();
      };
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    });
  }

  #write(): void {
    this.#since = 0;
    // Somebody went to another address a moment ago, and it is about to be read.
    if (behindHash() !== this.#known) return;
    const hash = encodeState({
      version: VERSION,
      layout: layout.data(),
      clock: clockData(),
      sidebar: sidebar.data(),
    });
    if (hash === this.#known) return;
    this.#known = hash;
    history.replaceState(null, "", `${location.pathname}${location.search}#${hash}`);
  }
}

export const address = new Address();

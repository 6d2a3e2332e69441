/** A window into many rows: it grows in the direction of scrolling and is cut at the other end. */

import { messageOf } from "../api/later";
import { ApiError } from "../api";
import { joinAfter, joinBefore, TICK, type Page, type Timed } from "./paging";

/** Asks for rows at or behind `from`, or with `back` before it, nearest last. */
export type Ask<R> = (from: number, back: boolean, signal: AbortSignal) => Promise<Page<R>>;

/** How many rows are kept. */
const MOST = 2000;

export class Pages<R extends Timed> {
  rows = $state.raw<R[]>([]);
  /** Whether there may be rows before and behind. */
  before = $state(false);
  after = $state(false);
  loading = $state(false);
  /** Whether there was an answer since the last `clear`. */
  known = $state(false);
  error = $state.raw<{ message: string; help: string | null } | null>(null);
  /** The time range that was searched. */
  start = $state(0);
  end = $state(0);
  #ask: Ask<R>;
  #control = new AbortController();
  #next: number | null = null;
  #busy = false;

  constructor(ask: Ask<R>) {
    this.#ask = ask;
  }

  /** Whether a time is in the range that was searched. */
  covers(t: number): boolean {
    return this.known && (t >= this.start || !this.before) && (t <= this.end || !this.after);
  }

  /** Forgets everything: another question is asked from now on. */
  clear(): void {
    this.#control.abort();
    this.#control = new AbortController();
    this.#busy = false;
    this.#next = null;
    this.rows = [];
    this.before = this.after = this.known = this.loading = false;
    this.error = null;
  }

  /** Rows around a time, in place of all others. */
  async around(t: number): Promise<void> {
    if (this.#busy) {
      this.#next = t;
      return;
    }
    await this.#run(async (signal) => {
      const [earlier, later] = await Promise.all([this.#ask(t, true, signal), this.#ask(t, false, signal)]);
      if (signal.aborted) return;
      this.rows = [...earlier.rows, ...later.rows];
      this.before = earlier.more;
      this.after = later.more;
      this.start = earlier.reached ?? (earlier.more ? (earlier.rows[0]?.time ?? t) : -Infinity);
      this.end = later.reached ?? later.rows.at(-1)?.time ?? t;
      this.known = true;
    });
  }

  /** The rows beyond one end. */
  async extend(back: boolean): Promise<void> {
    if (this.#busy || !this.known || !(back ? this.before : this.after)) return;
    await this.#run((signal) => this.#extend(back, signal));
  }

  /** Whether anything came behind the last row since. */
  async renew(): Promise<void> {
    if (this.#busy || !this.known || this.after) return;
    await this.#run((signal) => this.#extend(false, signal));
  }

  async #extend(back: boolean, signal: AbortSignal): Promise<void> {
    const outermost = back ? this.rows[0] : this.rows.at(-1);
    const edge = back ? this.start : this.end;
    // From the outermost row on, which then comes again: others may share its time.
    const shared = outermost !== undefined && outermost.time === edge;
    let page = await this.#ask(back && shared ? edge + TICK : edge, back, signal);
    if (signal.aborted) return;
    const join = back ? joinBefore : joinAfter;
    let rows = join(this.rows, page.rows);
    if (rows.length === this.rows.length && page.more && page.reached === undefined) {
      // More rows share one time than fit on a page: the rest is skipped.
      page = await this.#ask(back ? edge : edge + TICK, back, signal);
      if (signal.aborted) return;
      rows = join(this.rows, page.rows);
    }
    const reached = page.reached ?? (back ? page.rows[0]?.time : page.rows.at(-1)?.time) ?? edge;
    if (back) {
      this.before = page.more;
      this.start = page.more ? reached : -Infinity;
      if (rows.length > MOST) {
        rows = rows.slice(0, MOST);
        this.after = true;
        this.end = rows.at(-1)?.time ?? this.end;
      }
    } else {
      this.after = page.more;
      this.end = Math.max(reached, this.end);
      if (rows.length > MOST) {
        rows = rows.slice(rows.length - MOST);
        this.before = true;
        this.start = rows[0]?.time ?? this.start;
      }
    }
    this.rows = rows;
  }

  async #run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#control;
    this.#busy = true;
    this.loading = true;
    try {
      await work(signal);
      if (!signal.aborted) this.error = null;
    } catch (reason) {
      if (signal.aborted) return;
      this.error = {
        message: messageOf(reason),
        help: reason instanceof ApiError ? reason.help : null,
      };
      // Nobody wants the same error again and again.
      this.known = true;
      this.before = this.after = false;
    }
    if (signal.aborted) return;
    this.#busy = false;
    this.loading = false;
    const next = this.#next;
    this.#next = null;
    if (next !== null && !this.covers(next)) await this.around(next);
  }
}

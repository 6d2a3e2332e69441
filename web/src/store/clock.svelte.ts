/** The one clock of the window: what is visible, where the cursor is, what plays. All times are session time. */

const SHORTEST = 1e-6;

export type Edge = "before" | "after";

class Clock {
  /** The range of the logs, with stragglers that were opened. */
  first = $state(0);
  last = $state(1);
  /** How far stragglers reach that are opened; nothing while they are folded. */
  opened = $state.raw<Record<Edge, number | null>>({ before: null, after: null });
  #bounds = { first: 0, last: 1 };
  /** The visible range, shared by all views over time. */
  start = $state(0);
  end = $state(1);
  /** The moment that views show. */
  cursor = $state(0);
  /** A second moment to measure from, or nothing. */
  mark = $state<number | null>(null);
  /** The moment under the pointer, or nothing. */
  hover = $state<number | null>(null);
  /** The selected range: for statistics, for loops, for exports. */
  selection = $state<{ start: number; end: number } | null>(null);
  playing = $state(false);
  speed = $state(1);
  loop = $state(false);
  /** Whether the newest data is followed. */
  following = $state(false);
  /** Whether any log is live. */
  live = $state(false);

  readonly span = $derived(this.end - this.start);

  /** The range of the logs is another one. */
  setBounds(first: number, last: number): void {
    const whole = this.start <= this.first && this.end >= this.last;
    this.#bounds = { first, last };
    this.first = Math.min(first, this.opened.before ?? first);
    this.last = Math.max(last, this.opened.after ?? last, this.first + SHORTEST);
    if (this.following) this.#follow();
    else if (whole && !this.live) this.show(this.first, this.last);
  }

  /** Opens the stragglers at an edge, which reach as far as `to`; or folds them again. */
  open(edge: Edge, to: number | null): void {
    this.opened = { ...this.opened, [edge]: to };
    this.setBounds(this.#bounds.first, this.#bounds.last);
    if (this.cursor < this.first || this.cursor > this.last) this.seek(this.cursor);
    this.showAll();
  }

  /** Shows a range. */
  show(start: number, end: number): void {
    if (!Number.isFinite(start) || !Number.isFinite(end)) return;
    const span = Math.max(end - start, SHORTEST);
    const middle = (start + end) / 2;
    this.start = span === end - start ? start : middle - span / 2;
    this.end = this.start + span;
  }

  showAll(): void {
    this.show(this.first, this.last);
  }

  /** Makes the visible range `factor` times as long; the moment `around` stays where it is. */
  zoom(factor: number, around: number = this.cursor): void {
    const longest = (this.last - this.first) * 4;
    const span = Math.min(Math.max(this.span * factor, SHORTEST), Math.max(longest, SHORTEST));
    const part = (around - this.start) / this.span;
    this.show(around - part * span, around + (1 - part) * span);
  }

  pan(by: number): void {
    this.following = false;
    this.show(this.start + by, this.end + by);
  }

  /** Puts the cursor somewhere and, unless `still`, brings it into sight. */
  seek(t: number, still = false): void {
    this.following = false;
    this.cursor = Math.min(Math.max(t, this.first), this.last);
    if (!still) this.#reveal();
  }

  /** Selects from a moment on: to the end of the selection, or of the logs where that is not behind it. */
  selectFrom(t: number = this.cursor): void {
    const end = this.selection && this.selection.end > t ? this.selection.end : this.last;
    if (end > t) this.selection = { start: Math.max(t, this.first), end };
  }

  /** Selects up to a moment. */
  selectTo(t: number = this.cursor): void {
    const start = this.selection && this.selection.start < t ? this.selection.start : this.first;
    if (start < t) this.selection = { start, end: Math.min(t, this.last) };
  }

  /** Moves the cursor by steps of 20 ms, the period of a robot's loop. */
  step(steps: number): void {
    this.playing = false;
    this.seek(this.cursor + steps * 0.02);
  }

  toggle(): void {
    if (this.playing) this.playing = false;
    else this.play();
  }

  play(): void {
    const [start, end] = this.#stretch();
    if (this.cursor >= end || this.cursor < start) this.cursor = start;
    this.following = false;
    this.playing = true;
  }

  /** Time went by, in seconds of the wall. */
  advance(by: number): void {
    if (!this.playing) return;
    const [start, end] = this.#stretch();
    let next = this.cursor + by * this.speed;
    if (next >= end) {
      if (this.loop && end > start) next = start + ((next - start) % (end - start));
      else {
        next = end;
        this.playing = this.live && !this.selection;
      }
    }
    this.cursor = next;
    this.#reveal();
  }

  /** Follows the newest data, or stops to. */
  lock(on: boolean = !this.following): void {
    this.following = on && this.live;
    if (this.following) {
      this.playing = false;
      this.#follow();
    }
  }

  /** What plays: the selection if it is looped, else everything. */
  #stretch(): [number, number] {
    return this.loop && this.selection ? [this.selection.start, this.selection.end] : [this.first, this.last];
  }

  #follow(): void {
    const span = this.span;
    this.cursor = this.last;
    this.show(this.last - span, this.last);
  }

  #reveal(): void {
    if (this.cursor < this.start || this.cursor > this.end) {
      const span = this.span;
      const start = this.cursor > this.end ? this.cursor - span * 0.1 : this.cursor - span * 0.9;
      this.show(start, start + span);
    }
  }
}

export const clock = new Clock();

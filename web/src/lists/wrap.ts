/** Texts of a proportional font in lines, so that the height of a row is known before it is drawn. */

import { formatTime } from "../values/format";

/** Breaks a text behind blanks into lines at most so wide; a word that is wider than a line is broken anywhere. */
export function wrapped(text: string, width: number, measure: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    let current = "";
    for (const word of line.split(/(?<=\s)/)) {
      if (measure((current + word).trimEnd()) <= width) {
        current += word;
        continue;
      }
      if (current) lines.push(current.trimEnd());
      current = word;
      while (current.length > 1 && measure(current.trimEnd()) > width) {
        const fits = fitting(current, width, measure);
        lines.push(current.slice(0, fits));
        current = current.slice(fits);
      }
    }
    lines.push(current.trimEnd());
  }
  return lines;
}

/** The width of a column of times from `first` to `last`, in the small font of fixed width. */
export function timeColumn(first: number | undefined, last: number | undefined, least: number): number {
  const letters = [first, last].map((t) => (t === undefined ? 0 : formatTime(t).length));
  return Math.max(least, Math.ceil(Math.max(...letters) * 7.3));
}

/** How many letters fit on a line; at least one. */
function fitting(text: string, width: number, measure: (text: string) => number): number {
  let [low, high] = [1, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(text.slice(0, middle)) <= width) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Breaks texts for lists: what was measured once is kept until the width is another one. */
export class Wrapper {
  readonly #context = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
  #width = NaN;
  #known = new Map<string, string[]>();

  constructor(private readonly font: () => string) {}

  lines(text: string, width: number): string[] {
    if (width !== this.#width) {
      this.#width = width;
      this.#known = new Map();
    }
    let lines = this.#known.get(text);
    if (!lines) {
      const context = this.#context;
      if (context) context.font = this.font();
      lines = wrapped(text, Math.max(width, 40), (part) => context?.measureText(part).width ?? part.length * 7);
      this.#known.set(text, lines);
    }
    return lines;
  }
}

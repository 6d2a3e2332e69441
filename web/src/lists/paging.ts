/** Rows that come in pages, in both directions of time. */

/** Something that stands at a time. */
export interface Timed {
  time: number;
}

/** An answer: rows in the order of time, and whether there are others beyond. */
export interface Page<R> {
  rows: R[];
  more: boolean;
  /** How far was looked, where that is further than the outermost row. */
  reached?: number;
}

/** The smallest time step of the server. */
export const TICK = 1e-9;

/** How many rows stand at or before a time. */
export function upTo(rows: readonly Timed[], t: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.time ?? Infinity) <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Rows and those of a page that was asked for from the time of the last one on: several rows may share a time, and a page may
 * end between them, so the ones that are known come again and are left out.
 */
export function joinAfter<R extends Timed>(rows: R[], page: R[]): R[] {
  const last = rows.at(-1);
  if (!last) return page;
  let known = 0;
  while (known < rows.length && rows[rows.length - 1 - known]?.time === last.time) known++;
  let skip = 0;
  while (skip < page.length && skip < known && (page[skip]?.time ?? Infinity) <= last.time) skip++;
  return [...rows, ...page.slice(skip)];
}

/** The same towards the past: the page has rows at or before the time of the first one. */
export function joinBefore<R extends Timed>(rows: R[], page: R[]): R[] {
  const first = rows[0];
  if (!first) return page;
  let known = 0;
  while (known < rows.length && rows[known]?.time === first.time) known++;
  let end = page.length;
  while (end > 0 && page.length - end < known && (page[end - 1]?.time ?? -Infinity) >= first.time) end--;
  return [...page.slice(0, end), ...rows];
}

/** How text is sought: without regard to case, or between slashes as a regular expression. Nothing if that is none. */
export function seeker(text: string): ((within: string) => boolean) | null {
  const expression = expressionOf(text);
  if (expression === null) return null;
  if (!text) return () => true;
  return (within) => {
    expression.lastIndex = 0;
    return expression.test(within);
  };
}

/** The same as one expression, for all places. */
export function expressionOf(text: string): RegExp | null {
  const between = /^\/(.+)\/$/.exec(text)?.[1];
  try {
    return new RegExp(between ?? text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  } catch {
    return null;
  }
}

/** A text in pieces, those that were sought marked. */
export function marked(text: string, sought: RegExp | null): { text: string; hit: boolean }[] {
  if (!sought) return [{ text, hit: false }];
  const pieces: { text: string; hit: boolean }[] = [];
  let end = 0;
  sought.lastIndex = 0;
  for (const match of text.matchAll(sought)) {
    if (match[0] === "") continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), hit: false });
    pieces.push({ text: match[0], hit: true });
    end = match.index + match[0].length;
  }
  if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), hit: false });
  return pieces;
}

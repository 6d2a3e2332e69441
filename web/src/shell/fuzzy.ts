/** Searching as people type: letters in order, better where words begin and where letters stay together. */

export interface Match {
  score: number;
  /** Which characters were meant, in order. */
  places: number[];
}

const MATCH = 16;
const TOGETHER = 7;
const BOUNDARY = 9;
const CAMEL = 8;
const GAP_OPENS = 4;
const GAP_GOES_ON = 1;
/** A match of scattered letters below this part of a good one is none. */
const LEAST = 0.62;
/** Results far worse than the best one are only in the way. */
const WORST = 0.6;

const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code > 127;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isUpper = (code: number): boolean => code >= 65 && code <= 90;

/** How much it is worth to match the character at a place. */
function bonusAt(text: string, place: number): number {
  if (place === 0) return BOUNDARY;
  const [before, here] = [text.charCodeAt(place - 1), text.charCodeAt(place)];
  if (!isLetter(before) && !isDigit(before)) return BOUNDARY;
  if (isUpper(here) && !isUpper(before)) return CAMEL;
  if (isDigit(here) && !isDigit(before)) return CAMEL;
  return 0;
}

/** One bit for each letter and digit, to tell quickly that something is missing. */
export function maskOf(lower: string): number {
  let mask = 0;
  for (let place = 0; place < lower.length; place++) {
    const code = lower.charCodeAt(place);
    if (code >= 97 && code <= 122) mask |= 1 << (code - 97);
    else if (isDigit(code)) mask |= 1 << (26 + ((code - 48) % 6));
  }
  return mask;
}

/** The best way to find the letters of `term`, which is in lower case, within a text. */
export function fuzzy(term: string, text: string, lower: string = text.toLowerCase()): Match | null {
  if (!term) return { score: 0, places: [] };
  // In some languages letters change their number with their case; then places would be wrong.
  const hay = lower.length === text.length ? lower : text;
  let from = 0;
  for (let place = 0; place < term.length; place++) {
    from = hay.indexOf(term.charAt(place), from) + 1;
    if (from === 0) return null;
  }
  const match = align(term, text, hay);
  return match.score >= LEAST * term.length * (MATCH + TOGETHER) ? match : null;
}

/** Dynamic programming: the best score that ends with letter i of the term at place j of the text. */
function align(term: string, text: string, hay: string): Match {
  const [rows, columns] = [term.length, hay.length];
  const ends = new Float64Array(rows * columns).fill(-Infinity);
  const origin = new Int32Array(rows * columns).fill(-1);
  for (let row = 0; row < rows; row++) {
    const letter = term.charCodeAt(row);
    // The best end of the row before with the gap up to here, and where it is.
    let carried = -Infinity;
    let carriedFrom = -1;
    for (let column = row; column < columns; column++) {
      if (row > 0 && column > 1) {
        carried -= GAP_GOES_ON;
        const candidate = (ends[(row - 1) * columns + column - 2] ?? -Infinity) - GAP_OPENS;
        if (candidate > carried) {
          carried = candidate;
          carriedFrom = column - 2;
        }
      }
      if (hay.charCodeAt(column) !== letter) continue;
      const bonus = bonusAt(text, column);
      const here = row * columns + column;
      if (row === 0) {
        ends[here] = MATCH + bonus;
        continue;
      }
      const neighbour = column > 0 ? (ends[(row - 1) * columns + column - 1] ?? -Infinity) + TOGETHER : -Infinity;
      const best = Math.max(neighbour, carried);
      if (best === -Infinity) continue;
      ends[here] = best + MATCH + bonus;
      origin[here] = neighbour >= carried ? column - 1 : carriedFrom;
    }
  }
  let end = -1;
  let score = -Infinity;
  // Of equal ones the last: names say what is meant at their end.
  for (let column = 0; column < columns; column++) {
    const value = ends[(rows - 1) * columns + column] ?? -Infinity;
    if (value >= score) {
      score = value;
      end = column;
    }
  }
  const places: number[] = new Array<number>(rows);
  for (let row = rows - 1; row >= 0; row--) {
    places[row] = end;
    end = origin[row * columns + end] ?? -1;
  }
  return { score, places };
}

/** Something to be found. */
export interface Candidate {
  text: string;
  lower: string;
  mask: number;
  /** Further words that lead to it, in lower case: types, units. Their letters are not marked. */
  extra: string;
}

export function candidate(text: string, extra = ""): Candidate {
  const lower = text.toLowerCase();
  return { text, lower, mask: maskOf(lower), extra: extra.toLowerCase() };
}

export const termsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

/** Every word of a query must be found, in whatever order. */
export function matchAll(terms: string[], masks: number[], item: Candidate): Match | null {
  let score = 0;
  const places = new Set<number>();
  for (let place = 0; place < terms.length; place++) {
    const term = terms[place] ?? "";
    const mask = masks[place] ?? 0;
    const found = (mask & item.mask) === mask ? fuzzy(term, item.text, item.lower) : null;
    const extra = item.extra && item.extra.includes(term) ? term.length * MATCH : 0;
    if (!found && !extra) return null;
    score += Math.max(found?.score ?? 0, extra);
    for (const one of found?.places ?? []) places.add(one);
  }
  // Among equals the shorter name is the one that was meant.
  return { score: score - item.text.length * 0.05, places: [...places].sort((a, b) => a - b) };
}

export interface Ranked<T> {
  item: T;
  match: Match;
}

/** The items that a query finds, the best first. */
export function search<T extends Candidate>(query: string, items: Iterable<T>, most = 1000): Ranked<T>[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const masks = terms.map(maskOf);
  const found: Ranked<T>[] = [];
  let best = 0;
  for (const item of items) {
    const match = matchAll(terms, masks, item);
    if (!match) continue;
    best = Math.max(best, match.score);
    found.push({ item, match });
  }
  return found
    .filter(({ match }) => match.score >= best * WORST)
    .sort((a, b) => b.match.score - a.match.score)
    .slice(0, most);
}

/** A text in pieces, marked and not, for showing. */
export function pieces(text: string, places: number[]): { text: string; marked: boolean }[] {
  const cut: { text: string; marked: boolean }[] = [];
  const marks = new Set(places);
  for (let place = 0; place < text.length; place++) {
    const marked = marks.has(place);
    const last = cut.at(-1);
    if (last && last.marked === marked) last.text += text.charAt(place);
    else cut.push({ text: text.charAt(place), marked });
  }
  return cut;
}

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

/** One bit for each letter and digit, to rule out candidates quickly. */
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
  const match = whole(term, text, hay, true) ?? align(term, text, hay) ?? whole(term, text, hay, false);
  return match && match.score >= LEAST * term.length * (MATCH + TOGETHER) ? match : null;
}

/**
 * The term in one piece. At the beginning of a word there is hardly anything better, and it is quickly found; within a word it
 * is better than nothing.
 */
function whole(term: string, text: string, hay: string, atWord: boolean): Match | null {
  let score = -Infinity;
  let start = -1;
  for (let at = hay.indexOf(term); at >= 0; at = hay.indexOf(term, at + 1)) {
    if (atWord && bonusAt(text, at) === 0) continue;
    let sum = term.length * (MATCH + TOGETHER) - TOGETHER;
    for (let place = at; place < at + term.length; place++) sum += bonusAt(text, place);
    if (sum >= score) {
      score = sum;
      start = at;
    }
  }
  return start < 0 ? null : { score, places: Array.from({ length: term.length }, (_, place) => start + place) };
}

// Kept from one call to the next: there are many.
let ends = new Float64Array(0);
let origin = new Int32Array(0);

/**
 * Dynamic programming: the best score that ends with letter i of the term at place j of the text. Letters that do not stay
 * together begin words, or go on in the word of the letter before: `vel` is not in `Drive/Module`. Nothing if there is no way.
 */
function align(term: string, text: string, hay: string): Match | null {
  const [rows, columns] = [term.length, hay.length];
  const size = rows * columns;
  if (ends.length < size) {
    ends = new Float64Array(size * 2);
    origin = new Int32Array(size * 2);
  }
  ends.fill(-Infinity, 0, size);
  for (let row = 0; row < rows; row++) {
    const letter = term.charCodeAt(row);
    // The best end of the row before with the gap up to here, and where it is; and the best one within this word.
    let [carried, carriedFrom, inWord, inWordFrom] = [-Infinity, -1, -Infinity, -1];
    for (let column = row; column < columns; column++) {
      const bonus = bonusAt(text, column);
      if (row > 0 && column > 1) {
        carried -= GAP_GOES_ON;
        inWord -= GAP_GOES_ON;
        const candidate = (ends[(row - 1) * columns + column - 2] ?? -Infinity) - GAP_OPENS;
        if (candidate > carried) [carried, carriedFrom] = [candidate, column - 2];
        // A word that begins between the two ends the one before.
        if (bonusAt(text, column - 1) > 0) inWord = -Infinity;
        else if (candidate > inWord) [inWord, inWordFrom] = [candidate, column - 2];
      }
      if (hay.charCodeAt(column) !== letter) continue;
      const here = row * columns + column;
      if (row === 0) {
        if (bonus > 0) ends[here] = MATCH + bonus;
        continue;
      }
      const neighbour = column > 0 ? (ends[(row - 1) * columns + column - 1] ?? -Infinity) + TOGETHER : -Infinity;
      const [gap, gapFrom] = bonus > 0 ? [carried, carriedFrom] : [inWord, inWordFrom];
      const best = Math.max(neighbour, gap);
      if (best === -Infinity) continue;
      ends[here] = best + MATCH + bonus;
      origin[here] = neighbour >= gap ? column - 1 : gapFrom;
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
  if (end < 0 || score === -Infinity) return null;
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

/**
 * Every word of a query must be found, in whatever order; 0 if one is not. `places` takes the characters that were
 * meant.
 */
function matchAll(terms: string[], masks: number[], item: Candidate, places?: Set<number>): number {
  let score = 0;
  for (let place = 0; place < terms.length; place++) {
    const term = terms[place] ?? "";
    const mask = masks[place] ?? 0;
    const found = (mask & item.mask) === mask ? fuzzy(term, item.text, item.lower) : null;
    const extra = item.extra && item.extra.includes(term) ? term.length * MATCH : 0;
    if (!found && !extra) return 0;
    score += Math.max(found?.score ?? 0, extra);
    if (places && found) for (const one of found.places) places.add(one);
  }
  // Among equals the shorter name is the one that was meant.
  return Math.max(score - item.text.length * 0.05, Number.MIN_VALUE);
}

export interface Ranked<T> {
  item: T;
  match: Match;
}

/** The items that a query finds, the best first. */
export function search<T extends Candidate>(query: string, items: T[], most = 1000): Ranked<T>[] {
  const terms = termsOf(query);
  if (terms.length === 0) return [];
  const masks = terms.map(maskOf);
  const scores = new Float64Array(items.length);
  items.forEach((item, place) => (scores[place] = matchAll(terms, masks, item)));
  // Only as many as are shown are put in order; of equal ones at the end some are left out.
  const sorted = scores.slice().sort();
  const best = sorted.at(-1) ?? 0;
  if (best === 0) return [];
  const threshold = Math.max(best * WORST, sorted[Math.max(sorted.length - most, 0)] ?? 0);
  const found: Ranked<T>[] = [];
  items.forEach((item, place) => {
    const score = scores[place] ?? 0;
    if (score >= threshold && score > 0) found.push({ item, match: { score, places: [] } });
  });
  found.sort((a, b) => b.match.score - a.match.score);
  return found.slice(0, most).map(({ item, match }) => {
    const places = new Set<number>();
    matchAll(terms, masks, item, places);
    return { item, match: { score: match.score, places: [...places].sort((a, b) => a - b) } };
  });
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

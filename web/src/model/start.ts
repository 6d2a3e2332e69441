/** Where the cursor begins. */

/** The part of a log in which the first values are waited for. */
const LATEST = 0.75;

interface Stretch {
  start: number;
  end: number;
}

/**
 * The moment that is shown first: the start of the log, or of its first enabled stretch, and from there on to where all
 * that is shown has its first value. `starts` are the times of these; what only comes much later is not waited for.
 */
export function firstMoment(whole: Stretch, enabled: Stretch | undefined, starts: readonly number[]): number {
  const from = enabled?.start ?? whole.start;
  const until = enabled?.end ?? whole.start + (whole.end - whole.start) * LATEST;
  return Math.max(from, ...starts.filter((start) => start <= until));
}

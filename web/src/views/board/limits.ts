/** The limits of a board, as seen in its log: where pushback started, and the max current. */

import { postPixels, postStates, postValues } from "../../api";
import type { Reference } from "../../api";

export interface Seen {
  /** The duty at which the board first pushed back. */
  pushbackDuty: number | null;
  /** The max motor current, requested or measured. */
  current: number | null;
}

const WIDTH = 2000;

/** Searches a time range of a log; costs three small requests. */
export async function seenIn(
  start: number,
  end: number,
  parts: { duty?: Reference | undefined; adjustment?: Reference | undefined; currents: Reference[] },
): Promise<Seen> {
  const seen: Seen = { pushbackDuty: null, current: null };
  if (parts.currents.length > 0) {
    const traces = await postPixels({ start, end, width: 1, series: parts.currents });
    const sizes = traces.flatMap(({ series_min: low, series_max: high }) => [Math.abs(low ?? 0), Math.abs(high ?? 0)]);
    const greatest = Math.max(...sizes.filter(Number.isFinite));
    if (greatest > 0) seen.current = greatest;
  }
  if (parts.duty && parts.adjustment) {
    const [states] = await postStates({ start, end, width: WIDTH, series: [parts.adjustment] });
    const label = states?.labels.indexOf("duty pushback") ?? -1;
    const run = states?.runs.find(([, , which], at) => which === label && at > 0);
    if (run && label >= 0) {
      const [held] = await postValues({ time: run[0], series: [parts.duty] });
      if (typeof held?.value === "number" && held.value !== 0) seen.pushbackDuty = Math.abs(held.value);
    }
  }
  return seen;
}

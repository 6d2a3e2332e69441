/** A series of poses, as views of space keep it. */

import { seriesRef, type SeriesRef } from "../model/series";
import { LAYOUTS, PLAIN, type Layout, type Reading } from "./poses";
import { flag, oneOf, record, within } from "../model/config";

export interface PoseSource {
  ref: SeriesRef;
  /** Which of the colours of series. */
  color: number;
  /** How lists of numbers are read. */
  reading: Reading;
  hidden: boolean;
}

/** Reads one from a stored configuration; `null` if it names no series. */
export function poseSource(data: unknown): PoseSource | null {
  const fields = record(data);
  const ref = seriesRef(fields["ref"]);
  if (!ref) return null;
  const reading = record(fields["reading"]);
  return {
    ref,
    color: Math.round(within(fields["color"], 0, 9, 0)),
    reading: {
      layout: oneOf(reading["layout"], Object.keys(LAYOUTS) as Layout[], PLAIN.layout),
      degrees: flag(reading["degrees"], false),
      inches: flag(reading["inches"], false),
    },
    hidden: flag(fields["hidden"], false),
  };
}

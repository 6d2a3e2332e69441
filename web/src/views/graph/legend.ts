/** What the legend says of a series. */

import type { Held, Stats } from "../../api";
import { formatNumber } from "../../values/format";
import type { Item } from "./model.svelte";

export interface Reading {
  text: string;
  /** As the log has it; also where `text` is rounded or converted. */
  exact: string;
  /** On its axis, for differences. */
  value: number | null;
}

const NONE: Reading = { text: "–", exact: "", value: null };

/** A value for people: the value in the log, in the unit of the axis, after the filter. */
export function readingOf(
  item: Pick<Item, "row" | "factor" | "offset" | "series">,
  held: Held | null,
  made: { value: number; exact: boolean } | null,
): Reading {
  if (item.series.filter !== "none" && !item.row) {
    if (!made) return NONE;
    const text = formatNumber(made.value);
    return { text: made.exact ? text : `≈ ${text}`, exact: "", value: made.value };
  }
  if (!held) return NONE;
  const number = numberOf(held.value);
  if (item.row || number === null) return { text: held.text, exact: held.text, value: null };
  const value = number * item.factor + item.offset;
  return { text: formatNumber(value), exact: held.text, value };
}

/** A number as the server sends it. */
export function numberOf(value: Held["value"]): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === "NaN") return NaN;
  if (value === "Infinity" || value === "-Infinity") return value === "Infinity" ? Infinity : -Infinity;
  return null;
}

/** Statistics in the unit of the axis. They are of the values in the log, so a filtered series has none. */
export function statOf(
  item: Pick<Item, "row" | "factor" | "offset" | "series">,
  stats: Stats | null,
): Pick<Stats, "min" | "max" | "mean" | "stddev"> | null {
  const { factor, offset } = item;
  if (!stats || item.row || item.series.filter !== "none") return null;
  const onAxis = (value: number | null) => (value === null ? null : value * factor + offset);
  const [low, high] = factor < 0 ? [stats.max, stats.min] : [stats.min, stats.max];
  return {
    min: onAxis(low),
    max: onAxis(high),
    mean: onAxis(stats.mean),
    stddev: stats.stddev === null ? null : stats.stddev * Math.abs(factor),
  };
}

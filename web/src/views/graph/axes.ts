/** Which series share an axis, in which unit it is drawn and over which range. */

import { conversion, measureOf, rateOf, SAME, sumOf } from "../../values/units";
import type { Conversion } from "../../values/units";
import type { AxisConfig, Filter, Side } from "./config";

/** What an axis needs to know of a series. */
export interface Placed {
  side: Side;
  /** The unit of what is drawn, behind its filter. */
  unit: string;
  shown: boolean;
}

export interface Axis {
  /** `left:voltage`, its key in the configuration. */
  key: string;
  side: "left" | "right";
  /** What it is drawn in. */
  unit: string;
  /** Units of its series, the first one first. */
  units: string[];
  /** Places of its series. */
  series: number[];
  log: boolean;
  /** The fixed range, if there is one. */
  range: [number, number] | null;
  /** Whether any of its series is visible. */
  shown: boolean;
}

/** The unit of what is drawn. */
export function unitBehind(filter: Filter, unit: string): string {
  return filter === "derivative" ? rateOf(unit) : filter === "integral" ? sumOf(unit) : unit;
}

/**
 * One axis for each side and measure. Those without a chosen side go left and right in turn, in the order in which
 * measures appear, so that two units make the usual graph with two axes.
 */
export function assignAxes(series: readonly (Placed | null)[], configs: Record<string, AxisConfig>): Axis[] {
  const axes = new Map<string, Axis>();
  const sides = new Map<string, "left" | "right">();
  series.forEach((one, place) => {
    if (!one) return;
    const measure = measureOf(one.unit);
    let side = one.side === "auto" ? sides.get(measure) : one.side;
    if (!side) {
      side = sides.size % 2 === 0 ? "left" : "right";
      sides.set(measure, side);
    }
    const key = `${side}:${measure}`;
    let axis = axes.get(key);
    if (!axis) {
      const config = configs[key];
      const unit = config?.unit != null && conversion(one.unit, config.unit) ? config.unit : one.unit;
      axis = {
        key,
        side,
        unit,
        units: [],
        series: [],
        log: config?.log ?? false,
        range: config?.range ?? null,
        shown: false,
      };
      axes.set(key, axis);
    }
    if (!axis.units.includes(one.unit)) axis.units.push(one.unit);
    axis.series.push(place);
    axis.shown ||= one.shown;
  });
  // The left ones first, and of each side in the order in which they came.
  const all = [...axes.values()];
  return [...all.filter((axis) => axis.side === "left"), ...all.filter((axis) => axis.side === "right")];
}

/** How values of a series get onto its axis. */
export function ontoAxis(unit: string, axis: Axis, scale: number, offset: number): Conversion {
  const way = conversion(unit, axis.unit) ?? SAME;
  return { factor: scale * way.factor, offset: offset * way.factor + way.offset };
}

/** A range with room around what is visible; something sensible where all is the same, or nothing is there. */
export function paddedRange(low: number, high: number, log: boolean): [number, number] {
  if (!(low <= high)) return log ? [0.1, 10] : [0, 1];
  if (log) {
    if (high <= 0) return [0.1, 10];
    const least = low > 0 ? low : high / 1e6;
    return least === high ? [least / 2, high * 2] : [least / 1.15, high * 1.15];
  }
  const span = high - low;
  // A line that only trembles in its last digits is a flat line.
  const flat = span <= Math.max(Math.abs(low), Math.abs(high)) * 1e-12;
  const room = flat ? Math.max(Math.abs(high) * 0.1, 0.5) : span * 0.07;
  return [low - room, high + room];
}

/** Which units measure the same, and how to convert between them. The server names units by these symbols. */

import { UNITS } from "../api/units";
import type { UnitFamily } from "../api/units";
import { formatNumeral } from "./format";

const PLACES = new Map<string, { family: UnitFamily; known: UnitFamily["units"][number] }>();
for (const family of UNITS) for (const known of family.units) PLACES.set(known.symbol, { family, known });

/** Units that measure the same, itself among them; only itself where we know none. */
export function kin(symbol: string): string[] {
  return symbol === "" ? [""] : (PLACES.get(symbol)?.family.units.map((known) => known.symbol) ?? [symbol]);
}

/** What a unit measures: series with the same one fit on one axis. Of an unknown unit its own symbol. */
export const measureOf = (symbol: string): string => (symbol === "" ? "" : (PLACES.get(symbol)?.family.name ?? symbol));

/** How values get from one unit to another: `value × factor + offset`. `null` where the units do not match. */
export interface Conversion {
  factor: number;
  offset: number;
}

export const SAME: Conversion = { factor: 1, offset: 0 };

export function conversion(from: string, to: string): Conversion | null {
  if (from === to) return SAME;
  const [a, b] = [PLACES.get(from), PLACES.get(to)];
  if (!a || !b || a.family !== b.family) return null;
  return { factor: a.known.factor / b.known.factor, offset: (a.known.offset - b.known.offset) / b.known.factor };
}

/** A value in another unit; unchanged where the units do not match. */
export function convert(value: number, from: string, to: string): number {
  const way = conversion(from, to);
  return way ? value * way.factor + way.offset : value;
}

/** A value's unit in the log, and the one in which people read it. */
export interface Measured {
  unit: string | null;
  shown: string | null;
}

/** The unit in which people read a value. */
export const unitShown = ({ unit, shown }: Measured): string =>
  shown !== null && conversion(unit ?? "", shown) ? shown : (unit ?? "");

/** A number that the log wrote as text, in the unit in which people read it, to its last digit: for tooltips and copies. */
export function exactShown(text: string, measured: Measured | null | undefined): string {
  const way = measured && conversion(measured.unit ?? "", unitShown(measured));
  if (!way || way === SAME || text.trim() === "" || Number.isNaN(Number(text))) return text;
  // Without the digits that only come from the conversion.
  return String(Number((Number(text) * way.factor + way.offset).toPrecision(15)));
}

/** The same with six significant digits. */
export const numeralShown = (text: string, measured: Measured | null | undefined): string =>
  formatNumeral(exactShown(text, measured));

/** The unit of how fast something in `symbol` changes: of m it is m/s. */
export function rateOf(symbol: string): string {
  const known: Record<string, string> = { "m/s": "m/s²", "rad/s": "rad/s²", "°/s": "°/s²", "rot/s": "rot/s²", J: "W" };
  return symbol === "" ? "1/s" : symbol === "s" ? "" : (known[symbol] ?? `${symbol}/s`);
}

/** The unit of something in `symbol` summed up over time: of m/s it is m. */
export function sumOf(symbol: string): string {
  if (symbol === "") return "s";
  if (symbol === "W") return "J";
  if (symbol.endsWith("/s²")) return symbol.slice(0, -1);
  if (symbol.endsWith("/s")) return symbol.slice(0, -2);
  return `${symbol}·s`;
}

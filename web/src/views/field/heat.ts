/** Where a robot spent its time: a grid of seconds, and its colours. */

import type { Size } from "../../field/kinds";

/** Longer steps between samples are gaps and count as this, in seconds. */
const LONGEST = 0.5;

export interface Heat {
  columns: number;
  rows: number;
  /** Seconds in each cell, spread over its neighbours; rows from y = 0 up. */
  cells: Float32Array;
  most: number;
  seconds: number;
}

/** Counts the time near each place of the field. Cells are squares of `cell` metres. */
export function heatOf(
  t: Float64Array,
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  size: Size,
  end: number,
  cell = 0.1,
): Heat {
  const columns = Math.max(Math.ceil(size.length / cell), 1);
  const rows = Math.max(Math.ceil(size.width / cell), 1);
  const cells = new Float32Array(columns * rows);
  let seconds = 0;
  for (let place = 0; place < t.length; place++) {
    const column = Math.floor((x[place] ?? NaN) / cell);
    const row = Math.floor((y[place] ?? NaN) / cell);
    const step = Math.min(Math.max((t[place + 1] ?? end) - (t[place] ?? 0), 0), LONGEST);
    if (!(column >= 0 && column < columns && row >= 0 && row < rows)) continue;
    cells[row * columns + column]! += step;
    seconds += step;
  }
  spread(cells, columns, rows, 1, columns);
  spread(cells, rows, columns, columns, 1);
  return { columns, rows, cells, most: cells.reduce((most, value) => Math.max(most, value), 0), seconds };
}

/** A bell over a few cells: it is round when it goes along both directions. */
const BELL = Array.from({ length: 6 }, (_, at) => Math.exp(-(at * at) / (2 * 1.7 * 1.7)));
const BELL_SUM = 2 * BELL.reduce((sum, value) => sum + value) - 1;

/** Spreads along lines of `length` cells that are `step` apart; there are `count` lines, `apart` apart. */
function spread(cells: Float32Array, length: number, count: number, step: number, apart: number): void {
  const line = new Float32Array(length);
  for (let which = 0; which < count; which++) {
    const from = which * apart;
    for (let place = 0; place < length; place++) line[place] = cells[from + place * step] ?? 0;
    for (let place = 0; place < length; place++) {
      let sum = line[place] ?? 0;
      for (let at = 1; at < BELL.length; at++) {
        sum += (BELL[at] ?? 0) * ((line[place - at] ?? 0) + (line[place + at] ?? 0));
      }
      cells[from + place * step] = sum / BELL_SUM;
    }
  }
}

/** Red, green, blue and opacity, 0 to 255, for 256 steps from nothing to the most. */
export function ramp(colors: string[]): Uint8ClampedArray {
  const stops = colors.map(lab);
  const table = new Uint8ClampedArray(256 * 4);
  for (let step = 0; step < 256; step++) {
    const at = (step / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const [a, b] = [stops[low] ?? [0, 0, 0], stops[low + 1] ?? [0, 0, 0]];
    const part = at - low;
    const mixed = rgb(a.map((value, place) => value + ((b[place] ?? 0) - value) * part));
    table.set([...mixed, Math.min(step / 40, 1) * 225], step * 4);
  }
  return table;
}

/**
 * The picture of a heat map, one pixel a cell, y up. Small times are lifted so that ways are seen beside resting
 * places.
 */
export function heatPixels(heat: Heat, table: Uint8ClampedArray): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(heat.columns * heat.rows * 4);
  if (heat.most <= 0) return pixels;
  for (let row = 0; row < heat.rows; row++) {
    for (let column = 0; column < heat.columns; column++) {
      const value = (heat.cells[row * heat.columns + column] ?? 0) / heat.most;
      const step = Math.round(value ** 0.45 * 255) * 4;
      const to = ((heat.rows - 1 - row) * heat.columns + column) * 4;
      for (let part = 0; part < 4; part++) pixels[to + part] = table[step + part] ?? 0;
    }
  }
  return pixels;
}

// Colours are mixed in OKLab, where equal steps look equal.

const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
const gamma = (value: number) => (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055);

function lab(hex: string): number[] {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => linear(parseInt(hex.slice(at, at + 2), 16) / 255));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function rgb([lightness = 0, a = 0, b = 0]: number[]): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((value) => Math.round(gamma(Math.min(Math.max(value, 0), 1)) * 255));
}

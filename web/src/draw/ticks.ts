/** Where axes have their ticks. */

import { formatStep, formatTime, TIME_STEPS } from "../values/format";

export interface Ticks {
  at: number[];
  text: string[];
  /** How far they are apart; on a logarithmic axis 0. */
  step: number;
}

/** Ticks at multiples of a round step, not closer to each other than `space` pixels, unless that leaves less than two. */
export function valueTicks(low: number, high: number, pixels: number, space: number): Ticks {
  const most = Math.max(pixels / space, 1);
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const place = ROUND.findIndex((part) => part * power >= rough * 0.999);
  const ticksAt = (step: number): Ticks => {
    const at = multiples(low, high, step);
    return { at, text: at.map((value) => formatStep(value, step)), step };
  };
  const ticks = ticksAt((ROUND[place] ?? 10) * power);
  // One number alone is no scale.
  const finer = (ROUND[place - 1] ?? 0.5) * power;
  return ticks.at.length < 2 && pixels >= space ? ticksAt(finer) : ticks;
}

const ROUND = [1, 2, 2.5, 5, 10];

/** Powers of ten, and steps between them where there is room. */
export function logTicks(low: number, high: number, pixels: number, space: number): Ticks {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const decade = pixels / Math.max(Math.log10(high / low), 1e-9);
  const parts = decade > space * 5 ? [1, 2, 5] : [1];
  const every = Math.max(Math.ceil(space / decade), 1);
  const at: number[] = [];
  for (let power = from; power <= to; power++) {
    if ((power - from) % every !== 0) continue;
    for (const part of parts) {
      const value = Number(`${part}e${power}`);
      if (value >= low && value <= high) at.push(value);
    }
  }
  return {
    at,
    text: at.map((value) => (value >= 1e-3 && value < 1e6 ? String(value) : value.toExponential().replace("+", ""))),
    step: 0,
  };
}

export function timeTicks(start: number, end: number, pixels: number, space: number): Ticks {
  const rough = ((end - start) * space) / Math.max(pixels, 1);
  const place = TIME_STEPS.findIndex((step) => step >= rough);
  let step = TIME_STEPS[place] ?? rough;
  let at = multiples(start, end, step);
  const finer = TIME_STEPS[place - 1] ?? step;
  // The flag of the cursor may cover one of two, and most times are short.
  if (at.length < 3 && (finer / (end - start)) * pixels > space * 0.6) {
    step = finer;
    at = multiples(start, end, step);
  }
  const minutes = Math.max(Math.abs(at[0] ?? 0), Math.abs(at.at(-1) ?? 0)) >= 60;
  return { at, text: at.map((t) => formatTime(t, step, minutes)), step };
}

function multiples(low: number, high: number, step: number): number[] {
  const at: number[] = [];
  const [from, to] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  if (!(to - from < 1000)) return at;
  // By multiplication: adding up would drift. The 0 turns -0 into 0.
  for (let count = from; count <= to; count++) at.push(count * step + 0);
  return at;
}

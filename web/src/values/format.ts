/** Numbers, times and sizes as people read them. */

/**
 * A number with six significant digits: `1.25`, `-0.003`, `2.88889e-6`, `1234568`. fixtures/numbers.md has the rules, and
 * fixtures/numbers.json cases that every implementation passes. What is shown so has its full value in a tooltip.
 */
export const formatNumber = (value: number): string => significant(value, 6);

/** A number that the log wrote as text: whole numbers to their last digit, others with six significant digits. */
export const formatNumeral = (text: string): string =>
  /^-?\d+$/.test(text) || text.trim() === "" || Number.isNaN(Number(text)) ? text : formatNumber(Number(text));

/** The same for a list or a struct that the log wrote as text: long numbers in it are shortened, all else stays. */
export const formatNumerals = (text: string): string =>
  text.replace(/-?\d+\.\d+(?:e[-+]?\d+)?/gi, (numeral) => {
    const short = formatNumber(Number(numeral));
    return numeral.length > 8 && short.length < numeral.length ? short : numeral;
  });

function significant(value: number, digits: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-5) return tidy(value.toExponential(digits - 1));
  if (Number.isInteger(value)) return String(value);
  // Digits before the point; of numbers below 1 it is 0 or less, by the zeros behind the point.
  const before = Number(size.toExponential().split("e")[1]) + 1;
  return tidy(value.toFixed(Math.max(digits - before, 0)));
}

/** A number with as many decimals as steps of `step` need, so that neighbours differ and line up. */
export function formatStep(value: number, step: number): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const size = Math.max(Math.abs(value), Math.abs(step));
  if (size >= 1e9 || (size < 1e-4 && size > 0)) return Math.abs(value) < step / 2 ? "0" : tidy(value.toExponential(4));
  return formatFixed(value, decimals(step));
}

/** A number with so many decimals; what rounds to zero has no sign. */
export function formatFixed(value: number, places: number): string {
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** How many decimals distinguish multiples of `step`. */
export function decimals(step: number): number {
  if (!(step > 0)) return 0;
  for (let count = 0; count < 15; count++) {
    const scaled = step * 10 ** count;
    if (scaled >= 0.999 && Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return count;
  }
  return Math.min(Math.max(Math.ceil(-Math.log10(step)), 0), 15);
}

const PREFIXES: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
];

/** Three or four digits with a prefix: `1.36 MB`, `820 mV`. */
export function formatSi(value: number, unit: string, digits = 3): string {
  if (value === 0 || !Number.isFinite(value)) return `${formatNumber(value)} ${unit}`.trim();
  const size = Math.abs(value);
  const [factor, prefix] = PREFIXES.find(([factor]) => size >= factor * 0.9995) ?? [1e-9, "n"];
  return `${significant(value / factor, digits)} ${prefix}${unit}`.trim();
}

export const formatBytes = (bytes: number): string => formatSi(bytes, "B");

/** A count with commas: `73,573`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 channel`, `43 channels`. */
export const counted = (count: number, what: string): string =>
  `${formatCount(count)} ${what}${count === 1 ? "" : "s"}`;

/**
 * A moment of the session, to the millisecond unless `step` asks for more or less: `12.480`, `1:12.480`, `1:02:03.5`. With
 * `minutes` also what is shorter has some, to stand beside what is longer: `0:12.480`.
 */
export function formatTime(t: number, step = 0.001, minutes = false): string {
  if (!Number.isFinite(t)) return "–";
  const places = Math.min(decimals(Math.min(step, 1)), 9);
  const rounded = Number(Math.abs(t).toFixed(places));
  const sign = t < 0 && rounded > 0 ? "-" : "";
  if (rounded < 60 && !minutes) return sign + rounded.toFixed(places);
  const whole = Math.floor(rounded);
  const part = (rounded - whole).toFixed(places).slice(1);
  const [hours, rest, seconds] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (count: number) => String(count).padStart(2, "0");
  return `${sign}${hours ? `${hours}:${two(rest)}` : rest}:${two(seconds)}${part}`;
}

/** A length of time: `1.2 ms`, `3.25 s`, `2 min 05 s`, `1 h 02 min`. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? "-" : "";
  if (size === 0) return "0 s";
  if (size < 59.9995) {
    if (size >= 0.9995) return `${sign}${significant(size, 4)} s`;
    if (size >= 0.9995e-3) return `${sign}${significant(size * 1e3, 4)} ms`;
    if (size >= 0.9995e-6) return `${sign}${significant(size * 1e6, 4)} µs`;
    return `${sign}${significant(size * 1e9, 4)} ns`;
  }
  const two = (count: number) => String(count).padStart(2, "0");
  const whole = Math.round(size);
  const [days, hours] = [Math.floor(whole / 86400), Math.floor(whole / 3600) % 24];
  const [minutes, rest] = [Math.floor(whole / 60) % 60, whole % 60];
  if (days) return `${sign}${days} d ${two(hours)} h`;
  if (hours) return `${sign}${hours} h ${two(minutes)} min`;
  return `${sign}${minutes} min ${two(rest)} s`;
}

/** The time of day where the reader is, from Unix seconds: `14:22:34.5`. */
export function formatClock(unix: number, step = 0.001): string {
  const date = new Date(unix * 1000);
  if (Number.isNaN(date.getTime())) return "–";
  const two = (count: number) => String(count).padStart(2, "0");
  const places = Math.min(decimals(Math.min(step, 1)), 3);
  const part = places ? `.${String(date.getMilliseconds()).padStart(3, "0").slice(0, places)}` : "";
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${part}`;
}

/** Steps that read well on an axis of times, in seconds. */
export const TIME_STEPS: number[] = (() => {
  const steps: number[] = [];
  for (let power = -9; power < 0; power++) for (const step of [1, 2, 5]) steps.push(Number(`${step}e${power}`));
  return [
    ...steps,
    ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200],
    ...[86400, 172800, 604800, 2592000, 31536000],
  ];
})();

function tidy(text: string): string {
  const [number = "", power] = text.split("e");
  const short = number.includes(".") ? number.replace(/\.?0+$/, "") : number;
  return power === undefined ? short : `${short}e${power.replace("+", "")}`;
}

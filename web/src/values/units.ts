/** Units: their spellings, which of them measure the same, and how to convert between those. */

/** A unit that we know: `value × factor + offset` is in the family's first unit. */
interface Unit {
  symbol: string;
  factor: number;
  offset: number;
  words: string[];
}

interface Family {
  /** What is measured. */
  name: string;
  units: Unit[];
}

const unit = (symbol: string, factor: number, words: string[] = [], offset = 0): Unit => ({
  symbol,
  factor,
  offset,
  words,
});

const TURN = 2 * Math.PI;
const INCH = 0.0254;

const FAMILIES: Family[] = [
  {
    name: "length",
    units: [
      unit("m", 1, ["meter", "meters", "metre", "metres"]),
      unit("cm", 0.01, ["centimeter", "centimeters", "centimetres"]),
      unit("mm", 0.001, ["millimeter", "millimeters", "millimetres"]),
      unit("km", 1000, ["kilometer", "kilometers", "kilometres"]),
      unit("in", INCH, ["inch", "inches", '"']),
      unit("ft", 12 * INCH, ["foot", "feet"]),
      unit("mi", 63360 * INCH, ["mile", "miles"]),
    ],
  },
  {
    name: "angle",
    units: [
      unit("rad", 1, ["radian", "radians", "rads"]),
      unit("°", TURN / 360, ["deg", "degs", "degree", "degrees"]),
      unit("rot", TURN, ["rotation", "rotations", "rots", "rev", "revs", "revolution", "revolutions", "turns"]),
    ],
  },
  {
    name: "speed",
    units: [
      unit("m/s", 1, ["mps", "meters per second", "metres per second", "meterspersecond", "meters/second", "meters/s"]),
      unit("km/h", 1 / 3.6, ["kph", "kmh", "kmph", "kilometers per hour"]),
      unit("ft/s", 12 * INCH, ["fps", "feet per second", "feet/second"]),
      unit("in/s", INCH, ["ips", "inches per second", "inches/second"]),
      unit("mph", (63360 * INCH) / 3600, ["mi/h", "miles per hour"]),
    ],
  },
  {
    name: "angular speed",
    units: [
      unit("rad/s", 1, ["radians per second", "radians/second", "radianspersecond", "rads/s", "rad/sec"]),
      unit("°/s", TURN / 360, ["deg/s", "dps", "degrees per second", "degrees/second", "deg/sec"]),
      unit("rot/s", TURN, ["rps", "rotations per second", "rotations/second", "rev/s"]),
      unit("rpm", TURN / 60, ["rev/min", "rot/min", "rotations per minute", "revolutions per minute"]),
    ],
  },
  {
    name: "acceleration",
    units: [
      unit("m/s²", 1, ["m/s^2", "m/s2", "m/s/s", "meters per second squared"]),
      unit("g", 9.80665, ["gs", "standard gravity"]),
      unit("ft/s²", 12 * INCH, ["ft/s^2", "feet per second squared"]),
    ],
  },
  {
    name: "angular acceleration",
    units: [
      unit("rad/s²", 1, ["rad/s^2", "rad/s/s", "radians per second squared"]),
      unit("°/s²", TURN / 360, ["deg/s^2", "degrees per second squared"]),
      unit("rot/s²", TURN, ["rot/s^2", "rotations per second squared"]),
    ],
  },
  { name: "voltage", units: [unit("V", 1, ["volt", "volts"]), unit("mV", 0.001, ["millivolts"])] },
  {
    name: "current",
    units: [unit("A", 1, ["amp", "amps", "ampere", "amperes"]), unit("mA", 0.001, ["milliamps"])],
  },
  {
    name: "temperature",
    units: [
      unit("°C", 1, ["c", "celsius", "degc", "deg c", "degrees celsius"]),
      unit("°F", 5 / 9, ["f", "fahrenheit", "degf", "degrees fahrenheit"], -160 / 9),
      unit("K", 1, ["kelvin"], -273.15),
    ],
  },
  {
    name: "time",
    units: [
      unit("s", 1, ["sec", "secs", "second", "seconds"]),
      unit("ms", 1e-3, ["msec", "millis", "millisecond", "milliseconds"]),
      unit("µs", 1e-6, ["us", "μs", "usec", "micros", "microsecond", "microseconds"]),
      unit("ns", 1e-9, ["nanos", "nanoseconds"]),
      unit("min", 60, ["minute", "minutes"]),
      unit("h", 3600, ["hour", "hours"]),
    ],
  },
  { name: "part", units: [unit("", 1, ["ratio", "fraction"]), unit("%", 0.01, ["percent", "pct", "percentage"])] },
  {
    name: "frequency",
    units: [unit("Hz", 1, ["hertz"]), unit("kHz", 1e3, ["kilohertz"]), unit("MHz", 1e6, ["megahertz"])],
  },
  {
    name: "mass",
    units: [unit("kg", 1, ["kilogram", "kilograms"]), unit("lb", 0.45359237, ["lbs", "pound", "pounds"])],
  },
  { name: "force", units: [unit("N", 1, ["newton", "newtons"]), unit("lbf", 4.4482216152605)] },
  {
    name: "torque",
    units: [
      unit("N·m", 1, ["nm", "newton meters", "newtonmeters", "newton-meters"]),
      unit("lb·ft", 1.3558179483314, ["lbft", "ft-lb"]),
      unit("lb·in", 0.1129848290276, ["lbin", "in-lb"]),
    ],
  },
  {
    name: "pressure",
    units: [
      unit("Pa", 1, ["pascal", "pascals"]),
      unit("kPa", 1e3, ["kilopascals"]),
      unit("bar", 1e5),
      unit("psi", 6894.757293168),
    ],
  },
  { name: "power", units: [unit("W", 1, ["watt", "watts"]), unit("kW", 1e3, ["kilowatts"])] },
  {
    name: "energy",
    units: [
      unit("J", 1, ["joule", "joules"]),
      unit("Wh", 3600, ["watt hours", "watt-hours"]),
      unit("kJ", 1e3, ["kilojoules"]),
    ],
  },
  { name: "charge", units: [unit("A·s", 1, ["coulomb", "coulombs"]), unit("Ah", 3600, ["amp hours", "amp-hours"])] },
  {
    name: "data",
    units: [
      unit("B", 1, ["byte", "bytes"]),
      unit("kB", 1e3, ["kilobytes"]),
      unit("MB", 1e6, ["megabytes"]),
      unit("GB", 1e9, ["gigabytes"]),
    ],
  },
];

const PLACES = new Map<string, { family: Family; known: Unit }>();
const WORDS = new Map<string, string>();
for (const family of FAMILIES) {
  for (const known of family.units) {
    PLACES.set(known.symbol, { family, known });
    for (const word of [known.symbol.toLowerCase(), ...known.words])
      if (!WORDS.has(word)) WORDS.set(word, known.symbol);
  }
}

/** The one spelling of a unit: `meters` and `Metres` are `m`. What we do not know stays as it is; nothing is "". */
export function symbolOf(text: string | null | undefined): string {
  const stated = text?.trim() ?? "";
  return PLACES.has(stated) ? stated : (WORDS.get(stated.toLowerCase()) ?? stated);
}

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

/**
 * The unit of a series: what the log says, or else what WPILib's struct or the end of the name says, as `logpose
 * plot` has it.
 */
export function unitOf(stated: string | null | undefined, name: string, type: string, path: string): string {
  return symbolOf(stated) || ofStruct(type, path) || byName(name + path);
}

/** WPILib's own structs are in SI units. */
function ofStruct(type: string, path: string): string {
  const struct = /^struct:(\w+)/.exec(type)?.[1];
  const last = /(\w+)$/.exec(path)?.[1] ?? "";
  if (!struct || !path) return "";
  // A quaternion has an x too, and no unit.
  if (/^(Pose|Transform|Translation)[23]d$/.test(struct) && /^[xyz]$/.test(last))
    return path.includes(".q.") ? "" : "m";
  if (/^(Pose2d|Transform2d|Rotation2d|SwerveModuleState|SwerveModulePosition)$/.test(struct) && last === "value")
    return "rad";
  if ((struct === "ChassisSpeeds" && /^v[xy]$/.test(last)) || (struct === "SwerveModuleState" && last === "speed"))
    return "m/s";
  if (struct === "ChassisSpeeds" && last === "omega") return "rad/s";
  return struct === "SwerveModulePosition" && last === "distance" ? "m" : "";
}

/** Words at the end of names such as `DriveVelocityMetersPerSec` or `battery_volts`, and their units. */
const ENDS: [string[], string][] = [
  [["Volts", "Volt", "Voltage"], "V"],
  [["Amps", "Amperes", "Current"], "A"],
  [["Celsius", "DegC", "TempC"], "°C"],
  [["Fahrenheit"], "°F"],
  [["Radians", "Radian", "Rads", "Rad"], "rad"],
  [["RadiansPerSecond", "RadiansPerSec", "RadPerSec", "RadsPerSec", "RadPerSecond"], "rad/s"],
  [["RadiansPerSecondSquared", "RadPerSecSquared", "RadPerSecPerSec", "RadiansPerSecPerSec"], "rad/s²"],
  [["Degrees", "Degree", "Deg"], "°"],
  [["DegreesPerSecond", "DegreesPerSec", "DegPerSec"], "°/s"],
  [["Rotations", "Rotation", "Rots", "Rot", "Revolutions"], "rot"],
  [["RotationsPerSecond", "RotationsPerSec", "RotPerSec", "RotsPerSec", "RPS"], "rot/s"],
  [["RotationsPerMinute", "RevolutionsPerMinute", "RevPerMin", "RPM", "Rpm"], "rpm"],
  [["Meters", "Meter", "Metres"], "m"],
  [["MetersPerSecond", "MetersPerSec", "MetresPerSecond", "MPS", "Mps"], "m/s"],
  [["MetersPerSecondSquared", "MetersPerSecPerSec", "MetersPerSecSquared"], "m/s²"],
  [["Centimeters"], "cm"],
  [["Millimeters"], "mm"],
  [["Inches", "Inch"], "in"],
  [["Feet"], "ft"],
  [["Seconds", "Second", "Secs", "Sec"], "s"],
  [["Milliseconds", "Millis", "Msec", "MS", "Ms"], "ms"],
  [["Microseconds", "Micros", "Usec"], "µs"],
  [["Percent", "Pct"], "%"],
  [["Hertz", "Hz"], "Hz"],
  [["Newtons"], "N"],
  [["NewtonMeters", "Nm"], "N·m"],
  [["Kilograms", "Kg"], "kg"],
  [["Pascals"], "Pa"],
  [["PSI", "Psi"], "psi"],
  [["Watts"], "W"],
  [["Joules"], "J"],
  [["Bytes"], "B"],
];

function byName(name: string): string {
  const last =
    name
      .split(/[/.]/)
      .findLast((part) => part !== "")
      ?.split("[")[0] ?? "";
  const lower = last.toLowerCase();
  let [best, found] = ["", ""];
  for (const [words, unit] of ENDS) {
    for (const word of words) {
      const fits = last.endsWith(word) || lower === word.toLowerCase() || lower.endsWith(`_${word.toLowerCase()}`);
      if (fits && word.length > best.length) [best, found] = [word, unit];
    }
  }
  return found;
}

/** Generated from crates/files/src/unit/table.rs by a test of crates/viewer: `make bless` writes it. */

/** Units that measure the same quantity: `value × factor + offset` is in the first one. */
export interface UnitFamily {
  name: string;
  units: { symbol: string; factor: number; offset: number }[];
}

export const UNITS: UnitFamily[] = [
  {
    name: "length",
    units: [
      { symbol: "m", factor: 1, offset: 0 },
      { symbol: "cm", factor: 0.01, offset: 0 },
      { symbol: "mm", factor: 0.001, offset: 0 },
      { symbol: "km", factor: 1000, offset: 0 },
      { symbol: "in", factor: 0.0254, offset: 0 },
      { symbol: "ft", factor: 0.3048, offset: 0 },
      { symbol: "mi", factor: 1609.344, offset: 0 },
    ],
  },
  {
    name: "angle",
    units: [
      { symbol: "rad", factor: 1, offset: 0 },
      { symbol: "°", factor: 0.017453292519943295, offset: 0 },
      { symbol: "rot", factor: 6.283185307179586, offset: 0 },
    ],
  },
  {
    name: "speed",
    units: [
      { symbol: "m/s", factor: 1, offset: 0 },
      { symbol: "km/h", factor: 0.2777777777777778, offset: 0 },
      { symbol: "ft/s", factor: 0.3048, offset: 0 },
      { symbol: "in/s", factor: 0.0254, offset: 0 },
      { symbol: "mph", factor: 0.44704, offset: 0 },
    ],
  },
  {
    name: "angular speed",
    units: [
      { symbol: "rad/s", factor: 1, offset: 0 },
      { symbol: "°/s", factor: 0.017453292519943295, offset: 0 },
      { symbol: "rot/s", factor: 6.283185307179586, offset: 0 },
      { symbol: "rpm", factor: 0.10471975511965977, offset: 0 },
    ],
  },
  {
    name: "acceleration",
    units: [
      { symbol: "m/s²", factor: 1, offset: 0 },
      { symbol: "g", factor: 9.80665, offset: 0 },
      { symbol: "ft/s²", factor: 0.3048, offset: 0 },
    ],
  },
  {
    name: "angular acceleration",
    units: [
      { symbol: "rad/s²", factor: 1, offset: 0 },
      { symbol: "°/s²", factor: 0.017453292519943295, offset: 0 },
      { symbol: "rot/s²", factor: 6.283185307179586, offset: 0 },
    ],
  },
  {
    name: "voltage",
    units: [
      { symbol: "V", factor: 1, offset: 0 },
      { symbol: "mV", factor: 0.001, offset: 0 },
    ],
  },
  {
    name: "current",
    units: [
      { symbol: "A", factor: 1, offset: 0 },
      { symbol: "mA", factor: 0.001, offset: 0 },
    ],
  },
  {
    name: "temperature",
    units: [
      { symbol: "°C", factor: 1, offset: 0 },
      { symbol: "°F", factor: 0.5555555555555556, offset: -17.77777777777778 },
      { symbol: "K", factor: 1, offset: -273.15 },
    ],
  },
  {
    name: "time",
    units: [
      { symbol: "s", factor: 1, offset: 0 },
      { symbol: "ms", factor: 0.001, offset: 0 },
      { symbol: "µs", factor: 0.000001, offset: 0 },
      { symbol: "ns", factor: 0.000000001, offset: 0 },
      { symbol: "min", factor: 60, offset: 0 },
      { symbol: "h", factor: 3600, offset: 0 },
    ],
  },
  {
    name: "part",
    units: [
      { symbol: "", factor: 1, offset: 0 },
      { symbol: "%", factor: 0.01, offset: 0 },
    ],
  },
  {
    name: "frequency",
    units: [
      { symbol: "Hz", factor: 1, offset: 0 },
      { symbol: "kHz", factor: 1000, offset: 0 },
      { symbol: "MHz", factor: 1000000, offset: 0 },
    ],
  },
  {
    name: "mass",
    units: [
      { symbol: "kg", factor: 1, offset: 0 },
      { symbol: "lb", factor: 0.45359237, offset: 0 },
    ],
  },
  {
    name: "force",
    units: [
      { symbol: "N", factor: 1, offset: 0 },
      { symbol: "lbf", factor: 4.4482216152605, offset: 0 },
    ],
  },
  {
    name: "torque",
    units: [
      { symbol: "N·m", factor: 1, offset: 0 },
      { symbol: "lb·ft", factor: 1.3558179483314, offset: 0 },
      { symbol: "lb·in", factor: 0.1129848290276, offset: 0 },
    ],
  },
  {
    name: "pressure",
    units: [
      { symbol: "Pa", factor: 1, offset: 0 },
      { symbol: "kPa", factor: 1000, offset: 0 },
      { symbol: "bar", factor: 100000, offset: 0 },
      { symbol: "psi", factor: 6894.757293168, offset: 0 },
    ],
  },
  {
    name: "power",
    units: [
      { symbol: "W", factor: 1, offset: 0 },
      { symbol: "kW", factor: 1000, offset: 0 },
    ],
  },
  {
    name: "energy",
    units: [
      { symbol: "J", factor: 1, offset: 0 },
      { symbol: "Wh", factor: 3600, offset: 0 },
      { symbol: "kJ", factor: 1000, offset: 0 },
    ],
  },
  {
    name: "charge",
    units: [
      { symbol: "A·s", factor: 1, offset: 0 },
      { symbol: "Ah", factor: 3600, offset: 0 },
    ],
  },
  {
    name: "data",
    units: [
      { symbol: "B", factor: 1, offset: 0 },
      { symbol: "kB", factor: 1000, offset: 0 },
      { symbol: "MB", factor: 1000000, offset: 0 },
      { symbol: "GB", factor: 1000000000, offset: 0 },
    ],
  },
];

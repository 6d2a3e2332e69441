/** CARLA's flags of a vehicle's lights, and the states of traffic lights. */

export const POSITION = 1;
export const LOW_BEAM = 2;
export const HIGH_BEAM = 4;
export const BRAKE = 8;
export const RIGHT_BLINKER = 16;
export const LEFT_BLINKER = 32;
export const REVERSE = 64;
export const FOG = 128;

const NAMES: [number, string][] = [
  [POSITION, "position"],
  [LOW_BEAM, "low beam"],
  [HIGH_BEAM, "high beam"],
  [BRAKE, "brake"],
  [RIGHT_BLINKER, "right blinker"],
  [LEFT_BLINKER, "left blinker"],
  [REVERSE, "reverse"],
  [FOG, "fog"],
  [256, "interior"],
  [512, "special 1"],
  [1024, "special 2"],
];

/** The names of lights that are on. */
export const lightNames = (flags: number): string[] =>
  NAMES.filter(([flag]) => (flags & flag) !== 0).map(([, name]) => name);

const STATES = ["red", "yellow", "green", "off", "unknown"] as const;
export type TrafficLight = (typeof STATES)[number];

export const trafficLight = (state: number): TrafficLight => STATES[state] ?? "unknown";

/**
 * Whether blinkers are lit at a moment: they go by the log's time, so that a picture of a moment is always the same.
 */
export const blinks = (t: number): boolean => (t * 1.5) % 1 < 0.55;

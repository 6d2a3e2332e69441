/** What a board does at one moment, out of the values of its channels, and what is wrong with it. */

import type { Channel, Json } from "../../api";
import { number } from "../../poses/poses";

/** What boards since 1.3 call what older ones had under other names. */
const RENAMED: Record<string, string> = { "footpad.adc1": "adc_left", "footpad.adc2": "adc_right" };

/** The newest id of a channel's value, if it is a board's. */
export function idOf(name: string): string | null {
  const [, id] = /^\/refloat\/(?:items\/)?(.+)$/.exec(name) ?? [];
  return id === undefined ? null : (RENAMED[id] ?? id.replace(/^(motor|imu)\./, ""));
}

/** What this view looks at. */
export const IDS = [
  "pitch",
  "balance_pitch",
  "roll",
  "setpoint",
  "adc_left",
  "adc_right",
  "footpad",
  "duty_cycle",
  "current",
  "dir_current",
  "balance_current",
  "batt_voltage",
  "batt_current",
  "battery_level",
  "speed",
  "erpm",
  "mosfet_temp",
  "motor_temp",
  "state",
  "mode",
  "running",
  "adjustment",
  "stop_condition",
  "beep_reason",
  "wheelslip",
  "charging",
  "darkride",
  "fatal_error",
  "fault_code",
  "float-control/State",
] as const;
export type Id = (typeof IDS)[number];

/** The channels of a board by id; where a log has one twice, the one with samples. */
export function boardChannels(channels: Channel[]): Partial<Record<Id, Channel>> {
  const found: Partial<Record<Id, Channel>> = {};
  for (const channel of channels) {
    const id = idOf(channel.name) as Id | null;
    if (id === null || !IDS.includes(id)) continue;
    if ((found[id]?.samples ?? 0) === 0) found[id] = channel;
  }
  return found;
}

/** Enough to draw something. */
export const isBoard = (found: Partial<Record<Id, Channel>>): boolean =>
  found.pitch !== undefined || found.duty_cycle !== undefined || found.erpm !== undefined;

export interface Limits {
  /** The duty that the motor controller goes up to, and that from which the board pushes back, 0 to 1. */
  maxDuty: number;
  pushbackDuty: number;
  /** The max motor current, in amperes. */
  maxCurrent: number;
  /** The voltage below which the board pushes back; 0 if unknown. */
  lowVoltage: number;
  /** From this voltage on a half of the footpad is pressed. */
  pad: number;
}

export type Level = "good" | "warning" | "error";

export interface Ride {
  pitch: number;
  roll: number;
  setpoint: number;
  duty: number;
  /** Of the motor, signed by the direction of its torque where the log has that. */
  current: number;
  request: number;
  voltage: number;
  battery: number;
  /** In km/h. */
  speed: number;
  /** Whether the speed was measured, not computed from revolutions. */
  measured: boolean;
  mosfet: number;
  motor: number;
  /** Left and right: volts where they are known, and whether pressed. */
  pads: { volts: number; on: boolean }[];
  state: string;
  warnings: { text: string; level: Level }[];
}

/** Kilometres an hour of one electrical revolution a minute: 15 pole pairs, a tyre of 28 cm. */
export const KMH_PER_ERPM = 0.00352;
/** A magnitude of at least this is invalid: the board had an overflow. */
const NO_NUMBER = 131_008;
/** A pitch that is so far from its setpoint is lost, in degrees. */
const LOST_DEG = 8;
/** A request above this that is met by so much less, in amperes and as a share, falls short. */
const SHORT = { request: 30, amperes: 15, share: 0.3 };
const DUTY_MARGIN = 0.02;

export function rideOf(values: Partial<Record<Id, Json>>, limits: Limits): Ride {
  const read = (id: Id) => {
    const value = number(values[id]);
    return Math.abs(value) < NO_NUMBER ? value : NaN;
  };
  const first = (...ids: Id[]) => ids.map(read).find((value) => !Number.isNaN(value)) ?? NaN;
  const measuredSpeed = read("speed");
  const ride: Ride = {
    pitch: first("pitch", "balance_pitch"),
    roll: read("roll"),
    setpoint: read("setpoint"),
    duty: Math.abs(read("duty_cycle")),
    current: first("dir_current", "current"),
    request: read("balance_current"),
    voltage: read("batt_voltage"),
    battery: read("battery_level"),
    speed: Number.isNaN(measuredSpeed) ? read("erpm") * KMH_PER_ERPM : measuredSpeed,
    measured: !Number.isNaN(measuredSpeed),
    mosfet: read("mosfet_temp"),
    motor: read("motor_temp"),
    pads: padsOf(values, limits),
    state: stateOf(values),
    warnings: [],
  };
  ride.warnings = warningsOf(ride, values, limits);
  return ride;
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** `null` if the log does not have them. */
function padsOf(values: Partial<Record<Id, Json>>, limits: Limits): Ride["pads"] {
  const volts = [number(values.adc_left), number(values.adc_right)];
  const word = text(values.footpad);
  if (!word && volts.every(Number.isNaN)) return [];
  return volts.map((volt, side) => ({
    volts: volt,
    on: word ? word === "both" || word === (side === 0 ? "left" : "right") : volt >= limits.pad,
  }));
}

function stateOf(values: Partial<Record<Id, Json>>): string {
  const word = text(values.state) || text(values["float-control/State"]);
  const state = word || (typeof values.running === "boolean" ? (values.running ? "running" : "not running") : "");
  const mode = text(values.mode);
  return mode && mode !== "normal" ? `${state}, ${mode}` : state;
}

function warningsOf(ride: Ride, values: Partial<Record<Id, Json>>, limits: Limits): Ride["warnings"] {
  const found: Ride["warnings"] = [];
  const warn = (when: boolean, level: Level, words: string) => {
    if (when) found.push({ text: words, level });
  };
  const word = (id: Id) => {
    const said = text(values[id]);
    return said === "none" ? "" : said;
  };
  const running = values.running === true || /^(running|riding|tiltback)/i.test(ride.state);
  const fault = number(values.fault_code);
  const short = Math.abs(ride.request) - Math.abs(ride.current);
  const error = Math.abs(ride.pitch - ride.setpoint);
  warn(values.fatal_error === true, "error", "fatal error");
  warn(fault > 0, "error", `fault ${fault}`);
  warn(running && error >= LOST_DEG, "error", `balance lost: ${error.toFixed(0)}° from the setpoint`);
  warn(ride.duty >= limits.maxDuty - DUTY_MARGIN, "error", "duty at its limit");
  warn(
    Math.abs(ride.request) > SHORT.request && short > SHORT.amperes && short > Math.abs(ride.request) * SHORT.share,
    "error",
    `${short.toFixed(0)} A below requested`,
  );
  warn(running && ride.pads.length > 0 && ride.pads.every(({ on }) => !on), "error", "footpads open");
  warn(word("adjustment") !== "", "warning", word("adjustment"));
  warn(values.wheelslip === true, "warning", "wheelslip");
  warn(limits.lowVoltage > 0 && ride.voltage < limits.lowVoltage, "warning", "low voltage");
  warn(word("stop_condition") !== "" && !running, "warning", `stopped by ${word("stop_condition")}`);
  warn(word("beep_reason") !== "", "warning", `beeped for ${word("beep_reason")}`);
  warn(values.darkride === true, "warning", "upside down");
  warn(values.charging === true, "good", "charging");
  return found;
}

/** How near a duty is to what the motor can. */
export function dutyLevel(duty: number, limits: Limits): Level {
  if (duty >= limits.maxDuty - DUTY_MARGIN) return "error";
  return duty >= limits.pushbackDuty ? "warning" : "good";
}

/** What is left of the current, 0 to 1: by what is asked for where that is known. */
export function currentHeadroom(ride: Ride, limits: Limits): number {
  const used = Math.max(Math.abs(Number.isNaN(ride.request) ? ride.current : ride.request), 0);
  return limits.maxCurrent > 0 ? Math.max(1 - used / limits.maxCurrent, 0) : NaN;
}

/** A round number that is not below a value: the end of a gauge. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 100;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 0.999) ?? 10) * power;
}

/** Joysticks in the channels of logs: WPILib's, AdvantageKit's and our own of the Driver Station's link. */

import type { Channel, Json } from "../../api";
import { number } from "../../poses/poses";

export type StickField = "axes" | "buttons" | "povs" | "name" | "count" | "xbox" | "descriptor";

/** The channels of one port. */
export interface Stick {
  port: number;
  parts: Partial<Record<StickField, Channel>>;
}

const PARTS: [RegExp, StickField][] = [
  [/^(axes|axisvalues)$/i, "axes"],
  [/^(buttons|buttonvalues)$/i, "buttons"],
  [/^povs?(values)?$/i, "povs"],
  [/^name$/i, "name"],
  [/^buttoncount$/i, "count"],
  [/^(is)?xbox(controller)?$/i, "xbox"],
  [/^descriptor$/i, "descriptor"],
];

/** The port and part that a channel's name means. */
export function partOf(name: string): { port: number; part: StickField } | null {
  const [, port, rest] = /(?:^|[/:])joysticks?\/?(\d)\/([^/]+)$/i.exec(name) ?? [];
  const found = rest !== undefined && PARTS.find(([pattern]) => pattern.test(rest));
  return found ? { port: Number(port), part: found[1] } : null;
}

/** The joysticks of a log that have axes or buttons, by port. */
export function findSticks(channels: Channel[]): Stick[] {
  const sticks = new Map<number, Stick>();
  for (const channel of channels) {
    const known = partOf(channel.name);
    if (!known) continue;
    const stick = sticks.get(known.port) ?? { port: known.port, parts: {} };
    sticks.set(known.port, stick);
    stick.parts[known.part] ??= channel;
  }
  return [...sticks.values()].filter(({ parts }) => parts.axes || parts.buttons).sort((a, b) => a.port - b.port);
}

/** What a joystick does at one moment. */
export interface State {
  axes: number[];
  buttons: boolean[];
  povs: number[];
}

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Whether a controller is plugged in: an empty port has neither axes nor buttons nor POVs. */
export const isConnected = ({ axes, buttons, povs }: State): boolean => axes.length + buttons.length + povs.length > 0;

/** Buttons out of a list, or out of the bits of a number, the first one lowest. */
export function decodeButtons(value: Json | undefined, count = NaN): boolean[] {
  if (Array.isArray(value)) return value.map((one) => one === true || number(one) > 0);
  const bits = number(value);
  if (!Number.isFinite(bits) || bits < 0) return [];
  const most = Number.isFinite(count) ? Math.min(count, 32) : Math.max(Math.ceil(Math.log2(bits + 1)), 10);
  return Array.from({ length: most }, (_, at) => Math.floor(bits / 2 ** at) % 2 === 1);
}

export function stateOf(values: Partial<Record<StickField, Json>>): State {
  const [axes, povs] = [list(values.axes).map(number), list(values.povs).map(number)];
  const buttons = decodeButtons(values.buttons, number(values.count));
  // Bits do not say how many buttons there are: of an empty port they are 0, and all else is empty too.
  const counted = Array.isArray(values.buttons) || Number.isFinite(number(values.count));
  const empty = axes.length + povs.length === 0 && !buttons.includes(true) && aboutOf(values).name === "";
  return { axes, buttons: empty && !counted ? [] : buttons, povs };
}

/** What a joystick says of itself. */
export interface About {
  name: string;
  xbox: boolean;
}

export function aboutOf(values: Partial<Record<StickField, Json>>): About {
  const name = typeof values.name === "string" ? values.name : "";
  const xbox = values.xbox === true;
  let descriptor = values.descriptor;
  if (typeof descriptor === "string") {
    try {
      descriptor = JSON.parse(descriptor) as Json;
    } catch {
      return { name, xbox };
    }
  }
  if (typeof descriptor !== "object" || descriptor === null || Array.isArray(descriptor)) return { name, xbox };
  return {
    name: name || (typeof descriptor["name"] === "string" ? descriptor["name"] : ""),
    xbox: xbox || descriptor["xbox"] === true,
  };
}

export type Pad = "xbox" | "ps" | "flight" | "generic";
export const PADS: Record<Pad, string> = {
  xbox: "Xbox",
  ps: "PlayStation",
  flight: "Flight stick",
  generic: "Generic",
};

/** The layout that fits a joystick best. */
export function guessPad(about: About, state: State): Pad {
  if (about.xbox || /xbox|xinput|x-box|gamepad f\d/i.test(about.name)) return "xbox";
  if (/dual ?(shock|sense)|playstation|ps[345]|^wireless controller/i.test(about.name)) return "ps";
  if (/extreme|attack|flight|thrust|hotas|x5[26]|saitek/i.test(about.name)) return "flight";
  if (state.axes.length === 6 && state.buttons.length <= 10) return "xbox";
  return state.axes.length > 0 && state.axes.length <= 4 && state.buttons.length >= 8 ? "flight" : "generic";
}

/** Where things are on a gamepad: axes from 0, buttons from 1 as drivers count them. */
export interface Wiring {
  left: [number, number];
  right: [number, number];
  /** Left and right trigger: an axis, and whether it rests at -1. */
  triggers: [number, number];
  rests: boolean;
  /** Below, right, left, above. */
  face: [number, number, number, number];
  labels: [string, string, string, string];
  shoulders: [number, number];
  middle: [number, number];
  thumbs: [number, number];
  known: number;
}

export const WIRINGS: Record<"xbox" | "ps", Wiring> = {
  xbox: {
    left: [0, 1],
    right: [4, 5],
    triggers: [2, 3],
    rests: false,
    face: [1, 2, 3, 4],
    labels: ["A", "B", "X", "Y"],
    shoulders: [5, 6],
    middle: [7, 8],
    thumbs: [9, 10],
    known: 10,
  },
  ps: {
    left: [0, 1],
    right: [2, 5],
    triggers: [3, 4],
    rests: true,
    face: [2, 3, 1, 4],
    labels: ["✕", "○", "□", "△"],
    shoulders: [5, 6],
    middle: [9, 10],
    thumbs: [11, 12],
    known: 14,
  },
};

/** How far a trigger is pulled, 0 to 1. */
export const pulled = (axis: number, rests: boolean): number =>
  Number.isFinite(axis) ? Math.min(Math.max(rests ? (axis + 1) / 2 : axis, 0), 1) : 0;

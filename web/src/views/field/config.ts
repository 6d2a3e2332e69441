/** What a field view keeps. */

import { flag, items, oneOf, record, within } from "../restore";
import { poseSource, type PoseSource } from "../source";
import type { Look, Origin, Size, Turn } from "./geometry";

export type Role = "robot" | "ghost" | "trajectory" | "points" | "arrows" | "targets" | "heat";
export const ROLES: Record<Role, string> = {
  robot: "Robot",
  ghost: "Ghost",
  trajectory: "Trajectory",
  points: "Points",
  arrows: "Arrows",
  targets: "Vision targets",
  heat: "Heat map",
};

export interface FieldSource extends PoseSource {
  role: Role;
}

export type FieldKind = "frc" | "ftc" | "grid";
export const FIELDS: Record<FieldKind, { title: string; size: Size; origin: Origin; robot: Size }> = {
  frc: { title: "FRC field", size: { length: 16.54, width: 8.07 }, origin: "blue", robot: { length: 0.9, width: 0.9 } },
  ftc: {
    title: "FTC field",
    size: { length: 3.66, width: 3.66 },
    origin: "centre",
    robot: { length: 0.45, width: 0.45 },
  },
  grid: { title: "Plain grid", size: { length: 20, width: 20 }, origin: "centre", robot: { length: 0.9, width: 0.9 } },
};

export type Stretch = "visible" | "selection" | "all";

export interface FieldConfig {
  sources: FieldSource[];
  field: FieldKind;
  size: Size;
  origin: Origin;
  turn: Turn;
  /** A robot with its bumpers. */
  robot: Size;
  alliance: "auto" | "blue" | "red";
  /** Seconds behind a robot; 0 for none. */
  trail: number;
  /** What heat maps are about. */
  heat: Stretch;
  follow: boolean;
  look: Look | null;
  /** Whether the settings are open. */
  panel: boolean;
}

export function emptyField(kind: FieldKind = "frc"): FieldConfig {
  const { size, origin, robot } = FIELDS[kind];
  return {
    sources: [],
    field: kind,
    size: { ...size },
    origin,
    turn: 0,
    robot: { ...robot },
    alliance: "auto",
    trail: 5,
    heat: "visible",
    follow: false,
    look: null,
    panel: false,
  };
}

export function restoreField(data: unknown): FieldConfig {
  const told = record(data);
  const field = oneOf(told["field"], Object.keys(FIELDS) as FieldKind[], "frc");
  const plain = emptyField(field);
  return {
    sources: items(told["sources"]).flatMap(source),
    field,
    size: sizeOf(told["size"], plain.size, 1, 1000),
    origin: oneOf(told["origin"], ["blue", "red", "centre"], plain.origin),
    turn: oneOf(told["turn"], [0, 1, 2, 3], 0),
    robot: sizeOf(told["robot"], plain.robot, 0.05, 20),
    alliance: oneOf(told["alliance"], ["auto", "blue", "red"], "auto"),
    trail: within(told["trail"], 0, 600, plain.trail),
    heat: oneOf(told["heat"], ["visible", "selection", "all"], "visible"),
    follow: flag(told["follow"], false),
    look: look(told["look"]),
    panel: flag(told["panel"], false),
  };
}

function source(data: unknown): FieldSource[] {
  const found = poseSource(data);
  return found ? [{ ...found, role: oneOf(record(data)["role"], Object.keys(ROLES) as Role[], "robot") }] : [];
}

function sizeOf(data: unknown, plain: Size, low: number, high: number): Size {
  const told = record(data);
  return {
    length: within(told["length"], low, high, plain.length),
    width: within(told["width"], low, high, plain.width),
  };
}

function look(data: unknown): Look | null {
  const told = record(data);
  if (typeof told["x"] !== "number" || typeof told["y"] !== "number") return null;
  return {
    x: within(told["x"], -1e5, 1e5, 0),
    y: within(told["y"], -1e5, 1e5, 0),
    zoom: within(told["zoom"], 0.25, 40, 1),
  };
}

/** What a field view keeps. */

import { type FieldKind, FIELDS, type Origin, type Role, ROLES, type Size } from "../../field/kinds";
import { flag, items, oneOf, record, within } from "../../model/config";
import { poseSource, type PoseSource } from "../../poses/source";
import type { Viewport, Turn } from "./geometry";

export interface FieldSource extends PoseSource {
  role: Role;
}

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
  look: Viewport | null;
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
  const fields = record(data);
  const field = oneOf(fields["field"], Object.keys(FIELDS) as FieldKind[], "frc");
  const plain = emptyField(field);
  return {
    sources: items(fields["sources"]).flatMap(source),
    field,
    size: sizeOf(fields["size"], plain.size, 1, 1000),
    origin: oneOf(fields["origin"], ["blue", "red", "centre"], plain.origin),
    turn: oneOf(fields["turn"], [0, 1, 2, 3], 0),
    robot: sizeOf(fields["robot"], plain.robot, 0.05, 20),
    alliance: oneOf(fields["alliance"], ["auto", "blue", "red"], "auto"),
    trail: within(fields["trail"], 0, 600, plain.trail),
    heat: oneOf(fields["heat"], ["visible", "selection", "all"], "visible"),
    follow: flag(fields["follow"], false),
    look: look(fields["look"]),
    panel: flag(fields["panel"], false),
  };
}

function source(data: unknown): FieldSource[] {
  const found = poseSource(data);
  return found ? [{ ...found, role: oneOf(record(data)["role"], Object.keys(ROLES) as Role[], "robot") }] : [];
}

function sizeOf(data: unknown, plain: Size, low: number, high: number): Size {
  const fields = record(data);
  return {
    length: within(fields["length"], low, high, plain.length),
    width: within(fields["width"], low, high, plain.width),
  };
}

function look(data: unknown): Viewport | null {
  const fields = record(data);
  if (typeof fields["x"] !== "number" || typeof fields["y"] !== "number") return null;
  return {
    x: within(fields["x"], -1e5, 1e5, 0),
    y: within(fields["y"], -1e5, 1e5, 0),
    zoom: within(fields["zoom"], 0.25, 40, 1),
  };
}

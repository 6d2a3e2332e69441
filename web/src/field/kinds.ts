/** Kinds of fields, and what a series of poses can be on one. */

export interface Size {
  /** Along x. */
  length: number;
  /** Along y. */
  width: number;
}

/** Where data have their origin: in the corner right of the blue drivers, of the red ones, or in the middle. */
export type Origin = "blue" | "red" | "centre";

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

/** The field of a log by its channels: FTC's robots log their devices by the names in the hardware map. */
export const kindOf = (channels: readonly { name: string }[]): FieldKind =>
  channels.some(({ name }) => /^\/?HardwareMap\//.test(name)) ? "ftc" : "frc";

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

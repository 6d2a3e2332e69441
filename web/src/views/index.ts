/** All views: each folder beside this file is one. */

import type { ViewDefinition } from "../model/view";

/** The order in which they are offered; what is not named here comes behind. */
const ORDER = [
  "graph",
  "table",
  "console",
  "events",
  "statistics",
  "xy",
  "field",
  "scene",
  "carla",
  "board",
  "swerve",
  "joysticks",
  "sql",
];

const modules = import.meta.glob<ViewDefinition>("./*/index.ts", { eager: true, import: "default" });

const place = (view: ViewDefinition) => {
  const found = ORDER.indexOf(view.kind);
  return found < 0 ? ORDER.length : found;
};

export const views: ViewDefinition[] = Object.values(modules).sort(
  (a, b) => place(a) - place(b) || a.title.localeCompare(b.title),
);

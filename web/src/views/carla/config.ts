/** What a top view shows: its configuration, read with care. */

import { type Coloring, COLORINGS } from "../../carla/colors";
import type { Kind } from "../../carla/cast";

/** What can be shown and hidden together. */
export const GROUPS = {
  vehicles: { title: "Vehicles", kinds: ["vehicle"] },
  bikes: { title: "Bikes", kinds: ["bicycle", "motorcycle"] },
  walkers: { title: "Walkers", kinds: ["walker"] },
  lights: { title: "Lights", kinds: ["traffic_light"] },
  signs: { title: "Signs", kinds: ["traffic_sign"] },
  sensors: { title: "Sensors", kinds: ["sensor"] },
  others: { title: "Others", kinds: ["spectator", "other"] },
} as const satisfies Record<string, { title: string; kinds: readonly Kind[] }>;

export type Group = keyof typeof GROUPS;

export const TRAILS = [0, 2, 5, 10, 30];

export interface CarlaConfig {
  /** Which log; the first recording if there is none. */
  log: number | null;
  /** The id of the actor that stays in the middle. */
  follow: number | null;
  headingUp: boolean;
  /** Seconds of trails. */
  trail: number;
  labels: boolean;
  coloring: Coloring;
  hidden: Group[];
  /** Whether the collisions are listed. */
  list: boolean;
  /** What is seen; everything if there is none. */
  camera: { x: number; y: number; scale: number } | null;
}

export const empty = (): CarlaConfig => ({
  log: null,
  follow: null,
  headingUp: false,
  trail: 5,
  labels: true,
  coloring: "own",
  hidden: ["sensors", "others"],
  list: true,
  camera: null,
});

const whole = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
const flag = (value: unknown, otherwise: boolean): boolean => (typeof value === "boolean" ? value : otherwise);
const finite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

export function restore(data: unknown): CarlaConfig {
  const config = empty();
  if (typeof data !== "object" || data === null) return config;
  const from = data as Record<string, unknown>;
  config.log = whole(from["log"]);
  config.follow = whole(from["follow"]);
  config.headingUp = flag(from["headingUp"], config.headingUp);
  const trail = from["trail"];
  if (finite(trail) && trail >= 0) config.trail = Math.min(trail, TRAILS.at(-1) ?? 0);
  config.labels = flag(from["labels"], config.labels);
  const coloring = from["coloring"];
  if (typeof coloring === "string" && coloring in COLORINGS) config.coloring = coloring as Coloring;
  const hidden = from["hidden"];
  if (Array.isArray(hidden)) {
    config.hidden = (Object.keys(GROUPS) as Group[]).filter((group) => hidden.includes(group));
  }
  config.list = flag(from["list"], config.list);
  const camera = from["camera"];
  if (typeof camera === "object" && camera !== null) {
    const { x, y, scale } = camera as Record<string, unknown>;
    if (finite(x) && finite(y) && finite(scale) && scale > 0) config.camera = { x, y, scale };
  }
  return config;
}

/** The kinds that are hidden. */
export const hiddenKinds = (hidden: Group[]): Set<Kind> =>
  new Set(hidden.flatMap((group): readonly Kind[] => GROUPS[group].kinds));

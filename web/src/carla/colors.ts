/** The colours of actors. */

import { color } from "../draw/canvas";
import { visibleOn } from "../draw/contrast";
import type { Kind, ActorLife } from "./cast";

export const COLORINGS = { own: "Recorded colours", kind: "By kind", speed: "By speed" } as const;
export type Coloring = keyof typeof COLORINGS;

/** The speed at which colours end, in metres per second. */
export const FASTEST = 20;

export interface Palette {
  panel: string;
  line: string;
  strong: string;
  text: string;
  dim: string;
  faint: string;
  accent: string;
  red: string;
  yellow: string;
  green: string;
  /** Lamps of vehicles: to the front, to the rear, to the side. */
  front: string;
  rear: string;
  side: string;
  glass: string;
  ink: string;
  paper: string;
  kinds: Record<Kind, string>;
}

/** The colours of the theme; an effect that reads it runs again when the theme changes. */
export const palette = (): Palette => ({
  panel: color("--panel"),
  line: color("--line"),
  strong: color("--line-strong"),
  text: color("--text"),
  dim: color("--dim"),
  faint: color("--faint"),
  accent: color("--accent"),
  red: color("--red"),
  yellow: color("--warning"),
  green: color("--good"),
  front: color("--lamp-front"),
  rear: color("--lamp-rear"),
  side: color("--lamp-side"),
  glass: color("--glass"),
  ink: color("--sign-ink"),
  paper: color("--sign-paper"),
  kinds: {
    vehicle: color("--series-0"),
    bicycle: color("--series-5"),
    motorcycle: color("--series-4"),
    walker: color("--series-1"),
    traffic_light: color("--faint"),
    traffic_sign: color("--series-8"),
    sensor: color("--series-9"),
    spectator: color("--faint"),
    other: color("--series-8"),
  },
});

/** The colour of an actor. */
export function bodyColor(life: ActorLife, speed: number, coloring: Coloring, palette: Palette): string {
  if (coloring === "speed" && (life.kind === "walker" || !Number.isNaN(speed)) && life.kind !== "traffic_light") {
    const part = Math.min((Number.isNaN(speed) ? 0 : speed) / FASTEST, 1);
    // Steps of a fortieth: colours that differ less would only cost.
    return `hsl(${220 - Math.round(part * 40) * 5.5} 78% 58%)`;
  }
  // A black car on a dark ground, and a white one on a light, are as light and as dark as it takes to see them.
  if (coloring === "own" && life.color) return visibleOn(life.color, palette.panel, 2.5);
  return life.hero && coloring === "kind" ? palette.accent : palette.kinds[life.kind];
}

/** What a picture of a moment is made of. */

import type { CarlaCollision } from "../../api";
import { color } from "../../canvas";
import type { Camera } from "./camera";
import type { Cast, Kind } from "./cast";
import type { Coloring } from "./config";
import type { Snapshot, Tile } from "./tracks";

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

export interface Scene {
  now: Snapshot;
  cast: Cast;
  camera: Camera;
  t: number;
  hidden: Set<Kind>;
  coloring: Coloring;
  labels: boolean;
  /** Places of lives, -1 for none. */
  followed: number;
  hovered: number;
  trail: number;
  tiles: Tile[];
  collisions: CarlaCollision[];
  palette: Palette;
}

/** The colours of the theme; whoever asks in an effect is run again on another theme. */
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
    light: color("--faint"),
    sign: color("--series-8"),
    sensor: color("--series-9"),
    spectator: color("--faint"),
    other: color("--series-8"),
  },
});

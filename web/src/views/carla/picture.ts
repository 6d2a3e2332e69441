/** What a picture of a moment is made of. */

import { type Coloring, type Palette } from "../../carla/colors";
import type { CarlaCollision } from "../../api";
import type { Camera } from "./camera";
import type { ActorList, Kind } from "../../carla/cast";
import type { Snapshot, Tile } from "../../carla/tracks";

export interface Scene {
  now: Snapshot;
  cast: ActorList;
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

/** What a 3D view keeps. */

import { flag, items, oneOf, record, within } from "../../model/config";
import { poseSource, type PoseSource } from "../../poses/source";

export type Shape = "robot" | "ghost" | "axes" | "points" | "path";
export const SHAPES: Record<Shape, string> = {
  robot: "Robot",
  ghost: "Ghost",
  axes: "Axes",
  points: "Points",
  path: "Path",
};

export interface SceneSource extends PoseSource {
  shape: Shape;
}

export type Ground = "auto" | "field" | "grid";
export const GROUNDS: Record<Ground, string> = { auto: "Automatic", field: "FRC field", grid: "Grid" };

/** Where the camera is and what it looks at: metres, x forward, y left, z up. */
export interface CameraPose {
  from: [number, number, number];
  to: [number, number, number];
}

/** What stays in sight: the place of a source, or an actor of CARLA by its id. */
export type Follow = { source: number } | { actor: number } | null;

export interface SceneConfig {
  sources: SceneSource[];
  /** Whether actors of CARLA are shown, where there are any. */
  actors: boolean;
  /** Which recording; the first if there is none. */
  log: number | null;
  ground: Ground;
  follow: Follow;
  /** Seconds of trails. */
  trail: number;
  look: CameraPose | null;
  /** Whether the settings are open. */
  panel: boolean;
}

export const emptyScene = (): SceneConfig => ({
  sources: [],
  actors: true,
  log: null,
  ground: "auto",
  follow: null,
  trail: 5,
  look: null,
  panel: false,
});

const LONGEST_TRAIL = 60;

export function restoreScene(data: unknown): SceneConfig {
  const fields = record(data);
  const plain = emptyScene();
  return {
    sources: items(fields["sources"]).flatMap(source),
    actors: flag(fields["actors"], plain.actors),
    log: whole(fields["log"]),
    ground: oneOf(fields["ground"], Object.keys(GROUNDS) as Ground[], plain.ground),
    follow: follow(fields["follow"]),
    trail: within(fields["trail"], 0, LONGEST_TRAIL, plain.trail),
    look: look(fields["look"]),
    panel: flag(fields["panel"], plain.panel),
  };
}

const whole = (data: unknown): number | null =>
  typeof data === "number" && Number.isInteger(data) && data >= 0 ? data : null;

function source(data: unknown): SceneSource[] {
  const found = poseSource(data);
  return found ? [{ ...found, shape: oneOf(record(data)["shape"], Object.keys(SHAPES) as Shape[], "robot") }] : [];
}

function follow(data: unknown): Follow {
  const fields = record(data);
  const [at, actor] = [whole(fields["source"]), whole(fields["actor"])];
  if (at !== null) return { source: at };
  return actor === null ? null : { actor };
}

function look(data: unknown): CameraPose | null {
  const fields = record(data);
  const [from, to] = [point(fields["from"]), point(fields["to"])];
  return from && to ? { from, to } : null;
}

function point(data: unknown): [number, number, number] | null {
  const [x, y, z] = items(data);
  const fine = (part: unknown): part is number => typeof part === "number" && Math.abs(part) < 1e6;
  return fine(x) && fine(y) && fine(z) ? [x, y, z] : null;
}

/** All that a picture of a graph is made of: drawn on the screen, and in an SVG. */

import type { LogEvent, Trace } from "../../api";
import type { Piece } from "../../store/tiles";
import type { Style } from "./config";
import type { Run } from "./states";

export interface Line {
  name: string;
  pieces: Piece<Trace>[];
  color: string;
  width: number;
  style: Style;
  axis: string;
  factor: number;
  offset: number;
  /** Whether samples are so few that each gets a dot. */
  dots: boolean;
}

export interface SceneAxis {
  key: string;
  side: "left" | "right";
  unit: string;
  range: [number, number];
  log: boolean;
  fixed: boolean;
  /** That of its only line, or that of texts. */
  color: string;
}

export interface Row {
  name: string;
  /** Of the series in the legend: `true` has it, `false` is empty. */
  color: string;
  boolean: boolean;
  runs: Run[];
}

export interface BandShade {
  start: number;
  end: number;
  color: string;
  text: string;
}

export interface Palette {
  text: string;
  dim: string;
  faint: string;
  line: string;
  panel: string;
  font: string;
  mono: string;
  warning: string;
  error: string;
  info: string;
  series: string[];
}

export interface Scene {
  width: number;
  height: number;
  start: number;
  end: number;
  /** The end of the logs: how far values are held. */
  until: number;
  lines: Line[];
  axes: SceneAxis[];
  rows: Row[];
  bands: BandShade[];
  alerts: LogEvent[];
  palette: Palette;
}

/** Where things are, in CSS pixels. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  /** Of the lines. */
  height: number;
  /** Of the rows of states below them. */
  rows: number;
  /** From the outside: each y axis. */
  axes: { key: string; left: number; width: number }[];
}

/** Room above the plot: units and tools. */
export const HEAD = 24;
/** Of the axis of times. */
export const FOOT = 24;
const ROW = 20;
const ROW_GAP = 3;

/** How high the rows of states are together. Without lines they have all the room. */
export function rowsHeight(scene: Pick<Scene, "rows" | "lines" | "height">): number {
  if (scene.rows.length === 0) return 0;
  const room = scene.height - HEAD - FOOT;
  if (scene.lines.length === 0) return Math.max(room - 1, 0);
  return Math.max(Math.min(scene.rows.length * (ROW + ROW_GAP) + ROW_GAP, room * 0.4), 0);
}

/** Top and height of a row within the room of all rows. */
export function rowPlace(count: number, place: number, height: number): { top: number; height: number } {
  const pitch = Math.min(height / Math.max(count, 1), 34);
  const gap = Math.min(ROW_GAP, pitch * 0.15);
  return { top: place * pitch + gap, height: Math.max(pitch - gap, 1) };
}

/** The axes that fit: the outer ones give way in a narrow pane. */
export function fittingAxes<T extends { side: "left" | "right" }>(axes: T[], width: number): T[] {
  const most = Math.max(Math.floor(width / 190), 1);
  const left = axes.filter((axis) => axis.side === "left");
  const right = axes.filter((axis) => axis.side === "right");
  const forRight = Math.min(right.length, Math.max(Math.floor(most / 2), left.length === 0 ? 1 : 0), 3);
  return [...left.slice(0, Math.min(Math.max(most - forRight, 1), 3)), ...right.slice(0, forRight)];
}

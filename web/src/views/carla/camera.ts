/**
 * The world from above. CARLA's x goes right on the screen and its y down: its left-handed frame is that of the screen, so
 * nothing is mirrored, and a growing yaw turns clockwise.
 */

import type { Extent } from "../../carla/extent";

export interface Camera {
  /** What is in the middle, in metres. */
  x: number;
  y: number;
  /** Pixels per metre. */
  scale: number;
  /** How the world is turned on the screen, in radians, clockwise. */
  turn: number;
}

export const NEAREST = 200;
export const FARTHEST = 0.02;

export const clampScale = (scale: number): number => Math.min(Math.max(scale, FARTHEST), NEAREST);

/** From the world to a screen of that size, for who has many places: `[a x − b y + e, b x + a y + f]`. */
export function matrixOf(
  { x, y, scale, turn }: Camera,
  width: number,
  height: number,
): { a: number; b: number; e: number; f: number } {
  const [a, b] = [Math.cos(turn) * scale, Math.sin(turn) * scale];
  return { a, b, e: width / 2 - (a * x - b * y), f: height / 2 - (b * x + a * y) };
}

/** Where a place of the world is on a screen of that size. */
export function toScreen(camera: Camera, width: number, height: number, x: number, y: number): [number, number] {
  const { a, b, e, f } = matrixOf(camera, width, height);
  return [a * x - b * y + e, b * x + a * y + f];
}

/** Which place of the world is at a point of the screen. */
export function toWorld(camera: Camera, width: number, height: number, sx: number, sy: number): [number, number] {
  const [dx, dy] = [(sx - width / 2) / camera.scale, (sy - height / 2) / camera.scale];
  const [cos, sin] = [Math.cos(camera.turn), Math.sin(camera.turn)];
  return [camera.x + dx * cos + dy * sin, camera.y - dx * sin + dy * cos];
}

/** Nearer or farther; what is under the pointer stays there. */
export function zoomAt(camera: Camera, width: number, height: number, sx: number, sy: number, factor: number): Camera {
  const scale = clampScale(camera.scale * factor);
  const [x, y] = toWorld(camera, width, height, sx, sy);
  const [nx, ny] = toWorld({ ...camera, scale }, width, height, sx, sy);
  return { ...camera, scale, x: camera.x + x - nx, y: camera.y + y - ny };
}

/** Moves what is seen with the pointer. */
export function pan(camera: Camera, dx: number, dy: number): Camera {
  const [cos, sin] = [Math.cos(camera.turn), Math.sin(camera.turn)];
  const [mx, my] = [dx / camera.scale, dy / camera.scale];
  return { ...camera, x: camera.x - (mx * cos + my * sin), y: camera.y - (-mx * sin + my * cos) };
}

/** All of an extent, with some room around it. */
export function fit(extent: Extent, width: number, height: number, turn = 0): Camera {
  const across = Math.max(extent.right - extent.left, 20);
  const down = Math.max(extent.bottom - extent.top, 20);
  const [cos, sin] = [Math.abs(Math.cos(turn)), Math.abs(Math.sin(turn))];
  const scale = Math.min(width / (across * cos + down * sin), height / (across * sin + down * cos)) * 0.88;
  return {
    x: (extent.left + extent.right) / 2,
    y: (extent.top + extent.bottom) / 2,
    scale: clampScale(Number.isFinite(scale) && scale > 0 ? scale : 1),
    turn,
  };
}

/** Visible data, in the world: a box around the screen, however it is turned. */
export function visible(camera: Camera, width: number, height: number): Extent {
  const [cos, sin] = [Math.abs(Math.cos(camera.turn)), Math.abs(Math.sin(camera.turn))];
  const across = (width * cos + height * sin) / camera.scale / 2;
  const down = (width * sin + height * cos) / camera.scale / 2;
  return { left: camera.x - across, right: camera.x + across, top: camera.y - down, bottom: camera.y + down };
}

/** Whether something of a radius is within an extent. */
export const within = (extent: Extent, x: number, y: number, radius: number): boolean =>
  x + radius >= extent.left && x - radius <= extent.right && y + radius >= extent.top && y - radius <= extent.bottom;

/** A distance that reads well and is about so many pixels long. */
export function scaleBar(scale: number, pixels: number): number {
  const metres = pixels / scale;
  const power = 10 ** Math.floor(Math.log10(metres));
  const step = [5, 2, 1].find((step) => step * power <= metres) ?? 1;
  return step * power;
}

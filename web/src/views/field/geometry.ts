/**
 * Where things are on a field, and where on the screen. Metres; x goes from the blue wall to the red one, y to the
 * left.
 */

import type { Origin, Size } from "../../field/kinds";
import { wrapped } from "../../poses/angles";

export interface Spot {
  x: number;
  y: number;
  yaw: number;
}

/** A place of the data on the field as blue has it; `into` is filled and returned. */
export function toField(x: number, y: number, yaw: number, origin: Origin, size: Size, into: Spot): Spot {
  if (origin === "red") {
    into.x = size.length - x;
    into.y = size.width - y;
    into.yaw = wrapped(yaw + Math.PI);
  } else {
    const centre = origin === "centre";
    into.x = centre ? x + size.length / 2 : x;
    into.y = centre ? y + size.width / 2 : y;
    into.yaw = yaw;
  }
  return into;
}

/** A place on the field as the data have it. */
export function fromField(x: number, y: number, origin: Origin, size: Size): { x: number; y: number } {
  if (origin === "red") return { x: size.length - x, y: size.width - y };
  return origin === "centre" ? { x: x - size.length / 2, y: y - size.width / 2 } : { x, y };
}

/** Which part of a field is seen: the place in the middle, and how much larger than when all of it is. */
export interface Viewport {
  x: number;
  y: number;
  zoom: number;
}

/** Quarter turns that the field is turned by, counter-clockwise: 0 has blue on the left. */
export type Turn = 0 | 1 | 2 | 3;

const COSINES = [1, 0, -1, 0] as const;
const SINES = [0, 1, 0, -1] as const;

/** From the field to the screen. */
export class Camera {
  /** Pixels per metre. */
  readonly scale: number;
  readonly #cos: number;
  readonly #sin: number;
  readonly #x: number;
  readonly #y: number;
  readonly #across: number;
  readonly #down: number;

  constructor(width: number, height: number, size: Size, turn: Turn, look: Viewport | null, margin: number) {
    const upright = turn === 1 || turn === 3;
    const [along, beside] = upright ? [size.width, size.length] : [size.length, size.width];
    const room = Math.min((width - 2 * margin) / along, (height - 2 * margin) / beside);
    this.scale = Math.max(room, 0.5) * (look?.zoom ?? 1);
    this.#cos = COSINES[turn];
    this.#sin = SINES[turn];
    this.#x = look?.x ?? size.length / 2;
    this.#y = look?.y ?? size.width / 2;
    this.#across = width / 2;
    this.#down = height / 2;
    this.turn = (turn * Math.PI) / 2;
  }

  /** What is added to a heading on the field. */
  readonly turn: number;

  px(x: number, y: number): number {
    return this.#across + this.scale * (this.#cos * (x - this.#x) - this.#sin * (y - this.#y));
  }

  py(x: number, y: number): number {
    return this.#down - this.scale * (this.#sin * (x - this.#x) + this.#cos * (y - this.#y));
  }

  /** The place on the field under a point of the screen. */
  under(px: number, py: number): { x: number; y: number } {
    const [right, up] = [(px - this.#across) / this.scale, (this.#down - py) / this.scale];
    return { x: this.#x + this.#cos * right + this.#sin * up, y: this.#y - this.#sin * right + this.#cos * up };
  }

  /** The angle on the screen, clockwise as canvases have it, of a heading on the field. */
  angle(yaw: number): number {
    return -(yaw + this.turn);
  }
}

export const NEAREST = 40;

/** The look after zooming by a factor about a place, which stays where it is on the screen. */
export function zoomed(
  look: Viewport | null,
  size: Size,
  factor: number,
  about: { x: number; y: number },
): Viewport | null {
  const from = look ?? { x: size.length / 2, y: size.width / 2, zoom: 1 };
  const zoom = Math.min(Math.max(from.zoom * factor, 0.25), NEAREST);
  const part = from.zoom / zoom;
  return { zoom, x: about.x + (from.x - about.x) * part, y: about.y + (from.y - about.y) * part };
}

/** Steps of a grid so that lines are at least so many pixels apart. */
export function gridStep(scale: number, pixels: number): number {
  for (const step of [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]) if (step * scale >= pixels) return step;
  return 1000;
}

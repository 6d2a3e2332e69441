/** Where actors came from: the last seconds as lines that fade. */

import type { Extent } from "../../carla/extent";
import { faded, type Context } from "../../draw/canvas";
import { matrixOf, within } from "./camera";
import type { Kind } from "../../carla/cast";
import type { Scene } from "./picture";

/** Parts of a trail, the oldest first, and how strong each is. */
const PARTS = [0.07, 0.14, 0.21, 0.28, 0.36, 0.44, 0.52, 0.6];
/** Points that are closer than so many pixels are one. */
const CLOSE = 2.5;

const MOVING: ReadonlySet<Kind> = new Set(["vehicle", "bicycle", "motorcycle", "walker", "other"]);

/** From how many trails on they are hairlines, which are drawn much faster. */
const CROWD = 200;

export function drawTrails(context: Context, width: number, height: number, scene: Scene, seen: Extent): void {
  const { now, cast, camera, t, trail, palette } = scene;
  const { a, b, e, f } = matrixOf(camera, width, height);
  /** By colour and part: points, one behind the other, and a NaN before each line. */
  const lines = new Map<string, number[][]>();
  let count = 0;
  for (let place = 0; place < now.count; place++) {
    const number = now.life[place] ?? -1;
    const life = cast.lives[number];
    if (!life || !MOVING.has(life.kind) || scene.hidden.has(life.kind)) continue;
    const reach = Math.max((now.speed[place] ?? 0) || 0, 15) * trail;
    if (!within(seen, now.x[place] ?? NaN, now.y[place] ?? NaN, reach)) continue;
    const colour = life.hero || number === scene.followed ? palette.accent : palette.kinds[life.kind];
    let parts = lines.get(colour);
    if (!parts) {
      parts = PARTS.map(() => []);
      lines.set(colour, parts);
    }
    count++;
    let [lastX, lastY, open] = [NaN, NaN, -1];
    const point = (time: number, x: number, y: number, always: boolean) => {
      const [px, py] = [a * x - b * y + e, b * x + a * y + f];
      const [dx, dy] = [px - lastX, py - lastY];
      if (!always && dx * dx + dy * dy < CLOSE * CLOSE) return;
      const part = Math.max(Math.min(Math.floor(((time - t) / trail + 1) * PARTS.length), PARTS.length - 1), 0);
      const line = parts[part];
      if (line && !Number.isNaN(lastX)) {
        // A part begins where the one before it ended.
        if (part !== open) line.push(NaN, lastX, lastY);
        line.push(px, py);
        open = part;
      }
      [lastX, lastY] = [px, py];
    };
    let before = -Infinity;
    for (const tile of scene.tiles) {
      const slot = tile.slotOf(number);
      if (slot < 0) continue;
      const { rows, starts } = tile;
      const end = starts[slot + 1] ?? 0;
      for (let row = Math.max(tile.rowAt(slot, t - trail), starts[slot] ?? 0); row < end; row++) {
        const time = rows.t[row] ?? 0;
        if (time >= t) break;
        // Tiles overlap by the frames at their edges.
        if (time <= before || time < t - trail) continue;
        before = time;
        point(time, rows.x[row] ?? 0, rows.y[row] ?? 0, false);
      }
    }
    if (!Number.isNaN(lastX)) point(t, now.x[place] ?? 0, now.y[place] ?? 0, true);
  }
  // Round ends would show where parts meet.
  context.lineCap = "butt";
  context.lineJoin = "round";
  context.lineWidth = count > CROWD ? 1 : Math.min(Math.max(camera.scale * 0.25, 1.5), 4);
  for (const [colour, parts] of lines) {
    parts.forEach((line, part) => {
      context.strokeStyle = faded(colour, PARTS[part] ?? 0);
      context.beginPath();
      trace(context, line);
      context.stroke();
    });
  }
}

function trace(context: Context, line: number[]): void {
  for (let at = 0; at < line.length; at += 2) {
    const begins = Number.isNaN(line[at] ?? NaN);
    if (begins) at++;
    const [x, y] = [line[at] ?? 0, line[at + 1] ?? 0];
    if (begins) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
}

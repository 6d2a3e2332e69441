/** Where actors came from: the last seconds as lines that fade. */

import { faded, type Context } from "../../canvas";
import { toScreen, within, type Extent } from "./camera";
import type { Kind } from "./cast";
import type { Scene } from "./picture";

/** Parts of a trail, the oldest first, and how strong each is. */
const PARTS = [0.07, 0.14, 0.21, 0.28, 0.36, 0.44, 0.52, 0.6];
/** Points that are closer than so many pixels are one. */
const CLOSE = 2.5;

const MOVING: ReadonlySet<Kind> = new Set(["vehicle", "bicycle", "motorcycle", "walker", "other"]);

export function drawTrails(context: Context, width: number, height: number, scene: Scene, seen: Extent): void {
  const { now, cast, camera, t, trail, palette } = scene;
  const paths = new Map<string, Path2D[]>();
  for (let place = 0; place < now.count; place++) {
    const number = now.life[place] ?? -1;
    const life = cast.lives[number];
    if (!life || !MOVING.has(life.kind) || scene.hidden.has(life.kind)) continue;
    const reach = Math.max((now.speed[place] ?? 0) || 0, 15) * trail;
    if (!within(seen, now.x[place] ?? NaN, now.y[place] ?? NaN, reach)) continue;
    const colour = life.hero || number === scene.followed ? palette.accent : palette.kinds[life.kind];
    let parts = paths.get(colour);
    if (!parts) {
      parts = PARTS.map(() => new Path2D());
      paths.set(colour, parts);
    }
    let last: [number, number] | null = null;
    let open = -1;
    const point = (time: number, x: number, y: number, always: boolean) => {
      const to = toScreen(camera, width, height, x, y);
      if (last && !always && Math.hypot(to[0] - last[0], to[1] - last[1]) < CLOSE) return;
      const part = Math.min(Math.floor(((time - t) / trail + 1) * PARTS.length), PARTS.length - 1);
      const path = parts[Math.max(part, 0)];
      if (path && last) {
        // A part begins where the one before it ended.
        if (part !== open) path.moveTo(last[0], last[1]);
        path.lineTo(to[0], to[1]);
        open = part;
      }
      last = to;
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
    if (last) point(t, now.x[place] ?? 0, now.y[place] ?? 0, true);
  }
  // Round ends would show where parts meet.
  context.lineCap = "butt";
  context.lineJoin = "round";
  context.lineWidth = Math.min(Math.max(camera.scale * 0.25, 1.5), 4);
  for (const [colour, parts] of paths) {
    parts.forEach((path, part) => {
      context.strokeStyle = faded(colour, PARTS[part] ?? 0);
      context.stroke(path);
    });
  }
}

/** Who is at a point. */
import type { ActorList, Kind } from "../../carla/cast";
import type { Snapshot } from "../../carla/tracks";

/** The life at a point of the world, the smallest if there are several; -1 for none. `slack` is in metres. */
export function pick(now: Snapshot, cast: ActorList, hidden: Set<Kind>, x: number, y: number, slack: number): number {
  let found = -1;
  let least = Infinity;
  for (let place = 0; place < now.count; place++) {
    const number = now.life[place] ?? -1;
    const life = cast.lives[number];
    if (!life || hidden.has(life.kind)) continue;
    const [dx, dy] = [x - (now.x[place] ?? 0), y - (now.y[place] ?? 0)];
    const angle = ((now.yaw[place] ?? 0) * Math.PI) / 180;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    // In its own frame, where it is a box.
    const along = dx * cos + dy * sin - life.size.cx;
    const across = -dx * sin + dy * cos - life.size.cy;
    const [ex, ey] = [life.size.ex + slack, life.size.ey + slack];
    if (Math.abs(along) > ex || Math.abs(across) > ey) continue;
    const area = ex * ey;
    if (area < least) {
      least = area;
      found = number;
    }
  }
  return found;
}

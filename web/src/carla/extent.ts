/** The rectangle that contains all actors. */

import type { ActorList, Kind } from "./cast";
import type { Snapshot } from "./tracks";

export interface Extent {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The rectangle around all actors that are not hidden; `null` if there are none. */
export function extentOf(now: Snapshot, cast: ActorList, hidden: Set<Kind>): Extent | null {
  const extent: Extent = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (let place = 0; place < now.count; place++) {
    const life = cast.lives[now.life[place] ?? -1];
    if (!life || hidden.has(life.kind)) continue;
    const [x, y] = [now.x[place] ?? NaN, now.y[place] ?? NaN];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    extent.left = Math.min(extent.left, x - life.size.ex);
    extent.right = Math.max(extent.right, x + life.size.ex);
    extent.top = Math.min(extent.top, y - life.size.ex);
    extent.bottom = Math.max(extent.bottom, y + life.size.ex);
  }
  return extent.left <= extent.right ? extent : null;
}

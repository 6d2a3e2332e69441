/** Names of series, short enough for heads of columns and legends. */

import type { SeriesRef } from "./series";

export interface Label {
  /** The last part of the name. */
  leaf: string;
  /** What stands before it. */
  parent: string;
}

/** `/Drive/Pose` is `Pose` in `/Drive`, its part `.translation.x` is `translation.x` in `/Drive/Pose`. */
export function labelOf(ref: SeriesRef): Label {
  const name = ref.name.replace(/\/+$/, "") || ref.name;
  if (ref.path.startsWith(".")) return { leaf: ref.path.slice(1), parent: name };
  const cut = name.lastIndexOf("/");
  return { leaf: name.slice(cut + 1) + ref.path, parent: name.slice(0, Math.max(cut, 0)) };
}

/** The shortest ends of names that tell series apart. */
export function shortNames(refs: readonly SeriesRef[]): string[] {
  const pieces = refs.map((ref) => {
    const parts = ref.name.split("/").filter((part) => part !== "");
    const last = parts.pop() ?? ref.name;
    return [...parts, last + ref.path];
  });
  return pieces.map((mine, place) => {
    for (let count = 1; count < mine.length; count++) {
      const end = mine.slice(-count).join("/");
      const alone = pieces.every((other, at) => at === place || other.slice(-count).join("/") !== end);
      if (alone) return end;
    }
    return mine.join("/");
  });
}

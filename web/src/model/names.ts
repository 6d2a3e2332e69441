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

/**
 * The ends of names: the last part, and as many before it as it takes to distinguish the series. A number alone is no name: it
 * has the part before it too.
 */
export function shortNames(refs: readonly SeriesRef[]): string[] {
  const parts = refs.map((ref) => {
    const words = ref.name.split("/").filter((word) => word !== "");
    const tail = words.pop() ?? ref.name;
    return [...words, tail + ref.path];
  });
  const lengths = parts.map((words): number => (words.length > 1 && /^[\d.[\]]+$/.test(words.at(-1) ?? "") ? 2 : 1));
  const text = (place: number) => (parts[place] ?? []).slice(-(lengths[place] ?? 1)).join("/");
  for (let turn = 0; turn < 32; turn++) {
    const groups = new Map<string, number[]>();
    parts.forEach((_, place) => groups.set(text(place), [...(groups.get(text(place)) ?? []), place]));
    let longer = false;
    for (const places of groups.values()) {
      // The same name in two logs stays short: the log distinguishes them.
      const names = new Set(places.map((place) => `${refs[place]?.name ?? ""}${refs[place]?.path ?? ""}`));
      if (names.size < 2) continue;
      for (const place of places) {
        if ((lengths[place] ?? 1) >= (parts[place]?.length ?? 1)) continue;
        lengths[place] = (lengths[place] ?? 1) + 1;
        longer = true;
      }
    }
    if (!longer) break;
  }
  return parts.map((_, place) => text(place));
}

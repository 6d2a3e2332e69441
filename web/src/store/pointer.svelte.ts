/** Whether fingers are used: then everything that is pressed is at least 40 pixels high and wide. */

import { createSubscriber } from "svelte/reactivity";

const query = typeof matchMedia === "undefined" ? null : matchMedia("(pointer: coarse)");

const subscribe = createSubscriber((update) => {
  query?.addEventListener("change", update);
  return () => query?.removeEventListener("change", update);
});

/** The height of a row of a list: as high as it is for a mouse, or as a finger needs it. */
export function rowHeight(fine: number): number {
  subscribe();
  return query?.matches ? Math.max(fine, 40) : fine;
}

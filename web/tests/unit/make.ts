/** Parts of answers of the API, for tests that need only some of their fields. */

import type { CarlaActor, Channel } from "../../src/api";

/** A channel with a number in each sample. */
export const channel = (name: string, more: Partial<Channel> = {}): Channel => ({
  id: 0,
  name,
  type: "double",
  metadata: "",
  unit: null,
  shown_unit: null,
  samples: 1,
  start: 0,
  end: 1,
  kind: "number",
  fields: [],
  ...more,
});

/** A vehicle that is there from the start on. */
export const actor = (id: number, more: Partial<CarlaActor> = {}): CarlaActor => ({
  id,
  type: "vehicle.a.b",
  kind: "vehicle",
  bounding_box: null,
  color: null,
  hero: false,
  spawned: 0,
  destroyed: null,
  parent: null,
  ...more,
});

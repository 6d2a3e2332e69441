/** Who is in a recording: each life of each actor, found by id and time. */

import type { CarlaActor, CarlaActors } from "../api";
import type { SeriesRef } from "../model/series";

export type Kind = CarlaActor["kind"];

/** One life: an id that was used again is another. */
export interface ActorLife extends CarlaActor {
  /** Half sizes and centre, recorded or usual for its kind. */
  size: Size;
}

export interface Size {
  cx: number;
  cy: number;
  cz: number;
  ex: number;
  ey: number;
  ez: number;
  /** Whether the recording says it. */
  known: boolean;
}

/** Half sizes that are usual, where a recording has none: length, width, height. */
const USUAL: Record<Kind, [number, number, number]> = {
  vehicle: [2.3, 0.95, 0.78],
  bicycle: [0.85, 0.25, 0.8],
  motorcycle: [1.1, 0.4, 0.75],
  walker: [0.19, 0.19, 0.93],
  traffic_light: [0.3, 0.3, 2.5],
  traffic_sign: [0.15, 0.35, 1.2],
  sensor: [0.15, 0.15, 0.15],
  spectator: [0.3, 0.3, 0.3],
  other: [0.5, 0.5, 0.5],
};

/** The size of an actor. CARLA's boxes of lights and signs include their poles and arms: they are drawn by kind. */
export function sizeOf(actor: Pick<CarlaActor, "bounding_box" | "kind">): Size {
  const [ex, ey, ez] = USUAL[actor.kind];
  if (actor.bounding_box && actor.kind !== "traffic_light" && actor.kind !== "traffic_sign") {
    const [cx, cy, cz, bx, by, bz] = actor.bounding_box;
    if (bx > 0 && by > 0) return { cx, cy, cz, ex: bx, ey: by, ez: Math.max(bz, 0.05), known: true };
  }
  // A walker's place is its middle, a vehicle's the ground.
  return { cx: 0, cy: 0, cz: actor.kind === "walker" ? 0 : ez, ex, ey, ez, known: false };
}

export class ActorList {
  readonly lives: ActorLife[];
  readonly #byId = new Map<number, number[]>();

  constructor(actors: CarlaActor[]) {
    this.lives = [];
    for (const actor of actors) this.#add(actor);
    for (const places of this.#byId.values()) places.sort((a, b) => this.#born(a) - this.#born(b));
  }

  static of(answer: CarlaActors | null): ActorList {
    return new ActorList(answer?.actors ?? []);
  }

  #add(actor: CarlaActor): number {
    const place = this.lives.length;
    this.lives.push({ ...actor, size: sizeOf(actor) });
    const same = this.#byId.get(actor.id);
    if (same) same.push(place);
    else this.#byId.set(actor.id, [place]);
    return place;
  }

  #born(place: number): number {
    return this.lives[place]?.spawned ?? 0;
  }

  /** The place of the life that an id lives at a time; -1 if there is none. */
  at(id: number, t: number): number {
    const places = this.#byId.get(id);
    if (!places) return -1;
    for (let place = places.length - 1; place >= 0; place--) {
      const life = this.lives[places[place] ?? -1];
      if (life && life.spawned <= t) return life.destroyed === null || t < life.destroyed ? (places[place] ?? -1) : -1;
    }
    return -1;
  }

  /** The same; an actor that moves without having been created gets an entry without details. */
  seen(id: number, t: number): number {
    const known = this.at(id, t);
    if (known >= 0) return known;
    const fresh: CarlaActor = {
      id,
      type: "",
      kind: "other",
      bounding_box: null,
      color: null,
      hero: false,
      spawned: -Infinity,
      destroyed: null,
      parent: null,
    };
    const places = this.#byId.get(id);
    // In the frame in which an actor disappears there may still be a position: it changes nothing.
    return places?.[0] ?? this.#add(fresh);
  }

  /** The latest or next life of an id, whether it lives or not. */
  nearest(id: number, t: number): ActorLife | null {
    const now = this.at(id, t);
    const places = this.#byId.get(id);
    if (now >= 0) return this.lives[now] ?? null;
    if (!places) return null;
    const before = places.filter((place) => this.#born(place) <= t);
    return this.lives[before.at(-1) ?? places[0] ?? -1] ?? null;
  }
}

/** `vehicle.tesla.model3` as `Tesla model3`; others by their last words. */
export function nameOf(life: Pick<ActorLife, "type" | "kind" | "id">): string {
  if (!life.type) return `actor ${life.id}`;
  const words = life.type.split(".");
  if (words[0] === "vehicle" && words.length > 2) return words.slice(1).join(" ");
  if (words[0] === "walker") return `walker ${words.at(-1) ?? ""}`;
  if (words[0] === "traffic") return words.slice(1).join(" ").replaceAll("_", " ");
  return words.slice(words.length > 2 ? -2 : 0).join(" ");
}

/** The actor that a channel belongs to. */
export const actorOf = (ref: SeriesRef): number | null => {
  const id = /^\/carla\/actors\/(\d+)\//.exec(ref.name)?.[1];
  return id === undefined ? null : Number(id);
};

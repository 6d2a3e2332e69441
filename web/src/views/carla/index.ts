import { actorOf } from "../../carla/cast";
import type { ViewDefinition } from "../../model/view";
import Carla from "./Carla.svelte";
import { empty, restore, type CarlaConfig } from "./config";

const view: ViewDefinition<CarlaConfig> = {
  kind: "carla",
  title: "CARLA from above",
  about: "Actors of a CARLA recording from above: boxes, headings, lights, collisions, trails",
  icon: "M5.5 2.5h5v11h-5ZM5.5 6h5M5.5 11h5M3 4.5v2.5M13 4.5v2.5M3 10v2.5M13 10v2.5",
  component: Carla,
  empty,
  restore,
  /** Whose channel is dropped is followed. */
  add(config, refs) {
    for (const ref of refs) {
      const actor = actorOf(ref);
      if (actor === null) continue;
      config.log = ref.log;
      config.follow = actor;
      return true;
    }
    return false;
  },
};

export default view;

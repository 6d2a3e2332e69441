import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type EventsConfig } from "./config";
import Events from "./Events.svelte";

const definition: ViewDefinition<EventsConfig> = {
  kind: "events",
  title: "Events",
  about: "Mode changes, brownouts, errors, collisions, pushback: jump to each",
  icon: "M4 14V2.5M4 3h8l-2 2.8L12 8.5H4",
  component: Events,
  empty,
  restore,
  add,
};

export default definition;

import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type ConsoleConfig } from "./config";
import Console from "./Console.svelte";

const definition: ViewDefinition<ConsoleConfig> = {
  kind: "console",
  title: "Console",
  about: "Console output and messages, filtered by level and text",
  icon: "M2 3h12v10H2ZM4.5 6l2 2-2 2M8.5 10.5h3",
  component: Console,
  empty,
  restore,
  add,
};

export default definition;

import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type XyConfig } from "./config";
import Xy from "./Xy.svelte";

const definition: ViewDefinition<XyConfig> = {
  kind: "xy",
  title: "XY plot",
  about: "One series against another, with a trail up to the cursor",
  icon: "M2.5 2v11.5H14M5 10.5c1-5 3-6 4.5-3.5S12 6 13 3",
  component: Xy,
  empty,
  restore,
  add,
};

export default definition;

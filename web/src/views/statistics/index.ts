import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type StatisticsConfig } from "./config";
import Statistics from "./Statistics.svelte";

const definition: ViewDefinition<StatisticsConfig> = {
  kind: "statistics",
  title: "Statistics",
  about: "Min, max, mean, percentiles, rate, gaps and histograms",
  icon: "M2 14h12M3.5 14V9.5h2V14M7 14V4h2v10M10.5 14V7h2v7",
  component: Statistics,
  empty,
  restore,
  add,
};

export default definition;

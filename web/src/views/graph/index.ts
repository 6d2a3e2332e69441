/** Lines over time. */

import { logs } from "../../store/session.svelte";
import type { ViewDefinition } from "../../model/view";
import { addSeries, emptyGraph, restoreGraph } from "./config";
import type { GraphConfig } from "./config";
import Graph from "./Graph.svelte";

const graph: ViewDefinition<GraphConfig> = {
  kind: "graph",
  title: "Line graph",
  about: "Numbers as lines, booleans, enums and text as state rows",
  icon: "M2.5 2.5v11h11M4.5 10.5 7 7l2.5 2 4-5.5",
  component: Graph,
  empty: emptyGraph,
  restore: restoreGraph,
  add: (config, refs) =>
    addSeries(
      config,
      refs,
      (ref) => logs.find(ref),
      (log) => logs.logs[log]?.dialect ?? "",
    ),
};

export default graph;

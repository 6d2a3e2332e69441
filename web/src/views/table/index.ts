import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type TableConfig } from "./config";
import Table from "./Table.svelte";

const definition: ViewDefinition<TableConfig> = {
  kind: "table",
  title: "Table",
  about: "Values as text, one row per change",
  icon: "M2 3h12v10H2ZM2 6.3h12M2 9.6h12M6.5 3v10",
  component: Table,
  empty,
  restore,
  add,
};

export default definition;

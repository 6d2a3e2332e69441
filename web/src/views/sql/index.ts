import type { ViewDefinition } from "../../model/view";
import { add, empty, restore, type SqlConfig } from "./config";
import Sql from "./Sql.svelte";

const definition: ViewDefinition<SqlConfig> = {
  kind: "sql",
  title: "SQL",
  about: "SQL queries over the logs, with results as a table or chart",
  icon: "M8 2c3 0 5 .9 5 2v8c0 1.1-2 2-5 2s-5-.9-5-2V4c0-1.1 2-2 5-2ZM3 4c0 1.1 2 2 5 2s5-.9 5-2M3 8c0 1.1 2 2 5 2s5-.9 5-2",
  component: Sql,
  empty,
  restore,
  add,
};

export default definition;

import type { ViewDefinition } from "../../model/view";
import Field from "./Field.svelte";
import { emptyField, restoreField, type FieldConfig } from "./config";
import { addSource } from "./sources";

export { autoField } from "./sources";

const field: ViewDefinition<FieldConfig> = {
  kind: "field",
  title: "Field",
  about: "Poses, trajectories and heat maps on a field, seen from above",
  icon: "M1.5 3.5h13v9h-13ZM8 3.5v9M4 7h2.4v2.4H4ZM10.5 8h2",
  component: Field,
  empty: () => emptyField(),
  restore: restoreField,
  add: (config, refs) => refs.filter((ref) => addSource(config, ref)).length > 0,
};

export default field;

import type { ViewDefinition } from "../../model/view";
import Joysticks from "./Joysticks.svelte";
import { addJoystick, emptyJoysticks, restoreJoysticks, type JoysticksConfig } from "./config";

export { autoJoysticks } from "./config";

const joysticks: ViewDefinition<JoysticksConfig> = {
  kind: "joysticks",
  title: "Joysticks",
  about: "Joystick axes, triggers and buttons",
  icon: "M4.5 5h7c2 0 3 2.5 3 5.5 0 1.5-1.5 2-2.5 .5L11 9.500H5L4 11c-1 1.5-2.5 1-2.5-.5C1.5 7.5 2.5 5 4.5 5ZM5.5 6.500v2M4.5 7.500h2M11 7.500h.01",
  component: Joysticks,
  empty: () => emptyJoysticks(),
  restore: restoreJoysticks,
  add: (config, refs) => refs.filter((ref) => addJoystick(config, ref)).length > 0,
};

export default joysticks;

import type { ViewDefinition } from "../../model/view";
import Swerve from "./Swerve.svelte";
import { addSwerve, emptySwerve, restoreSwerve, type SwerveConfig } from "./config";

export { autoSwerve } from "./config";

const swerve: ViewDefinition<SwerveConfig> = {
  kind: "swerve",
  title: "Swerve",
  about: "Module states and chassis speeds as vectors on the robot",
  icon: "M4 4h8v8H4ZM4 4l-2-2M12 4l2-2M4 12l-2 2M12 12l2 2M8 9.500V6M6.5 7.5 8 6l1.5 1.5",
  component: Swerve,
  empty: emptySwerve,
  restore: restoreSwerve,
  add: (config, refs) => refs.filter((ref) => addSwerve(config, ref)).length > 0,
};

export default swerve;

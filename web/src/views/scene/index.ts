import type { ViewDefinition } from "../../model/view";
import { icon } from "./about";
import { emptyScene, restoreScene, type SceneConfig } from "./config";
import Scene from "./Scene.svelte";
import { addSource, followActor } from "./sources";

export { autoScene } from "./sources";

const view: ViewDefinition<SceneConfig> = {
  kind: "scene",
  title: "3D",
  about: "Poses and CARLA actors in 3D, on a field or a grid",
  icon,
  component: Scene,
  empty: emptyScene,
  restore: restoreScene,
  add: (config, refs) => refs.filter((ref) => followActor(config, ref) || addSource(config, ref)).length > 0,
};

export default view;

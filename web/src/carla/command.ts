/** The lines that say in the terminal what a top view shows. */

import { quote } from "../output/commands";
import type { CommandLine } from "../model/view";

/** Where everybody is at a moment of the log's own clock, and who hit whom. */
export function stateCommands(path: string, at: string, actor: number | null): CommandLine[] {
  const file = quote(path.startsWith("-") ? `./${path}` : path);
  // A time with a sign would count from the end.
  const time = at.startsWith("-") ? "0" : at;
  const state = `logpose carla state ${file} --time ${time}`;
  const lines = [
    { label: "All actors at this time", text: state },
    { label: "Collisions", text: `logpose carla collisions ${file}` },
  ];
  return actor === null
    ? lines
    : [{ label: `Actor ${actor} at this time`, text: `${state} --actor ${actor}` }, ...lines];
}

/** Layouts from files: our own, and those of AdvantageScope. */

import { desk } from "../store/desk.svelte";
import { layout } from "../store/layout.svelte";
import { logs } from "../store/session.svelte";
import { importAdvantageScope, isAdvantageScope, resolver } from "./advantagescope";

/** Shows a layout; false, and nothing changes, if it is none. */
export function openLayout(data: unknown, name: string): boolean {
  if (!isAdvantageScope(data)) return layout.load(data, name);
  const found = importAdvantageScope(
    data,
    resolver(logs.logs.length, (ref) => logs.find(ref)),
  );
  if (!found || !layout.load(found.layout, name)) return false;
  desk.imported = { name, version: found.version, tabs: found.layout.tabs.length, lost: found.lost };
  return true;
}

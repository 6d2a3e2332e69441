/** The menus of a graph: of its plot, and of a series in it or in its legend. */

import type { Held } from "../../api";
import { copyText } from "../../output/download";
import { clock } from "../../store/clock.svelte";
import { toasts } from "../../store/toasts.svelte";
import type { MenuItem } from "../../ui/menu.svelte";
import { LEGENDS, type GraphConfig } from "./config";
import type { GraphModel } from "./model.svelte";

const LEGEND_NAMES = { below: "Legend below", beside: "Legend beside", hidden: "No legend" } as const;

async function copy(text: string): Promise<void> {
  toasts.show((await copyText(text)) ? `Copied: ${text}` : "The browser does not allow copying");
}

/** What can be done with one series. `held` is its value at the cursor. */
export function seriesMenu(
  config: GraphConfig,
  model: GraphModel,
  place: number,
  held: Held | null,
  settings: () => void,
): MenuItem[] {
  const item = model.items[place];
  if (!item) return [];
  const { series } = item;
  const right = item.axis?.side === "right";
  return [
    { label: "Settings…", icon: "edit", section: item.name, keys: "Enter", run: settings },
    { label: series.shown ? "Hide" : "Show", run: () => (series.shown = !series.shown) },
    {
      label: "Show only this",
      disabled: config.series.length < 2,
      run: () => config.series.forEach((one, at) => (one.shown = at === place)),
    },
    {
      label: "Show all series",
      disabled: config.series.every((one) => one.shown),
      run: () => config.series.forEach((one) => (one.shown = true)),
    },
    {
      label: right ? "Move to the left axis" : "Move to the right axis",
      disabled: item.row,
      run: () => (series.side = right ? "left" : "right"),
    },
    { label: "Copy name", icon: "copy", section: "", run: () => void copy(series.ref.name + series.ref.path) },
    { label: "Copy value at the cursor", icon: "copy", disabled: !held, run: () => void copy(held?.text ?? "") },
    {
      label: "Remove from graph",
      icon: "close",
      section: "",
      keys: "Delete",
      run: () => config.series.splice(place, 1),
    },
  ];
}

/** What can be done at a moment of the plot. */
export function plotMenu(config: GraphConfig, t: number, lock: { locked: boolean; run: () => void }): MenuItem[] {
  const { selection } = clock;
  return [
    { label: "Move cursor here", section: "Time", run: () => clock.seek(t, true) },
    { label: "Set mark here", run: () => (clock.mark = t) },
    { label: "Start selection here", run: () => clock.selectFrom(t) },
    { label: "End selection here", run: () => clock.selectTo(t) },
    {
      label: "Zoom to the selection",
      disabled: !selection,
      run: () => selection && clock.show(selection.start, selection.end),
    },
    { label: "Show the whole log", icon: "fit", keys: "0", run: () => clock.showAll() },
    {
      label: lock.locked ? "Fit axes to visible data" : "Lock axes",
      section: "Graph",
      keys: "Y",
      run: lock.run,
    },
    { label: "Statistics", checked: config.stats, keys: "S", run: () => (config.stats = !config.stats) },
    { label: "Modes behind the lines", checked: config.bands, run: () => (config.bands = !config.bands) },
    { label: "Alerts", checked: config.alerts, run: () => (config.alerts = !config.alerts) },
    ...LEGENDS.map((legend) => ({
      label: LEGEND_NAMES[legend],
      checked: config.legend === legend,
      run: () => (config.legend = legend),
    })),
  ];
}

/** Layouts to begin with, chosen by what is in the logs. */

import type { Channel, LogInfo, Pane, Panes, Preset } from "../api";
import type { SeriesRef } from "../model/series";
import { isSplit, panesOf, type Direction, type Node, type Tab } from "../model/panes";
import type { Registry } from "../model/layout";

/** One view, or several beside each other with their parts of the space. */
type Recipe = View | Beside;

interface View {
  kind: string;
  title: string;
  refs: SeriesRef[];
  /** Without series it would be empty and is left out. */
  needs: boolean;
}

interface Beside {
  direction: Direction;
  parts: [number, Recipe | null][];
}

interface Page {
  title: string;
  recipe: Recipe | null;
}

const row = (...parts: [number, Recipe | null][]): Beside => ({ direction: "row", parts });
const column = (...parts: [number, Recipe | null][]): Beside => ({ direction: "column", parts });

export const PRESETS: { preset: Preset; title: string }[] = [
  { preset: "frc", title: "FRC match" },
  { preset: "ds", title: "Driver Station log" },
  { preset: "carla", title: "CARLA traffic" },
  { preset: "refloat", title: "Refloat ride" },
  { preset: "general", title: "General" },
];

/** The panes of one log by their names, as the server chose them; what it left out is not shown. */
class Chosen {
  readonly #panes: Map<string, Pane>;

  constructor(
    { panes }: Panes,
    readonly channels: Channel[],
    readonly refOf: (log: number, channel: Channel, path?: string) => SeriesRef,
  ) {
    this.#panes = new Map(panes.map((pane) => [pane.name, pane]));
  }

  view(name: string): Recipe | null {
    const pane = this.#panes.get(name);
    if (!pane) return null;
    const refs = pane.series.flatMap(({ log, channel, path }) => {
      const found = this.channels[channel];
      return found ? [this.refOf(log, found, path)] : [];
    });
    return { kind: pane.view, title: pane.title, refs, needs: pane.series.length > 0 };
  }
}

const PAGES: Record<Preset, (view: (name: string) => Recipe | null) => Page[]> = {
  frc: (view) => [
    {
      title: "Match",
      recipe: column(
        [0.6, row([0.56, view("power")], [0.44, view("field")])],
        [
          0.4,
          row(
            [0.4, view("motion")],
            [0.4, view("numbers")],
            [0.6, view("table")],
            [0.3, view("events")],
            [0.3, view("console")],
          ),
        ],
      ),
    },
    {
      title: "Drive",
      recipe: row(
        [0.6, column([0.5, view("modules")], [0.5, view("turning")])],
        [0.4, column([0.6, view("swerve")], [0.4, view("joysticks")])],
      ),
    },
  ],
  ds: (view) => [
    {
      title: "Station",
      recipe: row(
        [
          0.64,
          column(
            [0.4, view("battery")],
            [0.3, view("link")],
            [0.3, view("load")],
            [0.4, view("numbers")],
            [0.4, view("table")],
          ),
        ],
        [0.36, column([0.5, view("events")], [0.5, view("console")])],
      ),
    },
    { title: "Currents", recipe: column([0.5, view("currents")], [0.5, view("statistics")]) },
    { title: "Joysticks", recipe: view("joysticks") },
  ],
  carla: (view) => [
    {
      title: "Traffic",
      recipe: row(
        [0.62, view("traffic")],
        [0.38, column([0.32, view("velocity")], [0.32, view("controls")], [0.36, view("events")])],
        [0.62, column([0.6, view("numbers")], [0.4, view("table")])],
      ),
    },
    { title: "3D", recipe: view("scene") },
  ],
  refloat: (view) => [
    {
      title: "Ride",
      recipe: row(
        [
          0.62,
          column(
            [0.4, view("balance")],
            [0.3, view("duty")],
            [0.3, view("current")],
            [0.6, view("numbers")],
            [0.4, view("table")],
          ),
        ],
        [0.38, column([0.6, view("board")], [0.4, view("events")])],
      ),
    },
  ],
  general: (view) => [
    {
      title: "Overview",
      recipe: column(
        [0.6, view("numbers")],
        [0.4, row([0.6, view("table")], [0.4, column([0.5, view("events")], [0.5, view("console")])])],
      ),
    },
  ],
};

/** At most so many logs get tabs of their own. */
export const MOST_LOGS = 4;

export interface PresetInput {
  logs: LogInfo[];
  /** Whether titles name the log. */
  several: boolean;
  channels: Channel[][];
  /** What each log shows first, by its number. */
  panes: Map<number, Panes>;
  refOf: (log: number, channel: Channel, path?: string) => SeriesRef;
  registry: Registry;
  /** Makes ids. */
  id: () => string;
}

/** The tabs to begin with, as the server chose them. None if nothing can be shown. */
export function presetTabs(input: PresetInput): Tab[] {
  const tabs: Tab[] = [];
  const { several } = input;
  for (const info of input.logs.slice(0, MOST_LOGS)) {
    const panes = input.panes.get(info.id);
    if (!panes) continue;
    const chosen = new Chosen(panes, input.channels[info.id] ?? [], input.refOf);
    const made = cook(
      input,
      PAGES[panes.preset]((name) => chosen.view(name)),
    );
    if (several) for (const tab of made) tab.title = `${tab.title} · ${shortName(info.name)}`;
    tabs.push(...made);
  }
  return tabs;
}

const shortName = (name: string): string => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

function cook(input: PresetInput, pages: Page[]): Tab[] {
  const tabs: Tab[] = [];
  for (const { title, recipe } of pages) {
    const root = recipe && node(input, recipe);
    const first = root && panesOf(root)[0];
    if (root && first) tabs.push({ id: input.id(), title, root, active: first.id, maximised: null });
  }
  return tabs;
}

function node(input: PresetInput, recipe: Recipe): Node | null {
  if ("kind" in recipe) {
    const definition = input.registry(recipe.kind);
    if (!definition || (recipe.needs && recipe.refs.length === 0)) return null;
    const config = definition.empty();
    const taken = recipe.refs.length > 0 && definition.add(config, recipe.refs);
    if (recipe.needs && !taken) return null;
    return { id: input.id(), kind: recipe.kind, title: recipe.title, config };
  }
  const made = recipe.parts
    .map(([size, part]) => ({ size, part: part && node(input, part) }))
    .filter((one): one is { size: number; part: Node } => one.part !== null);
  const only = made[0];
  if (!only || made.length === 1) return only?.part ?? null;
  // A row whose column fell away is one row.
  const flat = made.flatMap(({ size, part }) =>
    isSplit(part) && part.direction === recipe.direction
      ? part.children.map((child, place) => ({ size: size * (part.sizes[place] ?? 0), part: child }))
      : [{ size, part }],
  );
  const sum = flat.reduce((all, { size }) => all + size, 0);
  return {
    id: input.id(),
    direction: recipe.direction,
    sizes: flat.map(({ size }) => size / sum),
    children: flat.map(({ part }) => part),
  };
}

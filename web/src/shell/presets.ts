/** Layouts to begin with, chosen by what is in the logs. */

import type { Channel, Field, LogInfo, Preset } from "../api";
import type { SeriesRef } from "../model/series";
import { isSplit, panesOf, type Direction, type Node, type Tab } from "../model/panes";
import type { Registry } from "../model/layout";

/** One view, or several beside each other with their parts of the space. */
type Recipe = View | Beside;

interface View {
  kind: string;
  title?: string;
  refs: SeriesRef[];
  /** Without series it would be empty and is left out. */
  needs: boolean;
}

interface Beside {
  direction: Direction;
  parts: [number, Recipe][];
}

interface Page {
  title: string;
  recipe: Recipe;
}

const row = (...parts: [number, Recipe][]): Beside => ({ direction: "row", parts });
const column = (...parts: [number, Recipe][]): Beside => ({ direction: "column", parts });
const graph = (title: string, refs: SeriesRef[]): View => ({ kind: "graph", title, refs, needs: true });
const view = (kind: string, refs: SeriesRef[] = [], needs = false): View => ({ kind, refs, needs });

export const PRESETS: { preset: Preset; title: string }[] = [
  { preset: "frc", title: "FRC match" },
  { preset: "ds", title: "Driver Station log" },
  { preset: "carla", title: "CARLA traffic" },
  { preset: "refloat", title: "Refloat ride" },
  { preset: "general", title: "General" },
];

/** The channels of one log, by patterns. */
class Finder {
  constructor(
    readonly info: LogInfo,
    readonly channels: Channel[],
    readonly refOf: (log: number, channel: Channel, path?: string) => SeriesRef,
  ) {}

  ref(channel: Channel, path = ""): SeriesRef {
    return this.refOf(this.info.id, channel, path);
  }

  /** The first channel that the first fitting pattern fits; those with data go first. */
  one(...patterns: RegExp[]): SeriesRef[] {
    for (const pattern of patterns) {
      const fitting = this.channels.filter((channel) => pattern.test(channel.name));
      const best = fitting.find((channel) => channel.samples > 1) ?? fitting[0];
      if (best) return [this.ref(best)];
    }
    return [];
  }

  all(pattern: RegExp, most: number): SeriesRef[] {
    return this.channels
      .filter((channel) => pattern.test(channel.name))
      .slice(0, most)
      .map((channel) => this.ref(channel));
  }

  typed(type: RegExp, most = 1): SeriesRef[] {
    const fitting = this.channels.filter((channel) => type.test(channel.type));
    return fitting.slice(0, most).map((channel) => this.ref(channel));
  }

  /** Numbers within the first channel that a pattern fits: fields whose path fits. */
  within(name: RegExp, path: RegExp, most = 4): SeriesRef[] {
    const channel = this.channels.find((one) => name.test(one.name) && one.fields.length > 0);
    if (!channel) return [];
    const leaves = (fields: Field[]): Field[] =>
      fields.flatMap((field) => (field.fields.length > 0 ? leaves(field.fields) : [field]));
    return leaves(channel.fields)
      .filter((field) => field.kind === "number" && path.test(field.path))
      .slice(0, most)
      .map((field) => this.ref(channel, field.path));
  }
}

const BATTERY = [/battery.?voltage$/i, /\/ds\/battery$/, /voltage$/i];
const CURRENT = [/total.?current$/i, /battery.?current$/i];
const BROWNOUT = [/browned.?out$/i, /brownout$/i];
const ENABLED = [/(^|[/:])control\/enabled$/i, /(^|[/:])enabled$/i];

function frc(find: Finder): Page[] {
  const pose = [...find.typed(/^struct:Pose2d$/), ...find.typed(/^struct:Pose3d$/)].slice(0, 1);
  const swerve = find.typed(/SwerveModuleState\[\]$/);
  const speeds = find.within(/chassis.?speeds$/i, /\.(vx|vy|omega)/i);
  const velocities = find.all(/module\d.*velocity/i, 4);
  const power = graph("Power", [
    ...find.one(...BATTERY),
    ...find.one(...CURRENT),
    ...find.one(...ENABLED),
    ...find.one(...BROWNOUT),
  ]);
  const motion = graph("Motion", speeds.length > 0 ? speeds : velocities);
  return [
    {
      title: "Match",
      recipe: column(
        [0.6, row([0.56, power], [0.44, view("field", pose, true)])],
        [0.4, row([0.4, motion], [0.3, view("events")], [0.3, view("console")])],
      ),
    },
    {
      title: "Drive",
      recipe: row(
        [
          0.6,
          column([0.5, graph("Modules", velocities)], [0.5, graph("Turning", find.all(/module\d.*turn.*pos/i, 4))]),
        ],
        [0.4, column([0.6, view("swerve", swerve, true)], [0.4, joysticks(find)])],
      ),
    },
  ];
}

const joysticks = (find: Finder): View => view("joysticks", find.all(/joystick\/?\d+\/(axes|axisvalues)$/i, 6), true);

function ds(find: Finder): Page[] {
  const currents = find.all(/\/pd\/current\/\d+$/, 24);
  currents.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return [
    {
      title: "Station",
      recipe: row(
        [
          0.64,
          column(
            [0.4, graph("Battery", [...find.one(...BATTERY), ...find.one(...ENABLED), ...find.one(...BROWNOUT)])],
            [0.3, graph("Link", [...find.one(/trip_time$/), ...find.one(/packet_loss$/)])],
            [
              0.3,
              graph("Load", [...find.one(...CURRENT), ...find.one(/\/ds\/cpu$/), ...find.one(/can\/utilization$/)]),
            ],
          ),
        ],
        [0.36, column([0.5, view("events")], [0.5, view("console")])],
      ),
    },
    {
      title: "Currents",
      recipe: row(
        [0.65, graph("Power distribution", currents.slice(0, 12))],
        [0.35, view("statistics", currents, true)],
      ),
    },
    { title: "Joysticks", recipe: joysticks(find) },
  ];
}

function carla(find: Finder): Page[] {
  const facts = find.info.facts.map(([name, text]) => `${name} ${text}`).join("\n");
  const hero = /hero\D{0,12}(\d+)/i.exec(facts)?.[1];
  const known = find.channels.find((channel) => /\/actors\/\d+\/vehicle$/.test(channel.name))?.name.split("/")[3];
  const actor = hero ?? known ?? "0";
  const of = (what: string): RegExp => new RegExp(`/actors/${actor}/${what}$`);
  const about = hero ? "hero" : `actor ${actor}`;
  return [
    {
      title: "Traffic",
      recipe: row(
        [0.62, view("carla", find.one(of("transform"), /transform$/))],
        [
          0.38,
          column(
            [0.32, graph(`Velocity of ${about}`, find.within(of("velocity"), /^\.v[xy]$/, 2))],
            [0.32, graph(`Controls of ${about}`, find.within(of("vehicle"), /(steer|throttle|brake)/i, 3))],
            [0.36, view("events")],
          ),
        ],
      ),
    },
    { title: "3D", recipe: view("scene", find.one(of("transform"), /transform$/)) },
  ];
}

function refloat(find: Finder): Page[] {
  return [
    {
      title: "Ride",
      recipe: row(
        [
          0.62,
          column(
            [0.4, graph("Balance", find.all(/\/(pitch|balance_pitch|setpoint|roll)$/, 4))],
            [0.3, graph("Duty", [...find.one(/\/duty_cycle$/), ...find.one(/\/erpm$/, /\/speed$/)])],
            [
              0.3,
              graph("Current", [
                ...find.all(/\/(balance_current|dir_current|motor_current|current)$/, 3),
                ...find.one(/batt_voltage$/),
              ]),
            ],
          ),
        ],
        [0.38, column([0.6, view("board", find.one(/\/pitch$/))], [0.4, view("events")])],
      ),
    },
  ];
}

function general(find: Finder): Page[] {
  const useful = find.channels.filter((channel) => channel.samples > 1 && !channel.name.includes("/.schema/"));
  const numbers = useful.filter((channel) => channel.kind === "number").slice(0, 4);
  const firsts = [...numbers, ...useful.filter((channel) => !numbers.includes(channel))].slice(0, 8);
  return [
    {
      title: "Overview",
      recipe: column(
        [
          0.6,
          graph(
            "",
            numbers.map((channel) => find.ref(channel)),
          ),
        ],
        [
          0.4,
          view(
            "table",
            firsts.map((channel) => find.ref(channel)),
            true,
          ),
        ],
      ),
    },
  ];
}

const PAGES: Record<Preset, (find: Finder) => Page[]> = { frc, ds, carla, refloat, general };

/** At most so many logs get tabs of their own. */
const MOST_LOGS = 4;

export interface PresetInput {
  logs: LogInfo[];
  channels: Channel[][];
  refOf: (log: number, channel: Channel, path?: string) => SeriesRef;
  registry: Registry;
  /** Makes ids. */
  id: () => string;
}

/** The tabs to begin with; `wanted` instead of what the logs say of themselves. None, if nothing can be shown. */
export function presetTabs(input: PresetInput, wanted?: Preset): Tab[] {
  const tabs: Tab[] = [];
  const several = input.logs.length > 1;
  for (const info of input.logs.slice(0, MOST_LOGS)) {
    const find = new Finder(info, input.channels[info.id] ?? [], input.refOf);
    let made = cook(input, PAGES[wanted ?? info.preset](find));
    // A log that has nothing of what is usual is shown for what it has.
    if (!made.some((tab) => panesOf(tab.root).some((pane) => pane.kind === "graph"))) {
      made = [...cook(input, general(find)), ...made];
    }
    if (several) for (const tab of made) tab.title = `${tab.title} · ${shortName(info.name)}`;
    tabs.push(...made);
  }
  return tabs;
}

const shortName = (name: string): string => (name.length > 18 ? `${name.slice(0, 17)}…` : name);

function cook(input: PresetInput, pages: Page[]): Tab[] {
  const tabs: Tab[] = [];
  for (const { title, recipe } of pages) {
    const root = node(input, recipe);
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
    return { id: input.id(), kind: recipe.kind, title: recipe.title ?? "", config };
  }
  const made = recipe.parts
    .map(([size, part]) => ({ size, part: node(input, part) }))
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

/**
 * Layouts that AdvantageScope exports ("Export Layout…"), as far as logpose has views for them. The result is a layout in
 * plain JSON, which still has to be restored like any other.
 *
 * Since 2023 such a file has `hubs`, each a window with tabs; since 2025 a tab keeps what it shows in `controller`, before
 * that beside its `type`. Kinds of tabs are numbers, which changed in 2025 too.
 */

import { items, record, type Data } from "../model/config";
import type { SeriesRef } from "../model/series";
import type { Found } from "../store/session.svelte";
import { measureOf, unitShown } from "../values/units";

export interface Imported {
  layout: { version: number; tabs: unknown[]; current: string };
  /** The version of AdvantageScope that wrote it; empty if the file has none. */
  version: string;
  /** What was left out, for people. */
  lost: string[];
}

/** Finds the series that a name of AdvantageScope means, and its unit. */
export type Resolve = (key: string) => { ref: SeriesRef; unit: string };

/** A name has at most so many parts that belong to a value. */
const DEEPEST = 8;

/**
 * Names of AdvantageScope in the open logs. It writes parts of values as parts of names (`/Pose/translation/x`), puts
 * `/Log1` before the names of a second log, and leaves out what its live sources have in common.
 */
export function resolver(logs: number, find: (ref: SeriesRef) => Found | null): Resolve {
  return (key) => {
    const merged = /^\/?Log(\d+)(?=[/:])/.exec(key);
    const own = merged ? key.slice(merged[0].length) : key;
    const given = merged ? [Number(merged[1])] : [];
    const order = [...given, ...Array.from({ length: logs }, (_, log) => log).filter((log) => !given.includes(log))];
    const bare = own.replace(/^(NT:)?\/?(AdvantageKit\/)?/, "");
    const names = new Set([own, `/${bare}`, bare, `NT:/${bare}`, `/AdvantageKit/${bare}`, `NT:/AdvantageKit/${bare}`]);
    for (const log of order) {
      for (const name of names) {
        const found = within(log, name, find);
        if (found) return found;
      }
    }
    return { ref: { log: given[0] ?? 0, name: own, path: "" }, unit: "" };
  };
}

function within(log: number, full: string, find: (ref: SeriesRef) => Found | null): ReturnType<Resolve> | null {
  let [name, path] = [full, ""];
  for (let depth = 0; depth <= DEEPEST; depth++) {
    const ref = { log, name, path };
    const found = find(ref);
    if (found && (path === "" || found.field)) return { ref, unit: unitShown(found) };
    const cut = name.lastIndexOf("/");
    if (cut <= 0) return null;
    const part = name.slice(cut + 1);
    path = (/^\d+$/.test(part) ? `[${part}]` : `.${part}`) + path;
    name = name.slice(0, cut);
  }
  return null;
}

const NEW = ["", "graph", "field", "scene", "table", "console", "statistics", "video", "joysticks", "swerve"];
const OLD = ["", "graph", "table", "console", "statistics", "field", "scene", "video", "joysticks", "swerve"];
const TITLES: Record<string, string> = {
  graph: "Line Graph",
  field: "2D Field",
  scene: "3D Field",
  table: "Table",
  console: "Console",
  statistics: "Statistics",
  joysticks: "Joysticks",
  swerve: "Swerve",
};
const WIDTHS: Record<string, number> = { normal: 1.5, bold: 2.5, verybold: 4 };
const FILTERS = ["none", "derivative", "integral"];

export const isAdvantageScope = (data: unknown): boolean =>
  Array.isArray(record(data)["hubs"]) || Array.isArray(record(data)["layout"]);

/** Nothing, if there is no tab in it that logpose can show. */
export function importAdvantageScope(data: unknown, resolve: Resolve): Imported | null {
  const given = record(data);
  const lost = new Map<string, number>();
  const lose = (what: string) => lost.set(what, (lost.get(what) ?? 0) + 1);
  const tabs: unknown[] = [];
  let current = "";
  if (!Array.isArray(given["hubs"])) lose("layouts of AdvantageScope 2022 are in another format");
  for (const hub of items(given["hubs"])) {
    const state = record(record(record(hub)["state"])["tabs"]);
    items(state["tabs"]).forEach((tab, place) => {
      const made = tabOf(record(tab), `t${tabs.length + 1}`, resolve, lose);
      if (!made) return;
      tabs.push(made);
      if (place === state["selected"]) current ||= made.id;
    });
  }
  items(given["satellites"]).forEach(() => lose("pop-out windows"));
  if (tabs.length === 0) return null;
  return {
    layout: { version: 1, tabs, current },
    version: text(given["version"]),
    lost: [...lost].map(([what, count]) => (count > 1 ? `${what} (${count})` : what)),
  };
}

const text = (data: unknown): string => (typeof data === "string" ? data : "");

function tabOf(tab: Data, id: string, resolve: Resolve, lose: (what: string) => void): { id: string } | null {
  const isNew = "controller" in tab;
  const kind = (isNew ? NEW : OLD)[Number(tab["type"])];
  if (kind === "") return null;
  const view = kind === undefined ? undefined : VIEWS[kind];
  if (!view) {
    // Kinds behind these have other numbers in each version.
    const title = text(tab["title"]);
    const what = kind === "video" ? "video" : "mechanisms, points and metadata";
    lose(`a tab that shows ${what}${title ? `: ${title}` : ""}`);
    return null;
  }
  const state = isNew ? record(tab["controller"]) : tab;
  const config = view(isNew ? { ...state, saved: tab["controller"] } : older(kind ?? "", state), resolve, lose);
  const title = text(tab["title"]) || (TITLES[kind ?? ""] ?? "");
  const pane = { id: `p${id.slice(1)}`, kind, title, config };
  return Object.assign({ id }, { title, root: pane, active: pane.id, maximised: null });
}

/** What a tab had before 2025, as it is since. */
function older(kind: string, tab: Data): Data {
  if (kind === "graph") {
    const legends = record(tab["legends"]);
    const side = (name: string) => {
      const legend = record(legends[name]);
      return {
        locked: legend["lockedRange"],
        units: legend["unitConversion"],
        sources: items(legend["fields"]).map((field) => {
          const { key, color, show } = record(field);
          return { type: "stepped", logKey: key, visible: show, options: { color } };
        }),
      };
    };
    const [left, right] = [side("left"), side("right")];
    return {
      leftSources: left.sources,
      rightSources: right.sources,
      discreteSources: side("discrete").sources,
      leftLockedRange: left.locked,
      rightLockedRange: right.locked,
      leftUnitConversion: left.units,
      rightUnitConversion: right.units,
    };
  }
  if (kind === "table") return { saved: tab["fields"] };
  if (kind === "console") return { saved: tab["field"] };
  if (kind === "statistics") {
    const sources = items(tab["fields"]).flatMap((key) => (text(key) ? [{ type: "independent", logKey: key }] : []));
    return { sources };
  }
  if (kind === "swerve") {
    const types = ["states", "states", "rotation"];
    const sources = items(tab["fields"]).map((field, place) => ({ type: types[place], logKey: record(field)["key"] }));
    return { sources };
  }
  const sources = items(tab["listFields"])
    .flatMap(items)
    .map((field) => {
      const { type, key } = record(field);
      const words = text(type).toLowerCase();
      const known = ["heatmap", "trajectory", "arrow", "ghost", "robot", "vision", "zebra", "mechanism", "component"];
      return { type: known.find((word) => words.includes(word)) ?? words, logKey: key };
    });
  return { sources };
}

interface Source {
  type: string;
  key: string;
  visible: boolean;
  options: Data;
}

function sourcesOf(data: unknown): Source[] {
  return items(data).flatMap((one) => {
    const { type, logKey, visible, options } = record(one);
    const key = text(logKey);
    if (!key) return [];
    // Before 2026 what a number array means had types of its own.
    const plain = text(type).replace(/Legacy$|Zebra$/, "");
    return [{ type: plain, key, visible: visible !== false, options: record(options) }];
  });
}

type View = (state: Data, resolve: Resolve, lose: (what: string) => void) => unknown;

const VIEWS: Record<string, View> = {
  graph: (state, resolve, lose) => {
    const axes: Record<string, unknown> = {};
    const series = (["left", "right"] as const).flatMap((side) => {
      const filter = FILTERS[Number(state[`${side}Filter`] ?? 0)] ?? "none";
      const found = sourcesOf(state[`${side}Sources`]).map((source) => ({ source, ...resolve(source.key) }));
      const { autoTarget, preset, type, factor } = record(state[`${side}UnitConversion`]);
      const converted = Boolean(autoTarget) || Boolean(preset) || Boolean(type) || (factor ?? 1) !== 1;
      if (converted) lose(`units of the ${side} axis`);
      const [low, high] = items(state[`${side}LockedRange`]);
      const unit = found[0]?.unit ?? "";
      if (typeof low === "number" && typeof high === "number") {
        // The key of an axis is what it measures, which the view knows by the unit.
        if (converted || filter !== "none" || !found.every((one) => one.unit === unit)) {
          lose(`the fixed range of the ${side} axis`);
        } else axes[`${side}:${measureOf(unit)}`] = { range: [low, high] };
      }
      return found.map(({ source, ref }) => ({ ...lineOf(source), ref, side, filter }));
    });
    for (const source of sourcesOf(state["discreteSources"])) {
      if (source.type === "alerts") lose(`alerts: ${source.key}`);
      else series.push({ ...lineOf(source), ref: resolve(source.key).ref, side: "auto" as never, filter: "none" });
    }
    return { series, axes, bands: state["showRobotMode"] !== false };
  },
  field: (state, resolve, lose) => {
    const roles: Record<string, string> = {
      robot: "robot",
      ghost: "ghost",
      trajectory: "trajectory",
      vision: "targets",
      heatmap: "heat",
      arrow: "arrows",
    };
    const sources = sourcesOf(state["sources"]).flatMap(({ type, key }) => {
      const role = roles[type];
      if (!role) lose(`${named(type)} on the field: ${key}`);
      return role ? [{ ref: resolve(key).ref, role }] : [];
    });
    sources.forEach((source, place) => Object.assign(source, { color: place % 10 }));
    return { sources, field: /ftc/i.test(text(state["field"]) + text(state["game"])) ? "ftc" : "frc" };
  },
  scene: (state, resolve, lose) => {
    const shapes: Record<string, string> = {
      robot: "robot",
      ghost: "ghost",
      trajectory: "path",
      vision: "points",
      gamePiece: "points",
      aprilTag: "axes",
      axes: "axes",
      cone: "axes",
    };
    const sources = sourcesOf(state["sources"]).flatMap(({ type, key }) => {
      const shape = shapes[type];
      if (!shape) lose(`${named(type)} in 3D: ${key}`);
      return shape ? [{ ref: resolve(key).ref, shape }] : [];
    });
    sources.forEach((source, place) => Object.assign(source, { color: place % 10 }));
    return { sources };
  },
  table: (state, resolve) => ({
    columns: items(state["saved"]).flatMap((key) => (text(key) ? [{ ref: resolve(text(key)).ref }] : [])),
  }),
  console: (state, resolve) => ({ series: text(state["saved"]) ? [resolve(text(state["saved"])).ref] : [] }),
  statistics: (state, resolve, lose) => {
    const sources = sourcesOf(state["sources"]);
    const compared = sources.filter(({ type }) => type !== "independent" && type !== "reference");
    if (compared.length > 0) lose("statistics of errors against a reference");
    const range = text(state["timeRange"]);
    if (range !== "" && range !== "visible" && range !== "full") lose(`the time range "${range}" of statistics`);
    return { series: sources.map(({ key }) => resolve(key).ref), range: range === "full" ? "whole" : "visible" };
  },
  joysticks: () => ({}),
  swerve: (state, resolve, lose) => {
    const roles: Record<string, string> = {
      states: "measured",
      moduleVelocities: "measured",
      chassisSpeeds: "speeds",
      robotVelocities: "speeds",
      rotation: "rotation",
    };
    const taken = new Set<string>();
    const sources = sourcesOf(state["sources"]).flatMap(({ type, key }) => {
      let role = roles[type];
      // Two lists of states are what was measured and what was wanted.
      if (role === "measured" && (/setpoint|target|desired/i.test(key) || taken.has(role))) role = "setpoint";
      if (role === undefined || taken.has(role)) {
        lose(`${named(type)} of the swerve drive: ${key}`);
        return [];
      }
      taken.add(role);
      return [{ ref: resolve(key).ref, role }];
    });
    const size = (one: unknown) => (typeof one === "number" && one > 0 ? one : undefined);
    return {
      sources,
      fastest: size(state["maxSpeed"]),
      length: size(state["sizeX"]),
      width: size(state["sizeY"]),
    };
  },
};

const lineOf = ({ type, visible, options }: Source) => ({
  style: ["stepped", "smooth", "points"].includes(type) ? type : "stepped",
  color: options["color"],
  width: WIDTHS[text(options["size"])] ?? 1.5,
  shown: visible,
});

/** `swerveStates` is "swerve states". */
const named = (type: string): string =>
  type.replace(/[A-Z]+/g, (capital) => ` ${capital.toLowerCase()}`) || "something";

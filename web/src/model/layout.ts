/** Reads layouts from links and files. Invalid parts are dropped and reported, the rest is kept. */

import type { ViewDefinition } from "./view";
import { isSplit, panesOf, type Node, type Pane, type Split, type Tab } from "./panes";

export type Registry = (kind: string) => ViewDefinition | undefined;

export interface Restored {
  tabs: Tab[];
  current: string;
  /** What could not be understood, for people. */
  lost: string[];
}

export const VERSION = 1;
const MOST_TABS = 40;
const MOST_PANES = 48;
const DEEPEST = 12;
const LONGEST = 120;

const record = (data: unknown): Record<string, unknown> | null =>
  typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Record<string, unknown>) : null;

const text = (data: unknown): string => (typeof data === "string" ? data.slice(0, LONGEST) : "");

/** Nothing, if there is no tab in it. */
export function restoreLayout(data: unknown, registry: Registry): Restored | null {
  const given = record(data);
  if (!given || !Array.isArray(given["tabs"])) return null;
  const lost = new Set<string>();
  if (typeof given["version"] === "number" && given["version"] > VERSION) {
    lost.add("it was written by a newer version of logpose");
  }
  const ids = new Set<string>();
  let next = 1;
  const idOf = (wanted: unknown): string => {
    let id = typeof wanted === "string" && /^[a-z][0-9a-z]{0,11}$/.test(wanted) ? wanted : "";
    while (!id || ids.has(id)) id = `r${next++}`;
    ids.add(id);
    return id;
  };

  const pane = (from: Record<string, unknown>): Pane => {
    const kind = text(from["kind"]);
    const view = kind ? registry(kind) : undefined;
    if (kind && !view) lost.add(`there is no view "${kind}"`);
    return {
      id: idOf(from["id"]),
      kind: view ? kind : "",
      title: text(from["title"]),
      config: view ? view.restore(from["config"]) : null,
    };
  };

  let panes = 0;
  const node = (from: unknown, depth: number): Node | null => {
    const fields = record(from);
    if (!fields) return null;
    if (!("children" in fields)) {
      if (++panes > MOST_PANES) {
        lost.add(`more than ${MOST_PANES} panes`);
        return null;
      }
      return pane(fields);
    }
    if (!Array.isArray(fields["children"]) || depth > DEEPEST) {
      lost.add("panes that are nested wrongly");
      return null;
    }
    const weights: unknown[] = Array.isArray(fields["sizes"]) ? fields["sizes"] : [];
    const children: Node[] = [];
    const sizes: number[] = [];
    fields["children"].forEach((child: unknown, place) => {
      const made = node(child, depth + 1);
      if (!made) return;
      const weight = weights[place];
      children.push(made);
      sizes.push(typeof weight === "number" && weight > 0 && weight <= 1 ? weight : 0.5);
    });
    if (children.length < 2) return children[0] ?? null;
    const sum = sizes.reduce((all, size) => all + size, 0);
    const split: Split = {
      id: idOf(fields["id"]),
      direction: fields["direction"] === "column" ? "column" : "row",
      sizes: sizes.map((size) => size / sum),
      children,
    };
    return split;
  };

  const tabs: Tab[] = [];
  for (const from of given["tabs"].slice(0, MOST_TABS) as unknown[]) {
    const fields = record(from);
    const root = node(fields?.["root"], 0);
    if (!fields || !root) {
      lost.add("a tab without panes");
      continue;
    }
    const known = panesOf(root).map((one) => one.id);
    const active = text(fields["active"]);
    const maximised = text(fields["maximised"]);
    tabs.push({
      id: idOf(fields["id"]),
      title: text(fields["title"]),
      root,
      active: known.includes(active) ? active : (known[0] ?? ""),
      maximised: known.includes(maximised) ? maximised : null,
    });
  }
  if (given["tabs"].length > MOST_TABS) lost.add(`more than ${MOST_TABS} tabs`);
  const first = tabs[0];
  if (!first) return null;
  const current = text(given["current"]);
  return { tabs, current: tabs.some((tab) => tab.id === current) ? current : first.id, lost: [...lost] };
}

/** All ids in some tabs. */
export function idsOf(tabs: Tab[]): Set<string> {
  const ids = new Set<string>();
  const visit = (node: Node): void => {
    ids.add(node.id);
    if (isSplit(node)) node.children.forEach(visit);
  };
  for (const tab of tabs) {
    ids.add(tab.id);
    visit(tab.root);
  }
  return ids;
}

/**
 * Makes `target` the same as `source` and keeps the objects that it is made of, so that references to them stay
 * valid.
 */
export function patch(target: unknown, source: unknown): unknown {
  if (Array.isArray(target) && Array.isArray(source)) {
    const [old, wanted] = [target as unknown[], source as unknown[]];
    if (old.length > wanted.length) old.length = wanted.length;
    wanted.forEach((value, place) => {
      const made = place < old.length ? patch(old[place], value) : value;
      if (place >= old.length || made !== old[place]) old[place] = made;
    });
    return target;
  }
  const [old, wanted] = [record(target), record(source)];
  if (old && wanted) {
    for (const key of Object.keys(old)) if (!(key in wanted)) delete old[key];
    for (const [key, value] of Object.entries(wanted)) {
      const made = patch(old[key], value);
      if (made !== old[key] || !(key in old)) old[key] = made;
    }
    return target;
  }
  return source;
}

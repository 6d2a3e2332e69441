/** Tabs, and the panes that share a tab: a tree of splits. Plain data; every function changes it in place. */

export interface Pane {
  id: string;
  /** The kind of view; empty for a pane that still asks what it shall show. */
  kind: string;
  /** A title given by the user; empty for the view's own. */
  title: string;
  config: unknown;
}

export interface Split {
  id: string;
  direction: Direction;
  /** How much of the space each child has; they add up to 1. */
  sizes: number[];
  children: Node[];
}

/** `row`: beside each other; `column`: one below the other. */
export type Direction = "row" | "column";

export type Node = Pane | Split;

export interface Tab {
  id: string;
  title: string;
  root: Node;
  /** The pane that keys and added series go to. */
  active: string;
  /** The pane that has the whole tab for a while, or nothing. */
  maximised: string | null;
}

/** Where something is dropped on a pane. */
export type Side = "left" | "right" | "top" | "bottom" | "middle";

/** In parts of the whole. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface PlacedPane {
  pane: Pane;
  box: Box;
}

/** The line between two neighbours of a split. */
export interface PlacedBar {
  split: Split;
  /** It is behind the child of this place. */
  place: number;
  box: Box;
}

const SMALLEST = 0.06;

export const isSplit = (node: Node): node is Split => "children" in node;

export function panesOf(node: Node): Pane[] {
  return isSplit(node) ? node.children.flatMap(panesOf) : [node];
}

export function paneOf(node: Node, id: string): Pane | null {
  return panesOf(node).find((pane) => pane.id === id) ?? null;
}

/** Where everything in a tab is. */
export function arrange(root: Node): { panes: PlacedPane[]; bars: PlacedBar[] } {
  const panes: PlacedPane[] = [];
  const bars: PlacedBar[] = [];
  const visit = (node: Node, box: Box): void => {
    if (!isSplit(node)) {
      panes.push({ pane: node, box });
      return;
    }
    let passed = 0;
    node.children.forEach((child, place) => {
      const size = node.sizes[place] ?? 0;
      const inner: Box =
        node.direction === "row"
          ? { left: box.left + passed * box.width, top: box.top, width: size * box.width, height: box.height }
          : { left: box.left, top: box.top + passed * box.height, width: box.width, height: size * box.height };
      visit(child, inner);
      passed += size;
      if (place + 1 < node.children.length) bars.push({ split: node, place, box });
    });
  };
  visit(root, { left: 0, top: 0, width: 1, height: 1 });
  return { panes, bars };
}

/** How far along its split a bar is, from 0 to 1. */
export const barAt = (bar: PlacedBar): number =>
  bar.split.sizes.slice(0, bar.place + 1).reduce((sum, size) => sum + size, 0);

/** Moves a bar to a place from 0 to 1 along its split; its two neighbours keep a minimum size. */
export function moveBar(split: Split, place: number, to: number): void {
  const before = split.sizes.slice(0, place).reduce((sum, size) => sum + size, 0);
  const both = (split.sizes[place] ?? 0) + (split.sizes[place + 1] ?? 0);
  const min = Math.min(SMALLEST, both / 2);
  const first = Math.min(Math.max(to - before, min), both - min);
  split.sizes[place] = first;
  split.sizes[place + 1] = both - first;
}

/** Gives a split's children the same space. */
export function even(split: Split): void {
  split.sizes = split.children.map(() => 1 / split.children.length);
}

function parentOf(node: Node, id: string): { split: Split; place: number } | null {
  if (!isSplit(node)) return null;
  const place = node.children.findIndex((child) => child.id === id);
  if (place >= 0) return { split: node, place };
  for (const child of node.children) {
    const found = parentOf(child, id);
    if (found) return found;
  }
  return null;
}

/** Puts `added` beside the pane `id`, which gives it half of its space. `name` makes ids for splits. */
export function addBeside(tab: Tab, id: string, side: Exclude<Side, "middle">, added: Pane, name: () => string): void {
  const direction: Direction = side === "left" || side === "right" ? "row" : "column";
  const behind = side === "right" || side === "bottom";
  const parent = parentOf(tab.root, id);
  if (parent && parent.split.direction === direction) {
    const { split, place } = parent;
    const half = (split.sizes[place] ?? 1) / 2;
    split.sizes.splice(place, 1, half, half);
    split.children.splice(behind ? place + 1 : place, 0, added);
    return;
  }
  const old = parent ? parent.split.children[parent.place] : tab.root;
  if (!old) return;
  const split: Split = { id: name(), direction, sizes: [0.5, 0.5], children: behind ? [old, added] : [added, old] };
  if (parent) parent.split.children[parent.place] = split;
  else tab.root = split;
}

/** Takes a pane out; its neighbours share its space. False if it is the only one. */
export function takeOut(tab: Tab, id: string): boolean {
  const parent = parentOf(tab.root, id);
  if (!parent) return false;
  const { split, place } = parent;
  split.children.splice(place, 1);
  split.sizes.splice(place, 1);
  const sum = split.sizes.reduce((all, size) => all + size, 0) || 1;
  split.sizes = split.sizes.map((size) => size / sum);
  if (split.children.length === 1) collapse(tab, split);
  if (tab.maximised === id) tab.maximised = null;
  if (tab.active === id) tab.active = panesOf(tab.root)[0]?.id ?? "";
  return true;
}

/** A split with one child becomes that child, and a row within a row becomes one row. */
function collapse(tab: Tab, split: Split): void {
  const only = split.children[0];
  if (!only) return;
  const parent = parentOf(tab.root, split.id);
  if (!parent) {
    tab.root = only;
  } else if (isSplit(only) && only.direction === parent.split.direction) {
    const size = parent.split.sizes[parent.place] ?? 0;
    parent.split.sizes.splice(parent.place, 1, ...only.sizes.map((part) => part * size));
    parent.split.children.splice(parent.place, 1, ...only.children);
  } else {
    parent.split.children[parent.place] = only;
  }
}

/** Two panes change places; they may be in two tabs. */
export function swap(one: Tab, a: string, other: Tab, b: string): void {
  const first = paneOf(one.root, a);
  const second = paneOf(other.root, b);
  if (!first || !second || a === b) return;
  const put = (tab: Tab, id: string, pane: Pane): (() => void) => {
    const parent = parentOf(tab.root, id);
    return () => {
      if (parent) parent.split.children[parent.place] = pane;
      else tab.root = pane;
    };
  };
  // Both places are found before either changes.
  const puts = [put(one, a, second), put(other, b, first)];
  for (const run of puts) run();
}

/** Moves a pane beside another one, or swaps the two. */
export function move(from: Tab, id: string, to: Tab, target: string, side: Side, name: () => string): void {
  if (id === target) return;
  if (side === "middle") {
    swap(from, id, to, target);
    return;
  }
  const pane = paneOf(from.root, id);
  if (!pane || !takeOut(from, id)) return;
  addBeside(to, target, side, pane, name);
  to.active = id;
}

/** Which side of a box a point is nearest to; the middle third means the box itself. */
export function sideAt(x: number, y: number): Side {
  const near = Math.min(x, 1 - x, y, 1 - y);
  if (near > 0.28) return "middle";
  if (near === x) return "left";
  if (near === 1 - x) return "right";
  return near === y ? "top" : "bottom";
}

/** What is shown where: tabs, panes, their views; and the way back from every change. */

import type { SeriesRef } from "../model/series";
import { addBeside, arrange, isSplit, move, moveBar, even, paneOf, panesOf, takeOut } from "../model/panes";
import type { Node, Pane, Side, Split, Tab } from "../model/panes";
import { idsOf, patch, restoreLayout, VERSION, type Registry } from "../model/layout";
import { viewOf } from "./views";
import { toasts } from "./toasts.svelte";

/** A layout as plain JSON. */
export interface LayoutData {
  version: number;
  tabs: Tab[];
  current: string;
}

const MOST_STEPS = 200;
/** Changes that come closer together than this are one step. */
const TOGETHER_MS = 400;

export class Layout {
  tabs = $state<Tab[]>([]);
  /** The id of the tab that is shown. */
  current = $state("");
  readonly tab = $derived(this.tabs.find((tab) => tab.id === this.current) ?? this.tabs[0]);
  readonly placed = $derived(this.tab ? arrange(this.tab.root) : { panes: [], bars: [] });
  readonly active = $derived(this.tab ? paneOf(this.tab.root, this.tab.active) : null);
  canUndo = $state(false);
  canRedo = $state(false);

  #past: string[] = [];
  #future: string[] = [];
  /** The state that the history knows. */
  #known = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #next = 1;

  constructor(private readonly registry: Registry) {
    this.reset([this.emptyTab()]);
  }

  /** Watches what views change in their configurations. To be called once, where effects live. */
  watch(): void {
    $effect(() => {
      void JSON.stringify(this.tabs);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.keep(), TOGETHER_MS);
    });
  }

  data(): LayoutData {
    return { version: VERSION, tabs: $state.snapshot(this.tabs), current: this.current };
  }

  /** Loads a layout from a file or a link. Returns false and changes nothing if it is not a layout. */
  load(data: unknown, about: string): boolean {
    const restored = restoreLayout(data, this.registry);
    if (!restored) return false;
    this.act(() => {
      this.tabs = restored.tabs;
      this.current = restored.current;
    });
    if (restored.lost.length > 0) toasts.show(`${about}: ${restored.lost.join("; ")}`, "warning");
    return true;
  }

  /** Starts over and clears the history. */
  reset(tabs: Tab[], current: string = tabs[0]?.id ?? ""): void {
    this.tabs = tabs;
    this.current = current;
    this.#past = [];
    this.#future = [];
    this.#known = this.#content();
    this.#notify();
  }

  // History.

  /** What is shown now is the beginning. */
  forget(): void {
    this.reset(this.tabs, this.current);
  }

  /** Does something that is a step of its own. */
  act(change: () => void): void {
    this.keep();
    change();
    if (!this.tabs.some((tab) => tab.id === this.current)) this.current = this.tabs[0]?.id ?? "";
    this.keep();
  }

  /** Whatever changed since becomes a step. */
  keep(): void {
    clearTimeout(this.#timer);
    const now = this.#content();
    if (now === this.#known) return;
    this.#past.push(this.#known);
    if (this.#past.length > MOST_STEPS) this.#past.shift();
    this.#future = [];
    this.#known = now;
    this.#notify();
  }

  undo(): void {
    this.keep();
    this.#go(this.#past, this.#future);
  }

  redo(): void {
    this.keep();
    this.#go(this.#future, this.#past);
  }

  #go(from: string[], to: string[]): void {
    const step = from.pop();
    if (step === undefined) return;
    to.push(this.#known);
    this.#put(JSON.parse(step) as { tabs: Tab[] });
    this.#known = this.#content();
    this.#notify();
  }

  /** What steps are made of: which pane is active and which tab is shown is not. */
  #content(): string {
    const tabs = this.tabs.map((tab) => ({ id: tab.id, title: tab.title, root: tab.root }));
    return JSON.stringify({ tabs });
  }

  /** Panes that stay keep their objects, so that their views need not start again. */
  #put({ tabs }: { tabs: Tab[] }): void {
    const before = new Map(this.tabs.map((tab) => [tab.id, tab]));
    const panes = new Map(this.tabs.flatMap((tab) => panesOf(tab.root)).map((pane) => [pane.id, pane]));
    const reuse = (node: Node): Node => {
      if (isSplit(node)) return { ...node, children: node.children.map(reuse) };
      const old = panes.get(node.id);
      if (!old || old.kind !== node.kind) return node;
      old.title = node.title;
      old.config = patch(old.config, node.config);
      return old;
    };
    this.tabs = tabs.map((tab) => {
      const old = before.get(tab.id);
      const root = reuse(tab.root);
      const ids = panesOf(root).map((pane) => pane.id);
      const active = old && ids.includes(old.active) ? old.active : (ids[0] ?? "");
      return { id: tab.id, title: tab.title, root, active, maximised: null };
    });
    if (!before.has(this.current) || !this.tabs.some((tab) => tab.id === this.current)) {
      this.current = this.tabs[0]?.id ?? "";
    }
    const came = this.tabs.find((tab) => !before.has(tab.id));
    if (came) this.current = came.id;
  }

  #notify(): void {
    this.canUndo = this.#past.length > 0;
    this.canRedo = this.#future.length > 0;
  }

  // Tabs.

  id(): string {
    const ids = idsOf(this.tabs);
    while (ids.has(`n${this.#next}`)) this.#next++;
    return `n${this.#next++}`;
  }

  pane(kind = "", config?: unknown): Pane {
    const view = this.registry(kind);
    return { id: this.id(), kind: view ? kind : "", title: "", config: config ?? view?.empty() ?? null };
  }

  emptyTab(): Tab {
    const root = this.pane();
    return { id: this.id(), title: "", root, active: root.id, maximised: null };
  }

  /** A tab's own title, or what it shows. */
  titleOf(tab: Tab): string {
    if (tab.title) return tab.title;
    const titles = panesOf(tab.root).map((pane) => this.paneTitle(pane));
    const first = titles[0] ?? "";
    return titles.length > 1 ? `${first} +${titles.length - 1}` : first;
  }

  paneTitle(pane: Pane): string {
    return pane.title || (this.registry(pane.kind)?.title ?? "New view");
  }

  addTab(tab: Tab = this.emptyTab()): void {
    this.act(() => {
      const place = this.tabs.findIndex((one) => one.id === this.current);
      this.tabs.splice(place + 1, 0, tab);
      this.current = tab.id;
    });
  }

  closeTab(id: string): void {
    this.act(() => {
      const place = this.tabs.findIndex((tab) => tab.id === id);
      if (place < 0) return;
      this.tabs.splice(place, 1);
      if (this.tabs.length === 0) this.tabs.push(this.emptyTab());
      if (this.current === id) this.current = this.tabs[Math.min(place, this.tabs.length - 1)]?.id ?? "";
    });
  }

  renameTab(id: string, title: string): void {
    this.act(() => {
      const tab = this.tabs.find((one) => one.id === id);
      if (tab) tab.title = title.trim();
    });
  }

  /** Puts a tab before another one, or at the end. */
  moveTab(id: string, before: string | null): void {
    if (id === before) return;
    this.act(() => {
      const from = this.tabs.findIndex((tab) => tab.id === id);
      const [tab] = from < 0 ? [] : this.tabs.splice(from, 1);
      if (!tab) return;
      const to = before === null ? -1 : this.tabs.findIndex((one) => one.id === before);
      this.tabs.splice(to < 0 ? this.tabs.length : to, 0, tab);
    });
  }

  duplicateTab(id: string): void {
    const tab = this.tabs.find((one) => one.id === id);
    if (!tab) return;
    const copy = $state.snapshot(tab) as Tab;
    const fresh = (node: Node): Node =>
      isSplit(node) ? { ...node, id: this.id(), children: node.children.map(fresh) } : { ...node, id: this.id() };
    const root = fresh(copy.root);
    const title = copy.title && `${copy.title} (copy)`;
    this.addTab({ id: this.id(), title, root, active: panesOf(root)[0]?.id ?? "", maximised: null });
  }

  /** Shows the tab of this place, counted from 0. */
  showTab(place: number): void {
    const tab = this.tabs[place];
    if (tab) this.current = tab.id;
  }

  cycleTab(by: number): void {
    const place = this.tabs.findIndex((tab) => tab.id === this.current);
    this.showTab((place + by + this.tabs.length) % this.tabs.length);
  }

  // Panes of the tab that is shown.

  activate(id: string): void {
    if (this.tab && this.tab.active !== id && paneOf(this.tab.root, id)) this.tab.active = id;
  }

  /** Goes to the next pane, or to the one before. */
  cycle(by: number): void {
    const panes = this.placed.panes;
    const place = panes.findIndex(({ pane }) => pane.id === this.tab?.active);
    const next = panes[(place + by + panes.length) % panes.length];
    if (!next || !this.tab) return;
    this.tab.active = next.pane.id;
    if (this.tab.maximised) this.tab.maximised = next.pane.id;
  }

  split(id: string, side: Exclude<Side, "middle">, pane: Pane = this.pane()): void {
    this.act(() => {
      const { tab } = this;
      if (!tab) return;
      tab.maximised = null;
      addBeside(tab, id, side, pane, () => this.id());
      tab.active = pane.id;
    });
  }

  /** A copy of a pane, beside it. */
  duplicate(id: string): void {
    const pane = this.tab && paneOf(this.tab.root, id);
    if (!pane) return;
    const copy = $state.snapshot(pane) as Pane;
    this.split(id, "right", { ...copy, id: this.id() });
  }

  /** Takes a pane away; the last one becomes empty instead. */
  close(id: string): void {
    this.act(() => {
      const { tab } = this;
      if (!tab || takeOut(tab, id)) return;
      tab.root = this.pane();
      tab.active = tab.root.id;
      tab.maximised = null;
    });
  }

  maximise(id: string): void {
    const { tab } = this;
    if (!tab || this.placed.panes.length < 2) return;
    tab.maximised = tab.maximised === id ? null : id;
    tab.active = id;
  }

  /** Another view in a pane. Series that it had are taken along where the new one has a use for them. */
  setKind(id: string, kind: string): void {
    const pane = this.tab && paneOf(this.tab.root, id);
    const view = this.registry(kind);
    if (!pane || !view || pane.kind === kind) return;
    this.act(() => {
      const refs = seriesIn($state.snapshot(pane.config));
      const config = view.empty();
      if (refs.length > 0) view.add(config, refs);
      pane.config = config;
      pane.kind = kind;
    });
  }

  rename(id: string, title: string): void {
    this.act(() => {
      const pane = this.tab && paneOf(this.tab.root, id);
      if (pane) pane.title = title.trim();
    });
  }

  move(id: string, target: string, side: Side): void {
    this.act(() => {
      const { tab } = this;
      if (tab) move(tab, id, tab, target, side, () => this.id());
    });
  }

  /** Moves a pane of the shown tab into another tab, which is then shown. */
  moveToTab(id: string, to: string): void {
    const from = this.tab;
    const tab = this.tabs.find((one) => one.id === to);
    if (!from || !tab || from.id === to) return;
    this.act(() => {
      const pane = paneOf(from.root, id);
      const beside = panesOf(tab.root).at(-1);
      if (!pane || !beside) return;
      if (!takeOut(from, id)) {
        from.root = this.pane();
        from.active = from.root.id;
      }
      if (beside.kind === "" && tab.root.id === beside.id) tab.root = pane;
      else addBeside(tab, beside.id, "right", pane, () => this.id());
      tab.active = pane.id;
      tab.maximised = null;
      this.current = tab.id;
    });
  }

  resize(split: Split, place: number, to: number): void {
    moveBar(split, place, to);
  }

  even(split: Split): void {
    this.act(() => even(split));
  }

  // Series.

  /** Whether a view of this kind has a use for series, with a configuration or as a new one. */
  takes(kind: string, refs: SeriesRef[], config?: unknown): boolean {
    const view = this.registry(kind);
    if (!view) return kind === "";
    return view.add(config === undefined ? view.empty() : $state.snapshot(config), refs);
  }

  /** Gives series to a pane. An empty one becomes a graph, or a table for what no graph can draw. */
  add(id: string, refs: SeriesRef[]): boolean {
    const pane = this.tab && paneOf(this.tab.root, id);
    if (!pane || refs.length === 0) return false;
    let taken = false;
    const before = JSON.stringify(pane.config);
    this.act(() => {
      if (pane.kind) {
        taken = this.registry(pane.kind)?.add(pane.config, refs) ?? false;
        return;
      }
      for (const kind of ["graph", "table"]) {
        const view = this.registry(kind);
        const config = view?.empty();
        if (!view?.add(config, refs)) continue;
        pane.config = config;
        pane.kind = kind;
        taken = true;
        return;
      }
    });
    const [first] = refs;
    const what = first && refs.length === 1 ? first.name + first.path : `${refs.length} series`;
    if (taken) this.activate(id);
    else toasts.show(`${this.paneTitle(pane)} cannot show ${what}`, "warning");
    if (taken && before === JSON.stringify(pane.config)) toasts.show(`${what} is already in ${this.paneTitle(pane)}`);
    return taken;
  }

  /** Shows series in a new view beside a pane. */
  addBeside(id: string, kind: string, refs: SeriesRef[], side: Exclude<Side, "middle"> = "bottom"): void {
    const view = this.registry(kind);
    if (!view) return;
    const config = view.empty();
    if (refs.length > 0 && !view.add(config, refs)) {
      toasts.show(`${view.title} cannot show the selected channels`, "warning");
      return;
    }
    const pane = this.tab && paneOf(this.tab.root, id);
    if (pane && !pane.kind) {
      this.act(() => {
        pane.config = config;
        pane.kind = kind;
      });
    } else this.split(id, side, this.pane(kind, config));
  }
}

/** The series that a configuration names, wherever they stand in it. */
export function seriesIn(config: unknown): SeriesRef[] {
  const found: SeriesRef[] = [];
  const visit = (data: unknown, depth: number): void => {
    if (typeof data !== "object" || data === null || depth > 8) return;
    const { log, name, path, type } = data as Partial<SeriesRef>;
    if (typeof name === "string" && typeof path === "string" && typeof log === "number") {
      const ref: SeriesRef = { log, name, path };
      if (type !== undefined) ref.type = type;
      found.push(ref);
    } else for (const inner of Object.values(data)) visit(inner, depth + 1);
  };
  visit(config, 0);
  return found;
}

export const layout = new Layout(viewOf);

/** The list of channels at the side: what is open in it, what is chosen, what is sought. */

import { SvelteSet } from "svelte/reactivity";
import type { Channel } from "../api";
import { keyOf, type SeriesRef } from "../model/series";
import type { Ranked } from "../model/fuzzy";
import { entriesOf, openAtFirst, rowsOf, searchEntries, treeOf } from "../model/tree";
import type { Entry, Row, TreeNode } from "../model/tree";
import { logs } from "./session.svelte";

const NARROWEST = 180;
const WIDEST = 640;
/** As many open groups as an address carries. */
const MOST_OPEN = 300;

export interface SidebarRow extends Row {
  /** For the row of a log: which one. */
  log: number | null;
  /** For a search: the characters to mark. */
  places: number[] | null;
}

class Sidebar {
  shown = $state(true);
  width = $state(300);
  query = $state("");
  /** Ids of open nodes. */
  readonly open = new SvelteSet<string>();
  /** Ids of chosen nodes. */
  readonly chosen = new SvelteSet<string>();
  /** The row that keys go to. */
  focus = $state(0);

  readonly #trees: TreeNode[][] = $derived(
    logs.channels.map((channels, log) => treeOf(log, channels, (channel: Channel) => logs.refOf(log, channel))),
  );
  readonly #entries: Entry[] = $derived(
    logs.channels.flatMap((channels, log) => entriesOf(log, channels, (channel) => logs.refOf(log, channel))),
  );
  readonly rows: SidebarRow[] = $derived(this.query.trim() ? this.#found() : this.#all());
  /** How many there are, also those that are not shown. */
  readonly total = $derived(logs.channels.reduce((sum, channels) => sum + channels.length, 0));

  /** Opens what is worth to be seen at first. */
  start(): void {
    this.open.clear();
    logs.opened.forEach(({ id }) => this.unfold(id));
  }

  /** Opens what is worth to be seen at first of one log. */
  unfold(log: number): void {
    this.open.add(`log${log}`);
    for (const id of openAtFirst(this.#trees[log] ?? [], logs.several ? 12 : 26)) this.open.add(id);
  }

  #all(): SidebarRow[] {
    const rows: SidebarRow[] = [];
    this.#trees.forEach((tree, log) => {
      if (logs.logs[log]?.state === "closed") return;
      const open = this.open.has(`log${log}`);
      const base = rows.length;
      const head: TreeNode = {
        id: `log${log}`,
        label: logs.logs[log]?.name ?? "",
        ref: null,
        kind: null,
        type: "",
        unit: null,
        shown: null,
        children: tree,
        fields: [],
        count: logs.channels[log]?.length ?? 0,
        aside: false,
      };
      rows.push({
        node: head,
        level: 1,
        open,
        parent: -1,
        place: logs.opened.findIndex(({ id }) => id === log) + 1,
        siblings: logs.opened.length,
        log,
        places: null,
      });
      if (!open) return;
      for (const row of rowsOf(tree, (id) => this.open.has(id), 2)) {
        const parent = row.parent < 0 ? base : row.parent + base + 1;
        rows.push({ ...row, parent, log: null, places: null });
      }
    });
    return rows;
  }

  #found(): SidebarRow[] {
    const found = searchEntries(this.query, this.#entries);
    return found.map(({ item, match }, place) => ({
      node: { ...item.node, label: item.text },
      level: 1,
      open: false,
      parent: -1,
      place: place + 1,
      siblings: found.length,
      log: null,
      places: match.places,
    }));
  }

  /** The channels and parts that a query finds, the best first. */
  find(query: string, most: number): Ranked<Entry>[] {
    return searchEntries(query, this.#entries, most);
  }

  toggle(id: string, open: boolean = !this.open.has(id)): void {
    if (open) this.open.add(id);
    else this.open.delete(id);
  }

  /** Chooses a row: alone, with those before, or up to it. */
  choose(place: number, how: "alone" | "also" | "range"): void {
    const row = this.rows[place];
    if (!row) return;
    if (how === "range") {
      const from = this.#anchor;
      this.chosen.clear();
      for (let at = Math.min(from, place); at <= Math.max(from, place); at++) {
        const id = this.rows[at]?.node.id;
        if (id !== undefined) this.chosen.add(id);
      }
    } else {
      if (how === "alone") this.chosen.clear();
      if (how === "also" && this.chosen.has(row.node.id)) this.chosen.delete(row.node.id);
      else this.chosen.add(row.node.id);
      this.#anchor = place;
    }
    this.focus = place;
  }
  #anchor = 0;

  /** What is chosen, in the order of the rows; of a group that is chosen alone, the channels directly in it. */
  refs(): SeriesRef[] {
    const refs = new Map<string, SeriesRef>();
    const rows = this.rows.filter((row) => this.chosen.has(row.node.id));
    for (const { node } of rows) {
      const own = node.ref ? [node.ref] : rows.length === 1 ? node.children.map((child) => child.ref) : [];
      for (const ref of own) if (ref) refs.set(keyOf(ref), ref);
    }
    return [...refs.values()];
  }

  resize(width: number): void {
    this.width = Math.round(Math.min(Math.max(width, NARROWEST), WIDEST));
  }

  data(): unknown {
    return { shown: this.shown, width: this.width, query: this.query, open: [...this.open].slice(0, MOST_OPEN) };
  }

  /** Reads stored settings; invalid ones are ignored. */
  restore(data: unknown): void {
    if (typeof data !== "object" || data === null) return;
    const { shown, width, query, open } = data as Record<string, unknown>;
    if (typeof shown === "boolean") this.shown = shown;
    if (typeof width === "number" && Number.isFinite(width)) this.resize(width);
    if (typeof query === "string") this.query = query.slice(0, 200);
    if (Array.isArray(open)) {
      this.open.clear();
      for (const id of open.slice(0, MOST_OPEN) as unknown[]) if (typeof id === "string") this.open.add(id);
    }
  }
}

export const sidebar = new Sidebar();

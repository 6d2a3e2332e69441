/** Channels as a tree: names split where people split them. */

import type { Channel, Field, ValueKind } from "../api";
import type { SeriesRef } from "./series";
import { candidate, search, type Candidate, type Ranked } from "./fuzzy";

export interface TreeNode {
  /** The same as long as names are: also in addresses. */
  id: string;
  label: string;
  /** What it leads to; nothing for a mere group. */
  ref: SeriesRef | null;
  kind: ValueKind | null;
  type: string;
  unit: string | null;
  /** The unit in which people read it, where the log has another one. */
  shown: string | null;
  /** Groups and channels below it; fields are made when they are shown. */
  children: TreeNode[];
  fields: Field[];
  /** How many channels there are below it. */
  count: number;
  /** Schemas and the like, which are rarely of interest. */
  aside: boolean;
}

export interface Row {
  node: TreeNode;
  /** 1 for the first level. */
  level: number;
  open: boolean;
  /** The row of the node above, or -1. */
  parent: number;
  /** Its place among its siblings, from 1, and how many there are. */
  place: number;
  siblings: number;
}

const ASIDE = ".schema";

/** The parts of a channel's name: `NT:/Drive/Pose` is NT, Drive, Pose. */
export function partsOf(name: string): string[] {
  const schema = name.indexOf(`${ASIDE}/`);
  // Names of schemas have colons of their own.
  const head = schema < 0 ? name : name.slice(0, schema + ASIDE.length);
  const parts = head.split(/[/:]/).filter(Boolean);
  if (schema >= 0) parts.push(name.slice(schema + ASIDE.length + 1));
  return parts.length > 0 ? parts : [name || "(no name)"];
}

/** Digits are padded, so that 10 comes behind 9. */
const orderOf = (label: string): string =>
  (label === ASIDE ? "\uffff" : "") + label.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(9, "0"));

/** The tree of one log's channels. */
export function treeOf(log: number, channels: Channel[], refOf: (channel: Channel) => SeriesRef): TreeNode[] {
  const root = group(`${log}`, "");
  const groups = new Map<string, TreeNode>([[root.id, root]]);
  for (const channel of channels) {
    const parts = partsOf(channel.name);
    const label = parts.pop() ?? channel.name;
    let parent = root;
    for (const part of parts) {
      const id = `${parent.id}/${part}`;
      let next = groups.get(id);
      if (!next) {
        next = group(id, part);
        next.aside = parent.aside || part === ASIDE;
        groups.set(id, next);
        parent.children.push(next);
      }
      next.count++;
      parent = next;
    }
    parent.children.push(leaf(log, channel, refOf(channel), label, parent.aside));
  }
  for (const node of groups.values()) node.children = settle(node.children);
  return root.children.map(compact);
}

function group(id: string, label: string): TreeNode {
  return {
    id,
    label,
    ref: null,
    kind: null,
    type: "",
    unit: null,
    shown: null,
    children: [],
    fields: [],
    count: 0,
    aside: false,
  };
}

/** Sorts siblings, and puts a channel and the group of its name into one row. */
function settle(nodes: TreeNode[]): TreeNode[] {
  const groups = new Map(nodes.filter((node) => !node.ref).map((node) => [node.label, node]));
  const kept: TreeNode[] = [];
  for (const node of nodes) {
    const same = node.ref ? groups.get(node.label) : undefined;
    if (same && !same.ref) {
      same.ref = node.ref;
      same.kind = node.kind;
      same.type = node.type;
      same.unit = node.unit;
      same.shown = node.shown;
      same.fields = node.fields;
    } else kept.push(node);
  }
  const keys = new Map(kept.map((node) => [node, orderOf(node.label)]));
  return kept.sort((a, b) => {
    const [one, other] = [keys.get(a) ?? "", keys.get(b) ?? ""];
    return one < other ? -1 : one > other ? 1 : 0;
  });
}

/** A group whose only child is a group shares a row with it. */
function compact(node: TreeNode): TreeNode {
  node.children = node.children.map(compact);
  const only = node.children[0];
  if (node.ref || node.children.length !== 1 || !only || only.ref || only.aside) return node;
  return { ...only, label: `${node.label}/${only.label}` };
}

/** The row of a channel. */
function leaf(log: number, channel: Channel, ref: SeriesRef, label: string, aside: boolean): TreeNode {
  return {
    id: `${log}=${channel.name}${ref.type ? `(${ref.type})` : ""}`,
    label,
    ref,
    kind: channel.kind,
    type: channel.type,
    unit: channel.unit,
    shown: channel.shown_unit,
    children: [],
    fields: channel.fields,
    count: 1,
    aside,
  };
}

const madeOfFields = new WeakMap<TreeNode, TreeNode[]>();

/** What is below a node: fields first, then channels and groups. */
export function childrenOf(node: TreeNode): TreeNode[] {
  const { ref, fields } = node;
  if (fields.length === 0 || !ref) return node.children;
  let made = madeOfFields.get(node);
  if (!made) {
    made = [
      ...fields.map((field) => ({
        id: `${node.id}${field.path.slice(ref.path.length)}`,
        label: field.name,
        ref: { ...ref, path: field.path },
        kind: field.kind,
        type: field.kind,
        unit: field.unit,
        shown: null,
        children: [],
        fields: field.fields,
        count: 0,
        aside: node.aside,
      })),
      ...node.children,
    ];
    madeOfFields.set(node, made);
  }
  return made;
}

export const canOpen = (node: TreeNode): boolean => node.children.length > 0 || node.fields.length > 0;

/** The rows that are there when these nodes are open. */
export function rowsOf(nodes: TreeNode[], isOpen: (id: string) => boolean, level = 1): Row[] {
  const rows: Row[] = [];
  const visit = (siblings: TreeNode[], level: number, parent: number): void => {
    siblings.forEach((node, place) => {
      const open = canOpen(node) && isOpen(node.id);
      rows.push({ node, level, open, parent, place: place + 1, siblings: siblings.length });
      if (open) visit(childrenOf(node), level + 1, rows.length - 1);
    });
  };
  visit(nodes, level, -1);
  return rows;
}

/** What to show open at first: small groups at the top, and what is directly in them if all of it fits. */
export function openAtFirst(nodes: TreeNode[], most = 28): string[] {
  const groups = (among: TreeNode[]) => among.filter((node) => !node.ref && !node.aside && node.children.length > 0);
  const size = (among: TreeNode[]) => among.reduce((sum, node) => sum + node.children.length, 0);
  let rows = nodes.length;
  const opened = groups(nodes)
    .sort((a, b) => a.children.length - b.children.length)
    .filter((node) => {
      // One group alone is opened however long it is: a list of one says nothing.
      const fits = rows + node.children.length <= most || nodes.length === 1;
      if (fits) rows += node.children.length;
      return fits;
    });
  for (const node of opened) {
    const inner = groups(node.children);
    if (rows + size(inner) > most) continue;
    rows += size(inner);
    opened.push(...inner);
  }
  return opened.map((node) => node.id);
}

/** A channel, or a part of one, that can be searched for. */
export interface Entry extends Candidate {
  node: TreeNode;
}

/** With more than this, parts of values are not searched. */
const MOST_ENTRIES = 200_000;

export function entriesOf(log: number, channels: Channel[], refOf: (channel: Channel) => SeriesRef): Entry[] {
  const entries: Entry[] = [];
  const add = (channel: Channel, ref: SeriesRef, node: TreeNode): void => {
    entries.push({ ...candidate(ref.name + ref.path, `${node.type} ${node.unit ?? ""}`), node });
    if (channels.length + entries.length > MOST_ENTRIES) return;
    if (channel.kind !== "struct" && ref.path === "") return;
    for (const child of childrenOf(node)) if (child.ref) add(channel, child.ref, child);
  };
  for (const channel of channels) {
    const ref = refOf(channel);
    const aside = partsOf(channel.name).includes(ASIDE);
    add(channel, ref, leaf(log, channel, ref, channel.name, aside));
  }
  return entries;
}

/** Finds channels; schemas only for those who ask for them. */
export function searchEntries(query: string, entries: Entry[], most = 1000): Ranked<Entry>[] {
  const aside = /schema/i.test(query);
  return search(query, aside ? entries : entries.filter(({ node }) => !node.aside), most);
}

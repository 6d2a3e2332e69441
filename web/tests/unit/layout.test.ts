import { beforeEach, describe, expect, test } from "vitest";
import { panesOf, type Node } from "../../src/model/panes";
import { patch, restoreLayout } from "../../src/model/layout";
import type { SeriesRef } from "../../src/model/series";
import type { ViewDefinition } from "../../src/model/view";

const { Layout, seriesIn } = await import("../../src/store/layout.svelte");

interface Config {
  series: SeriesRef[];
  zoom: number;
}

/** A view that takes what has a name of lower case letters. */
const view = (kind: string): ViewDefinition =>
  ({
    kind,
    title: kind.toUpperCase(),
    about: "",
    icon: "",
    component: undefined,
    empty: (): Config => ({ series: [], zoom: 1 }),
    restore: (data: unknown): Config => ({
      series: [],
      zoom: typeof (data as Config | null)?.zoom === "number" ? (data as Config).zoom : 1,
    }),
    add: (config: unknown, refs: SeriesRef[]) => {
      const fit = refs.filter((ref) => /^[a-z]+$/.test(ref.name));
      (config as Config).series.push(...fit);
      return fit.length > 0;
    },
  }) as unknown as ViewDefinition;

const known = new Map(["graph", "table"].map((kind) => [kind, view(kind)]));
const registry = (kind: string) => known.get(kind);
const ref = (name: string): SeriesRef => ({ log: 0, name, path: "" });

let layout: InstanceType<typeof Layout>;
const tab = () => {
  const found = layout.tabs.find((one) => one.id === layout.current);
  if (!found) throw new Error("no tab");
  return found;
};
const panes = () => panesOf(tab().root);
const kinds = () => panes().map((pane) => pane.kind);
const first = () => panes()[0]?.id ?? "";

beforeEach(() => {
  layout = new Layout(registry);
});

describe("series", () => {
  test("make a graph of an empty pane", () => {
    expect(layout.add(first(), [ref("a")])).toBe(true);
    expect(kinds()).toEqual(["graph"]);
    expect(panes()[0]?.config).toEqual({ series: [ref("a")], zoom: 1 });
  });

  test("that nobody wants change nothing", () => {
    expect(layout.add(first(), [ref("A1")])).toBe(false);
    expect(kinds()).toEqual([""]);
    expect(layout.canUndo).toBe(false);
  });

  test("go along into another kind of view", () => {
    layout.add(first(), [ref("a"), ref("b")]);
    layout.setKind(first(), "table");
    expect(kinds()).toEqual(["table"]);
    expect(seriesIn(panes()[0]?.config)).toEqual([ref("a"), ref("b")]);
  });

  test("make a view beside", () => {
    layout.add(first(), [ref("a")]);
    layout.addBeside(first(), "table", [ref("b")]);
    expect(kinds()).toEqual(["graph", "table"]);
  });
});

describe("undo", () => {
  test("goes back step by step and forth again", () => {
    layout.add(first(), [ref("a")]);
    layout.split(first(), "right");
    layout.setKind(panes()[1]?.id ?? "", "table");
    expect(kinds()).toEqual(["graph", "table"]);
    layout.undo();
    expect(kinds()).toEqual(["graph", ""]);
    layout.undo();
    expect(kinds()).toEqual(["graph"]);
    layout.undo();
    expect(kinds()).toEqual([""]);
    layout.undo();
    expect(kinds()).toEqual([""]);
    expect(layout.canUndo).toBe(false);
    for (let step = 0; step < 5; step++) layout.redo();
    expect(kinds()).toEqual(["graph", "table"]);
    expect(layout.canRedo).toBe(false);
  });

  test("knows what views changed themselves, as one step", () => {
    layout.add(first(), [ref("a")]);
    const config = () => panes()[0]?.config as Config;
    config().zoom = 2;
    config().zoom = 3;
    layout.split(first(), "bottom");
    layout.undo();
    expect(config().zoom).toBe(3);
    layout.undo();
    expect(config().zoom).toBe(1);
    expect(config().series).toEqual([ref("a")]);
  });

  test("keeps the objects of panes that stay", () => {
    layout.add(first(), [ref("a")]);
    const before = panes()[0]?.config;
    (before as Config).zoom = 5;
    layout.undo();
    expect(panes()[0]?.config).toBe(before);
    expect((before as Config).zoom).toBe(1);
  });

  test("brings back a closed tab and shows it", () => {
    layout.renameTab(layout.current, "one");
    layout.addTab();
    layout.renameTab(layout.current, "two");
    const two = layout.current;
    layout.closeTab(two);
    expect(layout.tabs.map((one) => one.title)).toEqual(["one"]);
    layout.undo();
    expect(layout.tabs.map((one) => one.title)).toEqual(["one", "two"]);
    expect(layout.current).toBe(two);
  });

  test("something new ends what could be done again", () => {
    layout.addTab();
    layout.undo();
    layout.split(first(), "right");
    expect(layout.canRedo).toBe(false);
  });

  test("which tab is shown is no step", () => {
    layout.addTab();
    layout.showTab(0);
    layout.keep();
    layout.undo();
    expect(layout.tabs).toHaveLength(1);
  });

  test("forgets what is long ago", () => {
    for (let step = 0; step < 500; step++) layout.renameTab(layout.current, `${step}`);
    for (let step = 0; step < 500; step++) layout.undo();
    expect(tab().title).toBe("299");
  });
});

describe("tabs", () => {
  test("are moved, copied and never less than one", () => {
    layout.renameTab(layout.current, "a");
    layout.add(first(), [ref("x")]);
    layout.duplicateTab(layout.current);
    expect(layout.tabs.map((one) => one.title)).toEqual(["a", "a (copy)"]);
    expect(kinds()).toEqual(["graph"]);
    expect(new Set(layout.tabs.flatMap((one) => panesOf(one.root)).map((pane) => pane.id)).size).toBe(2);
    layout.moveTab(layout.current, layout.tabs[0]?.id ?? null);
    expect(layout.tabs.map((one) => one.title)).toEqual(["a (copy)", "a"]);
    for (const { id } of [...layout.tabs]) layout.closeTab(id);
    expect(layout.tabs).toHaveLength(1);
    expect(kinds()).toEqual([""]);
  });

  test("take panes of each other", () => {
    layout.add(first(), [ref("a")]);
    layout.split(first(), "right", layout.pane("table"));
    const moved = panes()[1]?.id ?? "";
    const from = layout.current;
    layout.addTab();
    const to = layout.current;
    layout.showTab(0);
    layout.moveToTab(moved, to);
    expect(layout.current).toBe(to);
    expect(kinds()).toEqual(["table"]);
    layout.current = from;
    expect(kinds()).toEqual(["graph"]);
  });
});

describe("a layout from elsewhere", () => {
  const round = () => restoreLayout(JSON.parse(JSON.stringify(layout.data())), registry);

  test("is the same as it was", () => {
    layout.add(first(), [ref("a")]);
    layout.split(first(), "right");
    layout.split(panes()[1]?.id ?? "", "bottom");
    layout.renameTab(layout.current, "mine");
    const back = round();
    expect(back?.lost).toEqual([]);
    const shape = (node: Node): unknown =>
      "children" in node ? [node.direction, node.sizes, node.children.map(shape)] : [node.id, node.kind, node.title];
    expect(back?.tabs.map((one) => [one.id, one.title, shape(one.root)])).toEqual(
      layout.tabs.map((one) => [one.id, one.title, shape(one.root)]),
    );
  });

  test.each([
    [null],
    [1],
    ["tabs"],
    [[]],
    [{}],
    [{ tabs: 5 }],
    [{ tabs: [] }],
    [{ tabs: [null, 1, {}, { root: 7 }, { root: { children: [] } }] }],
  ])("%j is none", (data) => expect(restoreLayout(data, registry)).toBeNull());

  test("that has odd parts loses those and says so", () => {
    const back = restoreLayout(
      {
        version: 99,
        current: {},
        tabs: [
          { root: { kind: "nonsense", title: 5 }, active: [] },
          {
            id: "__proto__",
            title: "x".repeat(9999),
            root: { direction: "up", sizes: [NaN, -1, "a"], children: [{ kind: "graph" }, 5, { kind: "table" }] },
          },
        ],
      },
      registry,
    );
    expect(back?.lost).toEqual(["it was written by a newer version of logpose", 'there is no view "nonsense"']);
    expect(back?.tabs.map((one) => panesOf(one.root).map((pane) => pane.kind))).toEqual([[""], ["graph", "table"]]);
    expect(back?.tabs[1]?.root).toMatchObject({ direction: "row", sizes: [0.5, 0.5] });
    expect(back?.tabs[1]?.title).toHaveLength(120);
    expect(back?.current).toBe(back?.tabs[0]?.id);
  });

  test("with ids twice gets others", () => {
    const back = restoreLayout(
      {
        tabs: [
          { id: "a", root: { children: [{ id: "a" }, { id: "a" }] } },
          { id: "a", root: { id: "a" } },
        ],
      },
      registry,
    );
    const ids = back?.tabs.flatMap((one) => [one.id, ...panesOf(one.root).map((pane) => pane.id)]) ?? [];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("that is deeper or larger than anybody needs ends somewhere", () => {
    let deep: unknown = { kind: "graph" };
    for (let level = 0; level < 5000; level++) deep = { children: [{ kind: "table" }, deep] };
    expect(restoreLayout({ tabs: [{ root: deep }] }, registry)?.lost).toEqual(["panes that are nested wrongly"]);
    const many = { tabs: Array.from({ length: 1000 }, () => ({ root: { kind: "graph" } })) };
    expect(restoreLayout(many, registry)?.tabs.length).toBeLessThanOrEqual(40);
  });

  test("can be undone", () => {
    layout.add(first(), [ref("a")]);
    expect(layout.load({ tabs: [{ root: { kind: "table" } }] }, "a file")).toBe(true);
    expect(kinds()).toEqual(["table"]);
    expect(layout.load("nonsense", "a file")).toBe(false);
    layout.undo();
    expect(kinds()).toEqual(["graph"]);
  });
});

test("patching makes the same of something and keeps its objects", () => {
  const inner = { x: 1 };
  const element = { x: 1 };
  const target: Record<string, unknown> = { a: inner, list: [element, 2, 3], gone: 1 };
  patch(target, { a: { x: 2, y: 3 }, list: [{ x: 9 }], came: null });
  expect(target).toEqual({ a: { x: 2, y: 3 }, list: [{ x: 9 }], came: null });
  expect(target["a"]).toBe(inner);
  expect((target["list"] as unknown[])[0]).toBe(element);
});

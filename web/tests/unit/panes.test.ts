import { describe, expect, test } from "vitest";
import { addBeside, arrange, isSplit, move, moveBar, panesOf, sideAt, swap, takeOut } from "../../src/model/panes";
import type { Node, Pane, Split, Tab } from "../../src/model/panes";

const pane = (id: string): Pane => ({ id, kind: "graph", title: "", config: {} });
const tabOf = (root: Node): Tab => ({ id: "t", title: "", root, active: panesOf(root)[0]?.id ?? "", maximised: null });

let next = 0;
const name = () => `s${next++}`;

/** The shape of a tree: `row(a column(b c))`. */
const shape = (node: Node): string =>
  isSplit(node) ? `${node.direction}(${node.children.map(shape).join(" ")})` : node.id;

const check = (tab: Tab, expected: string) => {
  expect(shape(tab.root)).toBe(expected);
  const visit = (node: Node): void => {
    if (!isSplit(node)) return;
    expect(node.sizes).toHaveLength(node.children.length);
    expect(node.sizes.reduce((sum, size) => sum + size, 0)).toBeCloseTo(1);
    node.children.forEach(visit);
  };
  visit(tab.root);
};

const three = (): Tab => {
  const tab = tabOf(pane("a"));
  addBeside(tab, "a", "right", pane("b"), name);
  addBeside(tab, "b", "bottom", pane("c"), name);
  return tab;
};

describe("panes", () => {
  test("split beside and below", () => check(three(), "row(a column(b c))"));

  test("in the direction of their split become siblings that share the space", () => {
    const tab = three();
    addBeside(tab, "a", "left", pane("d"), name);
    check(tab, "row(d a column(b c))");
    expect((tab.root as Split).sizes).toEqual([0.25, 0.25, 0.5]);
  });

  test("leave no split of one behind", () => {
    const tab = three();
    expect(takeOut(tab, "c")).toBe(true);
    check(tab, "row(a b)");
    expect(takeOut(tab, "a")).toBe(true);
    check(tab, "b");
    expect(takeOut(tab, "b")).toBe(false);
    check(tab, "b");
  });

  test("leave no row within a row behind", () => {
    const tab = three();
    addBeside(tab, "c", "right", pane("d"), name);
    check(tab, "row(a column(b row(c d)))");
    takeOut(tab, "b");
    check(tab, "row(a c d)");
  });

  test("closing the active or the maximised one makes another active", () => {
    const tab = three();
    tab.active = "c";
    tab.maximised = "c";
    takeOut(tab, "c");
    expect(tab.active).toBe("a");
    expect(tab.maximised).toBeNull();
  });

  test("change places, also between tabs", () => {
    const tab = three();
    swap(tab, "a", tab, "c");
    check(tab, "row(c column(b a))");
    const other = tabOf(pane("z"));
    swap(tab, "b", other, "z");
    check(tab, "row(c column(z a))");
    check(other, "b");
  });

  test("move beside others", () => {
    const tab = three();
    move(tab, "a", tab, "c", "top", name);
    check(tab, "column(b a c)");
    expect(tab.active).toBe("a");
    move(tab, "a", tab, "a", "left", name);
    check(tab, "column(b a c)");
    move(tab, "nobody", tab, "c", "left", name);
    check(tab, "column(b a c)");
  });

  test("have boxes that fill the tab", () => {
    const { panes, bars } = arrange(three().root);
    expect(panes.map(({ pane: { id }, box }) => [id, box.left, box.top, box.width, box.height])).toEqual([
      ["a", 0, 0, 0.5, 1],
      ["b", 0.5, 0, 0.5, 0.5],
      ["c", 0.5, 0.5, 0.5, 0.5],
    ]);
    expect(bars).toHaveLength(2);
  });

  test("keep a min size when a bar is moved", () => {
    const root = three().root as Split;
    moveBar(root, 0, 0.7);
    expect(root.sizes).toEqual([0.7, expect.closeTo(0.3)]);
    moveBar(root, 0, -5);
    expect(root.sizes).toEqual([0.06, expect.closeTo(0.94)]);
    moveBar(root, 0, 5);
    expect(root.sizes[1]).toBeCloseTo(0.06);
  });

  test("know on which side something is dropped", () => {
    expect(sideAt(0.5, 0.5)).toBe("middle");
    expect(sideAt(0.05, 0.5)).toBe("left");
    expect(sideAt(0.95, 0.4)).toBe("right");
    expect(sideAt(0.5, 0.1)).toBe("top");
    expect(sideAt(0.4, 0.9)).toBe("bottom");
  });
});

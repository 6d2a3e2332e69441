import { describe, expect, test } from "vitest";
import type { Channel } from "../../src/api";
import { childrenOf, entriesOf, openAtFirst, partsOf, rowsOf, searchEntries, treeOf } from "../../src/model/tree";
import type { TreeNode } from "../../src/model/tree";
import { channel as numbers } from "./make";

let ids = 0;
const channel = (name: string, more: Partial<Channel> = {}) => numbers(name, { id: ids++, ...more });
const field = (path: string, fields: Channel["fields"] = []) => ({
  path,
  name: path.replace(/^.*[.]/, ""),
  kind: fields.length > 0 ? ("struct" as const) : ("number" as const),
  unit: null,
  fields,
});
const pose = channel("NT:/Drive/Pose", {
  type: "struct:Pose2d",
  kind: "struct",
  fields: [field(".translation", [field(".translation.x"), field(".translation.y")]), field(".rotation")],
});
const refOf = (one: Channel) => ({ log: 0, name: one.name, path: "" });
const build = (channels: Channel[]) => treeOf(0, channels, refOf);
const outline = (nodes: TreeNode[]): unknown[] =>
  nodes.map((node) => (childrenOf(node).length > 0 ? [node.label, ...outline(childrenOf(node))] : node.label));

describe("the tree", () => {
  test.each([
    ["/Drive/Pose", ["Drive", "Pose"]],
    ["NT:/Drive/Pose", ["NT", "Drive", "Pose"]],
    ["DS:joystick0/axes", ["DS", "joystick0", "axes"]],
    ["NT:/.schema/struct:Pose2d", ["NT", ".schema", "struct:Pose2d"]],
    ["console", ["console"]],
    ["/", ["/"]],
    ["/refloat/atr.setpoint", ["refloat", "atr.setpoint"]],
  ])("splits %s", (name, parts) => expect(partsOf(name)).toEqual(parts));

  test("has groups, fields, and numbers in the order of numbers", () =>
    expect(outline(build([channel("/a/10"), channel("/a/9"), pose, channel("b"), channel("NT:/x")]))).toEqual([
      ["a", "9", "10"],
      "b",
      ["NT", ["Drive", ["Pose", ["translation", "x", "y"], "rotation"]], "x"],
    ]));

  test("shows a channel and the group of its name as one", () => {
    const [ds] = build([channel("/ds/cpu"), channel("/ds/cpu/0/low"), channel("/ds/cpu/1/low")]);
    expect(outline(ds?.children ?? [])).toEqual([["cpu", ["0", "low"], ["1", "low"]]]);
    expect(ds?.children[0]?.ref?.name).toBe("/ds/cpu");
  });

  test("joins chains of groups", () => {
    const [first] = build([channel("/a/b/c/x"), channel("/a/b/c/y")]);
    expect(first?.label).toBe("a/b/c");
    expect(first?.count).toBe(2);
  });

  test("puts schemas last and aside", () => {
    const nodes = build([channel("/.schema/struct:Pose2d"), channel("/z")]);
    expect(nodes.map((node) => node.label)).toEqual(["z", ".schema"]);
    expect(openAtFirst(nodes)).toEqual([]);
  });

  test("keeps channels of one name and two types apart", () => {
    const nodes = treeOf(0, [channel("/a"), channel("/a", { type: "string" })], (one) => ({
      ...refOf(one),
      type: one.type,
    }));
    expect(new Set(nodes.map((node) => node.id)).size).toBe(2);
  });

  test("rows know their level, parent and place", () => {
    const nodes = build([pose, channel("/z")]);
    const rows = rowsOf(nodes, () => true);
    expect(rows.map((row) => [row.node.label, row.level, row.parent, row.place, row.siblings])).toEqual([
      ["NT/Drive", 1, -1, 1, 2],
      ["Pose", 2, 0, 1, 1],
      ["translation", 3, 1, 1, 2],
      ["x", 4, 2, 1, 2],
      ["y", 4, 2, 2, 2],
      ["rotation", 3, 1, 2, 2],
      ["z", 1, -1, 2, 2],
    ]);
    expect(rowsOf(nodes, () => false)).toHaveLength(2);
  });

  test("opens what stays short", () => {
    const many = Array.from({ length: 50 }, (_, place) => channel(`/long/${place}`));
    expect(openAtFirst(build(many))).toEqual(["0/long"]);
    expect(openAtFirst(build([...many, channel("/short/x")]))).toEqual(["0/short"]);
  });

  test("a hundred thousand channels are built in a moment", () => {
    const many = Array.from({ length: 100_000 }, (_, place) => channel(`/s${place % 50}/m${place % 1000}/c${place}`));
    const start = performance.now();
    expect(build(many)).toHaveLength(50);
    expect(performance.now() - start).toBeLessThan(3000);
  });
});

describe("searching the tree", () => {
  const schema = channel("/.schema/struct:Pose2d", { type: "structschema" });
  const entries = entriesOf(0, [pose, schema, channel("/volts", { unit: "V" })], refOf);
  const find = (query: string) => searchEntries(query, entries).map(({ item }) => item.text);

  test("finds parts of values", () => expect(find("pose y")).toEqual(["NT:/Drive/Pose.translation.y"]));
  test("finds by type", () => expect(find("struct:Pose2d")).toEqual(["NT:/Drive/Pose"]));
  test("finds schemas only for those who ask", () => expect(find("schema pose")).toEqual(["/.schema/struct:Pose2d"]));
});

test("a channel without a name has a row that says so", () => {
  expect(treeOf(0, [channel("")], (one) => ({ log: 0, name: one.name, path: "" })).map((node) => node.label)).toEqual([
    "(no name)",
  ]);
});

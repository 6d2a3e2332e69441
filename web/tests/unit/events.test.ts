import { expect, test } from "vitest";
import type { LogEvent } from "../../src/api";
import { empty, restore } from "../../src/views/events/config";
import { allEvents, kindsOf, lasted, linesOf, neighbour, passing } from "../../src/views/events/list";

const event = (t: number, kind: string, text: string, more: Partial<LogEvent> = {}): LogEvent => ({
  start: t,
  end: null,
  kind,
  level: "info",
  text,
  channel: null,
  ...more,
});

const all = allEvents([
  {
    bands: [],
    truncated: false,
    events: [
      event(1, "mode", "Autonomous"),
      event(5, "warning", "late", { level: "warning" }),
      event(6, "warning", "late", { level: "warning" }),
      event(7, "warning", "late", { level: "warning", end: 7.5 }),
      event(9, "brownout", "Brownout", { level: "error", end: 9.25 }),
    ],
  },
  { bands: [], truncated: false, events: [event(2, "link", "Robot found")] },
]);

test("events of all logs stand in the order of time", () => {
  expect(all.map((one) => [one.start, one.log])).toEqual([
    [1, 0],
    [2, 1],
    [5, 0],
    [6, 0],
    [7, 0],
    [9, 0],
  ]);
  expect([...kindsOf(all)]).toEqual([
    ["mode", 1],
    ["link", 1],
    ["warning", 3],
    ["brownout", 1],
  ]);
});

test("filters are by level, kind and text", () => {
  const wanted = empty();
  expect(passing(all, wanted)).toHaveLength(6);
  expect(passing(all, { ...wanted, levels: ["error"] }).map((one) => one.start)).toEqual([9]);
  expect(passing(all, { ...wanted, hidden: ["warning"] })).toHaveLength(3);
  expect(passing(all, { ...wanted, text: "/^auto|found/" }).map((one) => one.start)).toEqual([1, 2]);
  expect(passing(all, { ...wanted, text: "/(/" })).toEqual([]);
});

test("repeats are one line until it is opened", () => {
  const lines = linesOf(all, true, new Set());
  expect(lines.map((line) => line.events.length)).toEqual([1, 1, 3, 1]);
  expect(lines.map(lasted)).toEqual([null, null, 2.5, 0.25]);
  const first = all[2];
  expect(linesOf(all, true, new Set(first ? [first] : [])).map((line) => line.inside)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(linesOf(all, false, new Set())).toHaveLength(6);
});

test("the next event is behind the cursor, the previous before it", () => {
  expect(neighbour(all, 5, false)?.start).toBe(6);
  expect(neighbour(all, 5, true)?.start).toBe(2);
  expect(neighbour(all, 9, false)).toBeNull();
  expect(neighbour(all, 0, true)).toBeNull();
});

test("an invalid configuration becomes the default", () => {
  for (const data of [null, 1, "x", [], { hidden: "x", text: 1 }]) expect(restore(data)).toEqual(empty());
});

import { expect, test } from "vitest";
import { expressionOf, joinAfter, joinBefore, marked, seeker, upTo } from "../../src/lists/paging";

const rows = (...times: number[]) => times.map((time, place) => ({ time, place }));
const times = (list: { time: number }[]) => list.map((row) => row.time);

test("the row of a moment is the last at or before it", () => {
  expect(upTo(rows(1, 2, 2, 3), 0.5)).toBe(0);
  expect(upTo(rows(1, 2, 2, 3), 2)).toBe(3);
  expect(upTo(rows(1, 2, 2, 3), 9)).toBe(4);
});

test("pages join without doubles, also where rows share a time", () => {
  expect(times(joinAfter(rows(1, 2, 2), rows(2, 2, 2, 3)))).toEqual([1, 2, 2, 2, 3]);
  expect(times(joinAfter(rows(1, 2), rows(3, 4)))).toEqual([1, 2, 3, 4]);
  expect(times(joinAfter([], rows(3)))).toEqual([3]);
  expect(times(joinBefore(rows(2, 2, 3), rows(1, 2, 2, 2)))).toEqual([1, 2, 2, 2, 3]);
  expect(times(joinBefore(rows(3), rows(1, 2)))).toEqual([1, 2, 3]);
  expect(times(joinBefore(rows(3), []))).toEqual([3]);
});

test("text is sought without regard to case, or as an expression", () => {
  expect(seeker("brown")?.("a BROWNout")).toBe(true);
  expect(seeker("a.b")?.("axb")).toBe(false);
  expect(seeker("/a.b/")?.("AXB")).toBe(true);
  expect(seeker("/a.b/")?.("AXB")).toBe(true);
  expect(seeker("")?.("anything")).toBe(true);
  expect(seeker("/(/")).toBeNull();
});

test("what was sought is marked", () => {
  expect(marked("one two one", expressionOf("ONE"))).toEqual([
    { text: "one", hit: true },
    { text: " two ", hit: false },
    { text: "one", hit: true },
  ]);
  const used = expressionOf("/^one/") ?? /x/;
  used.test("one");
  expect(marked("one", used)).toEqual([{ text: "one", hit: true }]);
  expect(marked("", expressionOf("x"))).toEqual([{ text: "", hit: false }]);
});

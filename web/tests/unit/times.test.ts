import { expect, test } from "vitest";
import { parseTime } from "../../src/shell/times";

test.each([
  ["12.5", 12.5],
  ["12,5 s", 12.5],
  ["1:12.5", 72.5],
  ["1:02:03.5", 3723.5],
  ["-3", -3],
  ["−3", -3],
  ["+5", 105],
  ["+-5", 95],
  ["+1:00", 160],
  ["", null],
  ["abc", null],
  ["1:2:3:4", null],
  ["1.5:2", null],
  ["1e9", null],
  ["@14:00", null],
])("%s", (text, expected) => expect(parseTime(text, 100, null)).toBe(expected));

test("a time of day is that of the day of the cursor", () => {
  const day = new Date(2026, 2, 21, 14, 22, 30);
  const wall = day.getTime() / 1000 - 100;
  expect(parseTime("@14:22:34.5", 100, wall)).toBeCloseTo(104.5);
  expect(parseTime("@14:23", 100, wall)).toBeCloseTo(130);
});

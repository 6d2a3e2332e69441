import { expect, test } from "vitest";
import { lastAt, segmentLength } from "../../src/store/motion.svelte";

test("stretches are powers of two with some thousand samples", () => {
  expect(segmentLength(3500, 70)).toBe(32);
  expect(segmentLength(166 * 10, 10)).toBe(16);
  expect(segmentLength(1, 0)).toBe(64);
  expect(segmentLength(1e9, 1)).toBe(2 ** -6);
  expect(segmentLength(2, 1e6)).toBe(256);
});

test("the last sample at or before a time", () => {
  const times = Float64Array.of(1, 2, 2, 3);
  expect([0.5, 1, 1.5, 2, 2.5, 9].map((t) => lastAt(times, t))).toEqual([-1, 0, 0, 2, 2, 3]);
  expect(lastAt(new Float64Array(), 1)).toBe(-1);
});

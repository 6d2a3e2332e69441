import { expect, test } from "vitest";
import { lastAt, stretchOf } from "../../src/store/motion.svelte";

test("stretches are powers of two with some thousand samples", () => {
  expect(stretchOf(3500, 70)).toBe(32);
  expect(stretchOf(166 * 10, 10)).toBe(16);
  expect(stretchOf(1, 0)).toBe(64);
  expect(stretchOf(1e9, 1)).toBe(2 ** -6);
  expect(stretchOf(2, 1e6)).toBe(256);
});

test("the last sample at or before a time", () => {
  const times = Float64Array.of(1, 2, 2, 3);
  expect([0.5, 1, 1.5, 2, 2.5, 9].map((t) => lastAt(times, t))).toEqual([-1, 0, 0, 2, 2, 3]);
  expect(lastAt(new Float64Array(), 1)).toBe(-1);
});

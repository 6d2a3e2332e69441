import { expect, test } from "vitest";
import type { Stats } from "../../src/api";
import { roomy, Scale, spanOf } from "../../src/draw/axes";
import { labelOf, shortNames } from "../../src/model/names";
import { empty, restore } from "../../src/views/statistics/config";
import { barAt, inUnit, panelsOf } from "../../src/views/statistics/histogram";

function stats(low: number, high: number, counts: number[]): Stats {
  const nothing = { min: null, max: null, mean: null, stddev: null, median: null, p05: null, p95: null };
  const rest = { first: null, last: null, rate_hz: null, longest_gap: null };
  return { samples: 1, count: 1, ...nothing, ...rest, histogram: { min: low, max: high, counts } };
}

test("spans have a width", () => {
  expect(roomy({ low: 2, high: 2 })).toEqual({ low: 1, high: 3 });
  expect(roomy({ low: 0, high: 0 })).toEqual({ low: -0.5, high: 0.5 });
  expect(spanOf([[NaN, 3, -1], [Infinity]])).toEqual({ low: -1, high: 3 });
  expect(spanOf([[NaN]])).toBeNull();
  const scale = new Scale({ low: 0, high: 10 }, 100, 0);
  expect(scale.at(2.5)).toBe(75);
  expect(scale.value(75)).toBe(2.5);
  const log = new Scale({ low: 1, high: 1000 }, 0, 300, true);
  expect(log.at(10)).toBeCloseTo(100);
  expect(log.value(200)).toBeCloseTo(100);
});

test("series with one unit share a panel and become shares", () => {
  const inputs = [
    { name: "a", unit: "V", stats: stats(0, 4, [1, 3]), held: 1 },
    { name: "b", unit: "A", stats: stats(0, 1, [2]), held: null },
    null,
    { name: "c", unit: "V", stats: stats(2, 8, [5, 5]), held: null },
  ];
  const [volts, amperes] = panelsOf(inputs, false);
  expect(volts?.across).toEqual({ low: 0, high: 8 });
  expect(volts?.shapes.map((shape) => [shape.place, ...shape.heights])).toEqual([
    [0, 0.25, 0.75],
    [3, 0.5, 0.5],
  ]);
  expect(amperes?.parts).toBe(false);
  expect(amperes?.highest).toBe(2);
  const [added] = panelsOf(inputs.slice(0, 1), true);
  expect([...(added?.shapes[0]?.heights ?? [])]).toEqual([0.25, 1]);
});

test("a constant has one bar around it", () => {
  const [panel] = panelsOf([{ name: "a", unit: "", stats: stats(5, 5, [9]), held: 5 }], false);
  expect(panel?.across).toEqual({ low: 4.5, high: 5.5 });
  const shape = panel?.shapes[0];
  expect(shape && barAt(shape, 5)).toBe(0);
  expect(shape && barAt(shape, 6)).toBe(-1);
});

test("a constant beside series that vary is a line and does not flatten them", () => {
  const inputs = [
    { name: "a", unit: "A", stats: stats(0, 10, [3, 3, 4]), held: null },
    { name: "b", unit: "A", stats: stats(2000, 2000, [99]), held: null },
  ];
  const [panel] = panelsOf(inputs, false);
  expect(panel?.highest).toBe(0.4);
  expect(panel?.across).toEqual({ low: 0, high: 2000 });
  expect(panel?.shapes.map((shape) => shape.constant)).toEqual([null, 2000]);
});

test("a trip time is in milliseconds", () => {
  const seconds = { ...stats(0.002, 0.01, [1]), min: 0.002, mean: 0.004, stddev: 0.001 };
  const shown = inUnit(seconds, "s", "ms");
  expect([shown.min, shown.mean, shown.stddev, shown.histogram?.max]).toEqual([2, 4, 1, 10]);
  expect(inUnit(seconds, "s", "V")).toBe(seconds);
  // A share has no unit in the log.
  expect(inUnit({ ...seconds, max: 0.25 }, "", "%").max).toBe(25);
});

test("names are as short as distinct ones can be", () => {
  const ref = (name: string, path = "") => ({ log: 0, name, path });
  expect(shortNames([ref("/Drive/Pose", ".x"), ref("/Power/Voltage")])).toEqual(["Pose.x", "Voltage"]);
  expect(labelOf(ref("/Drive/Pose", ".x"))).toEqual({ leaf: "x", parent: "/Drive/Pose" });
  expect(labelOf(ref("/Joystick/Axes", "[0]"))).toEqual({ leaf: "Axes[0]", parent: "/Joystick" });
  expect(labelOf(ref("console"))).toEqual({ leaf: "console", parent: "" });
  expect(shortNames([ref("/ds/pd/currents/0"), ref("/ds/pd/currents/12")])).toEqual(["currents/0", "currents/12"]);
  expect(shortNames([ref("/M/0/Speed"), ref("/M/1/Speed")])).toEqual(["0/Speed", "1/Speed"]);
});

test("an invalid configuration becomes the default", () => {
  for (const data of [null, 1, "x", [], { bins: 3, range: "x" }]) expect(restore(data)).toEqual(empty());
});

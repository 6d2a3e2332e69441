import { expect, test } from "vitest";
import type { Rows } from "../../src/api";
import { add, empty, restore, swap } from "../../src/views/xy/config";
import { mixed } from "../../src/draw/contrast";
import { nearest, scalesOf, squared, upToTime, wholeOf, zoomed } from "../../src/views/xy/plot";

const rows: Rows = {
  time: Float64Array.of(0, 1, 2, 3),
  columns: [Float64Array.of(0, 10, 20, NaN), Float64Array.of(0, 1, 2, 3)],
  samples: 4,
  downsampled: false,
};
const frame = { left: 0, top: 0, right: 200, bottom: 100 };

test("the first series is x, the others are y", () => {
  const config = empty();
  const ref = (name: string) => ({ log: 0, name, path: "" });
  expect(add(config, [ref("a")])).toBe(true);
  expect(add(config, [ref("b"), ref("c"), ref("b")])).toBe(true);
  expect([config.x?.name, ...config.y.map((one) => one.name)]).toEqual(["a", "b", "c"]);
  swap(config);
  expect([config.x?.name, ...config.y.map((one) => one.name)]).toEqual(["b", "a", "c"]);
  expect(restore(JSON.parse(JSON.stringify(config)))).toEqual(config);
});

test("everything is in view, with some room", () => {
  const { x, y } = wholeOf(rows);
  expect(x).toEqual({ low: -1, high: 21 });
  expect([y.low, y.high].map((value) => value.toFixed(2))).toEqual(["-0.15", "3.15"]);
});

test("a unit is as long both ways", () => {
  const view = squared({ x: { low: 0, high: 10 }, y: { low: 0, high: 10 } }, frame);
  expect(view).toEqual({ x: { low: -5, high: 15 }, y: { low: 0, high: 10 } });
});

test("zooming keeps the value under the pointer", () => {
  expect(zoomed({ low: 0, high: 10 }, 0.5, 2)).toEqual({ low: 1, high: 6 });
  expect(zoomed({ low: 1, high: 1 + 1e-13 }, 0.5, 1)).toEqual({ low: 1, high: 1 + 1e-13 });
});

test("the nearest point is found within reach", () => {
  const scales = scalesOf({ x: { low: 0, high: 20 }, y: { low: 0, high: 2 } }, frame);
  expect(nearest(rows, scales, 103, 48)).toEqual({ place: 1, column: 1 });
  expect(nearest(rows, scales, 150, 90)).toBeNull();
});

test("times and colours", () => {
  expect(upToTime(rows.time, 1.5)).toBe(2);
  expect(upToTime(rows.time, -1)).toBe(0);
  expect(mixed("#000000", "#ff8000", 0.5)).toBe("#804000");
});

test("an invalid configuration becomes the default", () => {
  for (const data of [null, 1, [], { view: { x: { low: 1, high: 0 } }, trail: 3 }])
    expect(restore(data)).toEqual(empty());
});

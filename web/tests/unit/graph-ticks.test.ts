import { expect, test } from "vitest";
import { timeTicks, valueTicks } from "../../src/draw/ticks";
import { paddedRange } from "../../src/views/graph/axes";

test("an axis keeps its ticks, and short ones, however large a value is", () => {
  for (const largest of [5e223, 1e300, 1e15]) {
    const [low, high] = paddedRange(0, largest, false);
    const { at, text } = valueTicks(low, high, 200, 34);
    expect(at.length).toBeGreaterThan(2);
    expect(text[at.indexOf(0)]).toBe("0");
    for (const label of text) expect(label.length).toBeLessThan(9);
    expect(new Set(text).size).toBe(text.length);
  }
});

test("an axis has two numbers at least, where there is room for them", () => {
  // Steering and throttle in a low pane; 20 s in a narrow one.
  expect(valueTicks(-0.43, 0.37, 98, 34).text).toEqual(["-0.25", "0.00", "0.25"]);
  expect(timeTicks(0, 19.87, 350, 92).text).toEqual(["0", "5", "10", "15"]);
  for (let size = 0.01; size < 1000; size *= 1.37)
    for (const low of [-size * 0.51, -size * 0.02, size * 0.13, size * 3.3])
      expect(valueTicks(low, low + size, 70, 34).at.length, `${low} and ${size} more`).toBeGreaterThan(1);
  expect(valueTicks(0.1, 0.9, 20, 34).at.length).toBeLessThan(2);
});

import { expect, test } from "vitest";
import { firstMoment } from "../../src/model/start";

const WHOLE = { start: 2, end: 22 };

test("the cursor begins where all that is shown has a value", () => {
  expect(firstMoment(WHOLE, undefined, [])).toBe(2);
  expect(firstMoment(WHOLE, undefined, [2, 7.5, 11])).toBe(11);
  // Before the clock was set.
  expect(firstMoment(WHOLE, undefined, [-33_000])).toBe(2);
});

test("it does not wait for what comes late", () => {
  expect(firstMoment(WHOLE, undefined, [3, 21.9])).toBe(3);
  expect(firstMoment(WHOLE, { start: 10, end: 15 }, [3, 18])).toBe(10);
});

test("a match begins when the robot is enabled", () => {
  expect(firstMoment(WHOLE, { start: 10, end: 15 }, [2, 3])).toBe(10);
  expect(firstMoment(WHOLE, { start: 10, end: 15 }, [12])).toBe(12);
});

import { expect, test } from "vitest";
import { timeColumn, wrapped } from "../../src/lists/wrap";

const lines = (text: string, width: number) => wrapped(text, width, (part) => part.length);

test("lines break behind blanks, and words that are too long anywhere", () => {
  expect(lines("76 % of packets lost", 12)).toEqual(["76 % of", "packets lost"]);
  expect(lines("short", 12)).toEqual(["short"]);
  expect(lines("Warning at edu.wpi.first.wpilibj.DriverStation", 16)).toEqual([
    "Warning at",
    "edu.wpi.first.wp",
    "ilibj.DriverStat",
    "ion",
  ]);
  expect(lines("a\nb c", 12)).toEqual(["a", "b c"]);
  expect(lines("", 12)).toEqual([""]);
});

test("a column of times is wide enough for the longest", () => {
  expect(timeColumn(undefined, undefined, 72)).toBe(72);
  expect(timeColumn(0.5, 12.25, 54)).toBe(54);
  // 43:59.706 and -9:13:45.000, at 7.2 px a letter.
  expect(timeColumn(2.1, 2639.706, 54)).toBe(66);
  expect(timeColumn(-33225, 12, 54)).toBe(88);
});

test("nothing is lost, however narrow it is", () => {
  const text = "The board centers itself after being mounted";
  for (const width of [1, 3, 7, 20])
    expect(lines(text, width).join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
});

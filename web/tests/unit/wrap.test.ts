import { expect, test } from "vitest";
import { wrapped } from "../../src/lists/wrap";

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

test("nothing is lost, however narrow it is", () => {
  const text = "The board centers itself after being mounted";
  for (const width of [1, 3, 7, 20])
    expect(lines(text, width).join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
});

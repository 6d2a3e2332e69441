import { expect, test } from "vitest";
import { kindOf, seriesIn } from "../../src/store/layouts.svelte";
import type { LogInfo } from "../../src/api";

test("a layout is for logs of the same kinds in the same order", () => {
  const log = (preset: LogInfo["preset"]) => ({ preset }) as LogInfo;
  expect(kindOf([log("frc")])).toBe("frc");
  expect(kindOf([log("frc"), log("ds")])).toBe("frc+ds");
  expect(kindOf(Array.from({ length: 9 }, () => log("frc")))).toBe("");
});

test("the series of a layout are found wherever views keep them", () => {
  const ref = { log: 0, name: "/a", path: ".x" };
  const config = { series: [{ ref }], columns: [{ ref: { ...ref, name: "/b" } }], x: { ...ref, name: "/c" }, y: null };
  expect(seriesIn({ tabs: [{ root: { config } }] }).map((one) => one.name)).toEqual(["/a", "/b", "/c"]);
});

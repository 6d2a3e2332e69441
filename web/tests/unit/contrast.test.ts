import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { contrast, mixed, visibleOn } from "../../src/draw/contrast";
import { ON, STATE } from "../../src/views/graph/paint";

const css = readFileSync(new URL("../../src/ui/theme.css", import.meta.url), "utf8");

/** The colours of a block of the theme. */
function colors(selector: string): Record<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf("}", start));
  const found: Record<string, string> = {};
  for (const [, name = "", color = ""] of block.matchAll(/--([\w-]+): (#[0-9a-f]{6,8});/g)) found[name] = color;
  return found;
}

const dark = colors(":root");
const THEMES = { dark, light: { ...dark, ...colors(':root[data-theme="light"]') } };
const SERIES = Array.from({ length: 10 }, (_, place) => `series-${place}`);
const TEXTS = [
  ...["text", "dim", "faint", "accent", "mark", "info", "warning", "error", "good"],
  ...["red", "blue", "auto", "teleop", "test", "estop"],
  ...SERIES,
];

describe.each(Object.entries(THEMES))("the %s theme", (_, theme) => {
  const of = (name: string): string => theme[name] ?? "";
  /** A colour of the theme over another one. */
  const over = (name: string, opacity: number, below: string) => mixed(of(below), of(name), opacity);
  const soft = mixed(of("panel"), of("accent-soft"), parseInt(of("accent-soft").slice(7), 16) / 255);
  const backgrounds = [...["bg", "panel", "raised", "hover"].map(of), soft];

  test.each(TEXTS)("%s can be read on every background", (name) => {
    for (const background of backgrounds) expect(contrast(of(name), background)).toBeGreaterThanOrEqual(4.5);
  });

  test("text on colours can be read", () => {
    expect(contrast(of("accent-text"), of("accent"))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of("accent-text"), of("warning"))).toBeGreaterThanOrEqual(4.5);
    for (const flag of ["mark", "cursor"]) expect(contrast(of("panel"), of(flag))).toBeGreaterThanOrEqual(4.5);
    for (const name of SERIES) {
      for (const opacity of [ON, STATE])
        expect(contrast(of("text"), over(name, opacity, "panel")), name).toBeGreaterThanOrEqual(4.5);
    }
    for (const mode of ["auto", "teleop", "test", "estop"]) {
      expect(contrast(of("text"), over(mode, 0.42, "panel")), mode).toBeGreaterThanOrEqual(4.5);
      expect(contrast(of(mode), over(mode, 0.09, "panel")), mode).toBeGreaterThanOrEqual(4.5);
    }
  });

  test("no vehicle vanishes", () => {
    for (const body of ["#000000", "#ffffff", "#151a22", of("panel"), "#7f7f7f", "#ff0000"])
      expect(contrast(visibleOn(body, of("panel"), 2.5), of("panel")), body).toBeGreaterThanOrEqual(2.5);
    // What can be seen keeps its colour.
    expect(visibleOn("#ff0000", of("panel"), 2.5)).toBe("#ff0000");
  });
});

test("contrast is that of WCAG", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.478, 2);
});

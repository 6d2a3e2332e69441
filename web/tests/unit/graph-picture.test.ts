import { describe, expect, it } from "vitest";
import { newSeries } from "../../src/views/graph/config";
import { drawTrace } from "../../src/views/graph/trace";
import { readingOf } from "../../src/views/graph/legend";
import { runsOf } from "../../src/views/graph/states";
import { logTicks, timeTicks, valueTicks } from "../../src/draw/ticks";
import { Paper, PLAIN, trace, whole } from "./traces";

describe("ink on a canvas", () => {
  const ink = (rows: number[][], style: "stepped" | "smooth", at = PLAIN, until = 0, width = 1) => {
    const paper = new Paper();
    drawTrace(paper, whole(trace(rows)), -Infinity, Infinity, at, style, until, width);
    return paper;
  };

  it("is one bar for each column, with every peak", () => {
    const rows = Array.from({ length: 50000 }, (_, place) => [
      place / 100,
      place === 31234 ? 900 : 100 + 50 * Math.sin(place),
    ]);
    for (const style of ["stepped", "smooth"] as const) {
      const paper = ink(rows, style, PLAIN, 500);
      expect(paper.bars.length).toBeLessThan(500 * 3);
      expect(paper.lines.length).toBe(0);
      expect(paper.has(312, 900)).toBe(true);
      for (let x = 0; x < 500; x++) expect(paper.has(x, 100)).toBe(true);
    }
  });

  it("is a plain stroke where samples are apart", () => {
    const paper = ink(
      [
        [0, 0],
        [20, 10],
        [50, 5],
      ],
      "smooth",
    );
    expect(paper.lines).toEqual([
      [0, 0, 20, 10],
      [20, 10, 50, 5],
    ]);
    expect(paper.bars).toEqual([]);
  });

  it("holds values until the next and up to the end of the log", () => {
    const paper = ink(
      [
        [0, 0],
        [20, 10],
        [50, 5],
      ],
      "stepped",
      PLAIN,
      60,
    );
    for (const [x = 0, y = 0] of [
      [1, 0],
      [19, 0],
      [20, 5],
      [20, 10],
      [49, 10],
      [50, 7],
      [59, 5],
    ])
      expect(paper.has(x, y)).toBe(true);
    expect(paper.has(61, 5)).toBe(false);
    expect(paper.has(30, 0)).toBe(false);
  });

  it("shows a lone sample and leaves gaps open", () => {
    expect(ink([[5, 5]], "smooth").has(5, 5)).toBe(true);
    const paper = ink(
      [
        [0, 1],
        [20, 1],
        [30, NaN],
        [40, 2],
        [60, 2],
      ],
      "smooth",
    );
    expect(paper.lines).toEqual([
      [0, 1, 20, 1],
      [40, 2, 60, 2],
    ]);
    expect(
      ink(
        [
          [0, 1],
          [30, NaN],
          [40, 2],
        ],
        "stepped",
        PLAIN,
        50,
      ).has(35, 1),
    ).toBe(false);
  });

  it("covers a bucket of many pixels from its min to its max", () => {
    const paper = ink(
      [
        [0, 10, 1, -5, 9, 2],
        [11, 20, 2, 0, 4, 3],
      ],
      "stepped",
      PLAIN,
      20,
    );
    expect([paper.has(5, -5), paper.has(5, 9), paper.has(15, 4), paper.has(15, 9)]).toEqual([true, true, true, false]);
  });
});

describe("readings", () => {
  const item = (change: object) => ({
    row: false,
    factor: 1,
    offset: 0,
    series: newSeries({ log: 0, name: "/x", path: "" }, 0),
    ...change,
  });

  it("are what the log holds, in the unit of the axis", () => {
    const held = { time: 1, value: 12.25, text: "12.25" };
    expect(readingOf(item({}), held, null)).toEqual({ text: "12.25", exact: "12.25", value: 12.25 });
    expect(readingOf(item({ factor: 2, offset: 1 }), held, null)).toEqual({
      text: "25.5",
      exact: "12.25",
      value: 25.5,
    });
    expect(readingOf(item({}), null, null)).toMatchObject({ text: "–", value: null });
    expect(readingOf(item({}), { time: 1, value: "NaN", text: "NaN" }, null).text).toBe("NaN");
    expect(readingOf(item({ row: true }), { time: 1, value: "on", text: "on" }, null)).toEqual({
      text: "on",
      exact: "on",
      value: null,
    });
  });

  it("of a filter say whether they are exact", () => {
    const series = { ...newSeries({ log: 0, name: "/x", path: "" }, 0), filter: "derivative" as const };
    expect(readingOf(item({ series }), null, { value: 2, exact: false }).text).toBe("≈ 2");
    expect(readingOf(item({ series }), null, { value: 2, exact: true }).text).toBe("2");
  });
});

describe("states", () => {
  const piece = (runs: [number, number, number][], labels: string[], from: number, to: number) => ({
    data: { labels, runs },
    from,
    to,
  });

  it("that tiles cut are whole again", () => {
    const runs = runsOf(
      [
        piece(
          [
            [0, 4, 0],
            [4, 8, 1],
          ],
          ["off", "on"],
          0,
          8,
        ),
        piece(
          [
            [4, 12, 0],
            [12, 16, 1],
          ],
          ["on", "mixed"],
          8,
          16,
        ),
      ],
      0,
      16,
    );
    expect(runs).toEqual([
      { start: 0, end: 4, label: "off" },
      { start: 4, end: 12, label: "on" },
      { start: 12, end: 16, label: "mixed" },
    ]);
  });

  it("that change faster than pixels have no name", () => {
    expect(runsOf([piece([[0, 4, -1]], [], 0, 8)], 0, 8)).toEqual([{ start: 0, end: 4, label: null }]);
  });
});

describe("marks of axes", () => {
  it("are round and not too near", () => {
    expect(valueTicks(-0.2, 10.2, 400, 40).at).toEqual([0, 2, 4, 6, 8, 10]);
    expect(valueTicks(0, 1, 200, 40).text).toEqual(["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    expect(logTicks(0.5, 2000, 400, 40).text).toEqual(["1", "10", "100", "1000"]);
    expect(timeTicks(0, 120, 800, 92).text.slice(0, 3)).toEqual(["0:00", "0:15", "0:30"]);
    expect(valueTicks(1, 1, 100, 10).at).toEqual([]);
    expect(valueTicks(0, Infinity, 100, 10).at).toEqual([]);
    expect(valueTicks(0, 10, 350, 70)).toMatchObject({ at: [0, 2, 4, 6, 8, 10], step: 2 });
    expect(valueTicks(-0.12, 0.31, 400, 70).text).toEqual(["-0.1", "0.0", "0.1", "0.2", "0.3"]);
  });
});

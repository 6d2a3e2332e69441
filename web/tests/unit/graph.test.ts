import { describe, expect, it } from "vitest";
import type { Channel, Field } from "../../src/api";
import type { SeriesRef } from "../../src/model/series";
import type { Found } from "../../src/store/session.svelte";
import { assignAxes, ontoAxis, paddedRange, unitBehind } from "../../src/views/graph/axes";
import { addSeries, emptyGraph, freeColor, newSeries, restoreGraph, styleFor } from "../../src/views/graph/config";
import { filtered, integralBetween, heldIn, joined, sumBefore } from "../../src/views/graph/filters";
import { shortNames } from "../../src/model/names";
import { SvgContext } from "../../src/draw/svg";
import { extent } from "../../src/views/graph/buckets";
import { drawDots, drawTrace } from "../../src/views/graph/trace";
import { Paper, PLAIN, trace, whole } from "./traces";

/** The middles of the dots that samples get. */
const dotsOf = (rows: number[][], all: boolean, at = PLAIN): number[][] => {
  const paper = new Paper();
  drawDots(paper, whole(trace(rows)), -Infinity, Infinity, at, all, 2);
  return paper.bars.map(([x = 0, y = 0, width = 0, height = 0]) => [x + width / 2, y + height / 2]);
};

const drawn = (rows: number[][], style: "stepped" | "smooth", at = PLAIN): Paper => {
  const paper = new Paper();
  drawTrace(paper, whole(trace(rows)), -Infinity, Infinity, at, style, 0, 1);
  return paper;
};

describe("the picture of a line", () => {
  it("has a dot for each sample that has its own pixel", () => {
    const samples = [
      [0, 1],
      [10, 3],
      [20, 2],
    ];
    for (const all of [true, false]) expect(dotsOf(samples, all)).toEqual(samples);
  });

  it("keeps every peak of what shares a pixel", () => {
    // Twenty thousand samples on a thousand pixels, one of them a spike.
    const rows: number[][] = [];
    for (let place = 0; place < 20000; place++) rows.push([place / 20, place === 7777 ? 1e6 : Math.sin(place)]);
    rows.push([1000, -1e6]);
    const points = dotsOf(rows, true);
    expect(points.length).toBeLessThan(1001 * 5);
    expect(Math.max(...points.map(([, y]) => y ?? 0))).toBe(1e6);
    expect(Math.min(...points.map(([, y]) => y ?? 0))).toBe(-1e6);
    for (const style of ["stepped", "smooth"] as const) {
      const paper = drawn(rows, style);
      expect([paper.has(388, 1e6), paper.has(1000, -1e6)]).toEqual([true, true]);
    }
  });

  it("reaches the min and the max of every bucket", () => {
    const buckets = [
      [0, 4, 1, -5, 9, 2],
      [5, 9, 2, 1, 3, 3],
      [9.1, 9.2, 3, -8, 3, 3],
    ];
    const ys = dotsOf(buckets, true).map(([, y]) => y);
    for (const peak of [-5, 9, 1, 3, -8]) expect(ys).toContain(peak);
    for (const style of ["stepped", "smooth"] as const) {
      const paper = drawn(buckets, style);
      for (const [x = 0, y = 0] of [
        [2, -5],
        [2, 9],
        [7, 1],
        [7, 3],
        [9, -8],
      ])
        expect(paper.has(x, y)).toBe(true);
    }
  });

  it("has gaps where a value is missing", () => {
    const rows = [
      [0, 1],
      [10, NaN],
      [20, 2],
      [30, 3],
    ];
    expect(dotsOf(rows, true).length).toBe(3);
    const stepped = drawn(rows, "stepped");
    // The value before the gap is held until it.
    expect([stepped.has(9, 1), stepped.has(15, 1)]).toEqual([true, false]);
  });

  it("has no seam between tiles and nothing twice", () => {
    const left = trace([
      [0, 0],
      [10, 1],
      [20, 2],
    ]);
    const right = trace([
      [10, 1],
      [20, 2],
      [20, 5],
      [30, 3],
    ]);
    const pieces = [
      { data: left, from: 0, to: 16 },
      { data: right, from: 16, to: 32 },
    ];
    expect([...joined(pieces, 0, 32).start]).toEqual([0, 10, 20, 20, 30]);
    expect([...joined(pieces, 12, 18).start]).toEqual([10, 20]);
    expect([...joined(pieces, 100, 200).start]).toEqual([30]);
  });

  it("on a logarithmic axis leaves out what has no logarithm", () => {
    const samples = [
      [0, 1],
      [10, -1],
      [20, 100],
    ];
    const at = { ...PLAIN, log: true };
    const paper = drawn(samples, "smooth", at);
    expect(paper.lines).toEqual([]);
    expect([paper.has(0, 0), paper.has(20, 2)]).toEqual([true, true]);
    for (const all of [true, false])
      expect(dotsOf(samples, all, at)).toEqual([
        [0, 0],
        [20, 2],
      ]);
  });

  it("is converted on the way", () => {
    const at = { ...PLAIN, ay: -2, by: 100, factor: 3, offset: 1 };
    expect(dotsOf([[0, 5]], true, at)).toEqual([[0, 68]]);
  });

  it("is the same in an SVG", () => {
    const ruler = { font: "", textBaseline: "top" as const, measureText: () => ({ width: 0 }) as TextMetrics };
    const svg = new SvgContext(20, 10, ruler);
    const samples = trace([
      [0, 1],
      [10, 3.14159],
    ]);
    drawTrace(svg, whole(samples), 0, 10, PLAIN, "smooth", 0, 1);
    drawDots(svg, whole(samples), 0, 10, PLAIN, false, 2);
    expect(svg.text("t")).toContain('<path d="M0 1L10 3.14" fill="none"');
    expect(svg.text("t")).toContain('<path d="M-1 0L1 0L1 2L-1 2zM9 2.14L11 2.14L11 4.14L9 4.14z" fill="#000000"/>');
  });
});

describe("the range of a line", () => {
  const samples = whole(
    trace([
      [0, 0],
      [10, 10],
      [20, 0],
    ]),
  );
  it("is that of the visible part", () => {
    expect(extent(samples, -5, 25, "smooth")).toEqual([0, 10]);
    expect(extent(samples, 2, 4, "smooth")).toEqual([2, 4]);
    expect(extent(samples, 2, 4, "stepped")).toEqual([0, 0]);
    expect(extent(samples, 5, 15, "smooth")).toEqual([5, 10]);
    expect(extent(samples, 2, 4, "points")).toEqual([Infinity, -Infinity]);
  });

  it("has room around it", () => {
    expect(paddedRange(0, 10, false)).toEqual([expect.closeTo(-0.7), expect.closeTo(10.7)]);
    expect(paddedRange(12, 12, false)).toEqual([expect.closeTo(10.8), expect.closeTo(13.2)]);
    expect(paddedRange(0, 0, false)).toEqual([-0.5, 0.5]);
    expect(paddedRange(Infinity, -Infinity, false)).toEqual([0, 1]);
    const [low, high] = paddedRange(0, 100, true);
    expect(low).toBeGreaterThan(0);
    expect(high).toBeGreaterThan(100);
  });
});

describe("filters", () => {
  const ramp = trace([
    [0, 0],
    [1, 2],
    [2, 4],
    [4, 4],
  ]);

  it("differentiate", () => {
    expect([...filtered(ramp, "derivative", 0).first]).toEqual([2, 2, 0]);
    expect([...filtered(ramp, "derivative", 0).start]).toEqual([1, 2, 4]);
    expect(filtered(ramp, "derivative", 0).raw).toBe(true);
    // Two samples at one moment have no slope.
    expect([
      ...filtered(
        trace([
          [1, 0],
          [1, 5],
          [2, 6],
        ]),
        "derivative",
        0,
      ).first,
    ]).toEqual([NaN, 1]);
  });

  it("integrate, from what was before", () => {
    expect([...filtered(ramp, "integral", 0, 10).last]).toEqual([10, 11, 14, 22]);
    expect([
      ...filtered(
        trace([
          [0, 1],
          [1, NaN],
          [2, 1],
        ]),
        "integral",
        0,
      ).last,
    ]).toEqual([0, 0, 2]);
    expect([...filtered(ramp, "integral", 0, 0, true).last]).toEqual([0, 0, 2, 10]);
    // A held value ends where its source was lost.
    const lost = trace([
      [0, 2],
      [1, NaN],
      [5, 3],
      [6, 3],
    ]);
    expect([...filtered(lost, "integral", 0, 0, true).last]).toEqual([0, 2, 2, 5]);
    expect(integralBetween([{ data: lost, from: -Infinity, to: Infinity }], 0, 6, true).sum).toBe(5);
    const all = filtered(ramp, "integral", 0);
    expect([sumBefore(all, -1), sumBefore(all, 1), sumBefore(all, 9)]).toEqual([0, 1, 12]);
  });

  it("undo each other", () => {
    const rows = Array.from({ length: 9900 }, (_, place) => [place / 1000, Math.sin(place / 1000)]);
    const back = filtered(filtered(trace(rows), "derivative", 0), "integral", 0);
    expect(back.last.at(-1)).toBeCloseTo(Math.sin(9.899), 2);
  });

  it("take the mean around each sample", () => {
    const spike = trace([
      [0, 0],
      [1, 3],
      [2, 0],
      [3, 0],
    ]);
    expect([...filtered(spike, "average", 2).first].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([
      1.5, 1, 1, 0,
    ]);
  });

  it("take the size", () => {
    const made = filtered(
      trace([
        [0, 1, -3, -5, 2, -1],
        [2, 3, -3, -5, -2, -1],
      ]),
      "absolute",
      0,
    );
    expect([...made.max, ...made.min, ...made.first]).toEqual([5, 5, 0, 2, 3, 3]);
  });

  it("say what held", () => {
    expect([-1, 0, 1.5, 9].map((time) => heldIn(ramp, time))).toEqual([NaN, 0, 2, 4]);
  });
});

describe("axes", () => {
  const placed = (unit: string, side: "auto" | "left" | "right" = "auto", shown = true) => ({ unit, side, shown });

  it("are one for each measure, left and right in turn", () => {
    const axes = assignAxes([placed("V"), placed("A"), placed("V"), placed("m"), null, placed("ft")], {});
    expect(axes.map((axis) => [axis.key, axis.unit, axis.series])).toEqual([
      ["left:voltage", "V", [0, 2]],
      ["left:length", "m", [3, 5]],
      ["right:current", "A", [1]],
    ]);
  });

  it("are where somebody put them", () => {
    const axes = assignAxes([placed("V", "right"), placed("V"), placed("A", "auto", false)], {});
    expect(axes.map((axis) => [axis.key, axis.shown])).toEqual([
      ["left:voltage", true],
      ["right:voltage", true],
      ["right:current", false],
    ]);
  });

  it("are drawn in another unit", () => {
    const config = { "left:length": { unit: "in", range: [0, 10] as [number, number], log: true } };
    const [axis] = assignAxes([placed("m"), placed("ft")], config);
    expect(axis).toMatchObject({ unit: "in", units: ["m", "ft"], range: [0, 10], log: true });
    if (!axis) return;
    expect(ontoAxis("ft", axis, 2, 1)).toEqual({
      factor: expect.closeTo(24) as number,
      offset: expect.closeTo(12) as number,
    });
    // A unit that measures something else is nonsense.
    const [other] = assignAxes([placed("m")], { "left:length": { unit: "V", range: null, log: false } });
    expect(other?.unit).toBe("m");
  });

  it("know what filters measure", () => {
    expect([unitBehind("derivative", "m"), unitBehind("integral", "A"), unitBehind("average", "V")]).toEqual([
      ...["m/s", "A·s", "V"],
    ]);
  });
});

describe("names", () => {
  const ref = (name: string, path = "", log = 0): SeriesRef => ({ log, name, path });
  it("are as short as distinct names can be", () => {
    expect(shortNames([ref("/Drive/Module0/Velocity"), ref("/Drive/Module1/Velocity"), ref("/Arm/Angle")])).toEqual([
      ...["Module0/Velocity", "Module1/Velocity", "Angle"],
    ]);
    expect(shortNames([ref("/Drive/Pose", ".x"), ref("NT:/Drive/Pose", ".x"), ref("x")])).toEqual([
      ...["Drive/Pose.x", "NT:/Drive/Pose.x", "x"],
    ]);
    expect(shortNames([ref("/A/x", "", 0), ref("/A/x", "", 1)])).toEqual(["x", "x"]);
    expect(shortNames([ref("/")])).toEqual(["/"]);
  });
});

describe("the configuration of a graph", () => {
  it("survives a round trip", () => {
    const config = emptyGraph();
    config.series.push({ ...newSeries({ log: 1, name: "/x", path: ".y" }, 3), filter: "derivative", color: "#ff0000" });
    config.axes["left:length"] = { unit: "ft", range: [0, 1], log: false };
    expect(restoreGraph(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  it("makes the best of nonsense", () => {
    for (const data of [null, 3, "x", [], { series: 5, axes: [], legend: "up" }, { series: [null, {}, { ref: 3 }] }]) {
      expect(restoreGraph(data)).toEqual(emptyGraph());
    }
    const bent = restoreGraph({
      series: [{ ref: { name: "/x" }, color: -1, style: "wild", width: 1e9, scale: "x", side: 4, window: NaN }],
      axes: { "left:": { range: [3, 1], unit: 4 }, nowhere: { unit: "m" } },
    });
    expect(bent.series).toEqual([newSeries({ log: 0, name: "/x", path: "" }, 0)]);
    expect(bent.axes).toEqual({ "left:": { unit: null, range: null, log: false } });
  });

  it("takes bare references", () => {
    expect(restoreGraph({ series: [{ log: 0, name: "/x", path: "" }] }).series[0]?.ref.name).toBe("/x");
  });

  it("gives each series a colour of its own", () => {
    const series = [0, 1, 2].map((color) => newSeries({ log: 0, name: "/x", path: "" }, color));
    expect(freeColor(series)).toBe(3);
    expect(freeColor(series.slice(1))).toBe(0);
  });

  it("holds what robots log and joins what is sampled", () => {
    expect([styleFor("number", "wpilog"), styleFor("number", "carla"), styleFor("boolean", "carla")]).toEqual([
      ...["stepped", "smooth", "stepped"],
    ]);
  });

  it("takes structs and lists by their parts", () => {
    const leaf = (path: string, kind: Field["kind"] = "number"): Field => ({
      path,
      name: path,
      kind,
      unit: null,
      fields: [],
    });
    const fields: Field[] = [
      { ...leaf(".translation", "struct"), fields: [leaf(".translation.x"), leaf(".translation.y")] },
      leaf(".raw", "bytes"),
      leaf(".on", "boolean"),
    ];
    const channel = { id: 0, name: "/Pose", type: "struct:Pose", kind: "struct", fields } as unknown as Channel;
    const find = (ref: SeriesRef): Found | null =>
      ref.name === "/Pose"
        ? {
            reference: { log: 0, channel: 0 },
            channel,
            field: null,
            kind: ref.path ? "number" : "struct",
            unit: null,
            shown: null,
          }
        : null;
    const config = emptyGraph();
    const pose: SeriesRef = { log: 0, name: "/Pose", path: "" };
    expect(addSeries(config, [pose, pose], find, () => "wpilog")).toBe(true);
    expect(config.series.map((one) => one.ref.path)).toEqual([".translation.x", ".translation.y", ".on"]);
    expect(addSeries(config, [{ log: 0, name: "/none", path: "" }], find, () => "wpilog")).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { Channel, Field, Trace } from "../../src/api";
import type { SeriesRef } from "../../src/model/series";
import type { Piece } from "../../src/store/tiles";
import type { Found } from "../../src/store/session.svelte";
import { assignAxes, ontoAxis, paddedRange, unitBehind } from "../../src/views/graph/axes";
import { addSeries, emptyGraph, freeColor, newSeries, restoreGraph, styleFor } from "../../src/views/graph/config";
import { filtered, heldIn, joined, sumBefore } from "../../src/views/graph/filters";
import { shortNames } from "../../src/views/graph/names";
import { extent, SvgPen, tracePath } from "../../src/views/graph/path";
import type { Pen } from "../../src/views/graph/path";
import { PLAIN, trace, whole } from "./traces";

class Recorder implements Pen {
  points: number[][] = [];
  strokes: number[][][] = [];
  moveTo(x: number, y: number) {
    this.points.push([x, y]);
    this.strokes.push([[x, y]]);
  }
  lineTo(x: number, y: number) {
    this.points.push([x, y]);
    this.strokes.at(-1)?.push([x, y]);
  }
  rect(x: number, y: number, width: number, height: number) {
    this.points.push([x + width / 2, y + height / 2]);
  }
}

const path = (pieces: Piece<Trace>[], style: "stepped" | "smooth" | "points", at = PLAIN, until = 0) => {
  const pen = new Recorder();
  tracePath(pen, pieces, -Infinity, Infinity, at, style, until);
  return pen;
};

describe("the path of a line", () => {
  it("is the plain line where each sample has its own pixel", () => {
    const samples = trace([
      [0, 1],
      [10, 3],
      [20, 2],
    ]);
    expect(path(whole(samples), "smooth").points.filter((_, place) => place !== 1)).toEqual([
      [0, 1],
      [10, 3],
      [20, 2],
    ]);
    expect(path(whole(samples), "stepped", PLAIN, 25).points.filter((_, place) => place !== 1)).toEqual([
      [0, 1],
      [10, 1],
      [10, 3],
      [20, 3],
      [20, 2],
      [25, 2],
    ]);
    expect(path(whole(samples), "points").points).toEqual([
      [0, 1],
      [10, 3],
      [20, 2],
    ]);
  });

  it("keeps every peak of what shares a pixel", () => {
    // A million samples on a thousand pixels, one of them a spike.
    const rows: number[][] = [];
    for (let place = 0; place < 20000; place++) rows.push([place / 20, place === 7777 ? 1e6 : Math.sin(place)]);
    rows.push([1000, -1e6]);
    for (const style of ["stepped", "smooth", "points"] as const) {
      const { points } = path(whole(trace(rows)), style);
      expect(points.length).toBeLessThan(1001 * 5);
      expect(Math.max(...points.map(([, y]) => y ?? 0))).toBe(1e6);
      expect(Math.min(...points.map(([, y]) => y ?? 0))).toBe(-1e6);
    }
  });

  it("reaches the least and the greatest value of every bucket", () => {
    const buckets = trace([
      [0, 4, 1, -5, 9, 2],
      [5, 9, 2, 1, 3, 3],
      [9.1, 9.2, 3, -8, 3, 3],
    ]);
    for (const style of ["stepped", "smooth", "points"] as const) {
      const ys = path(whole(buckets), style).points.map(([, y]) => y);
      for (const peak of [-5, 9, 1, 3, -8]) expect(ys).toContain(peak);
    }
  });

  it("has gaps where there is no number", () => {
    const samples = trace([
      [0, 1],
      [10, NaN],
      [20, 2],
      [30, 3],
    ]);
    expect(path(whole(samples), "smooth").strokes.length).toBe(2);
    const stepped = path(whole(samples), "stepped").strokes;
    expect(stepped.length).toBe(2);
    // What held before the gap held until it.
    expect(stepped[0]?.at(-1)).toEqual([10, 1]);
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
    expect([...joined(pieces, 0, 32).t]).toEqual([0, 10, 20, 20, 30]);
    expect([...joined(pieces, 12, 18).t]).toEqual([10, 20]);
    expect([...joined(pieces, 100, 200).t]).toEqual([30]);
  });

  it("on a logarithmic axis leaves out what has no logarithm", () => {
    const samples = trace([
      [0, 1],
      [10, -1],
      [20, 100],
    ]);
    const pen = path(whole(samples), "smooth", { ...PLAIN, log: true });
    expect(pen.strokes.map((stroke) => stroke[0])).toEqual([
      [0, 0],
      [20, 2],
    ]);
  });

  it("is converted on the way", () => {
    const at = { ...PLAIN, ay: -2, by: 100, factor: 3, offset: 1 };
    expect(path(whole(trace([[0, 5]])), "points", at).points).toEqual([[0, 68]]);
  });

  it("is the same in an SVG", () => {
    const pen = new SvgPen();
    tracePath(
      pen,
      whole(
        trace([
          [0, 1],
          [10, 3.14159],
        ]),
      ),
      0,
      10,
      PLAIN,
      "smooth",
      0,
    );
    expect(pen.text).toBe("M0 1L0.01 1L10 3.14");
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
    expect([...filtered(ramp, "derivative", 0).t]).toEqual([1, 2, 4]);
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
  it("are as short as they can be told apart by", () => {
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
    const leaf = (path: string, sort: Field["sort"] = "number"): Field => ({
      path,
      name: path,
      sort,
      unit: null,
      fields: [],
    });
    const fields: Field[] = [
      { ...leaf(".translation", "struct"), fields: [leaf(".translation.x"), leaf(".translation.y")] },
      leaf(".raw", "bytes"),
      leaf(".on", "boolean"),
    ];
    const channel = { id: 0, name: "/Pose", type: "struct:Pose", sort: "struct", fields } as unknown as Channel;
    const find = (ref: SeriesRef): Found | null =>
      ref.name === "/Pose"
        ? { reference: { log: 0, channel: 0 }, channel, field: null, sort: ref.path ? "number" : "struct", unit: null }
        : null;
    const config = emptyGraph();
    const pose: SeriesRef = { log: 0, name: "/Pose", path: "" };
    expect(addSeries(config, [pose, pose], find, () => "wpilog")).toBe(true);
    expect(config.series.map((one) => one.ref.path)).toEqual([".translation.x", ".translation.y", ".on"]);
    expect(addSeries(config, [{ log: 0, name: "/none", path: "" }], find, () => "wpilog")).toBe(false);
  });
});

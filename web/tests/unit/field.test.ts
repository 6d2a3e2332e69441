import { FIELDS, kindOf } from "../../src/field/kinds";
import { guessRole, type Place, type PoseSeries } from "../../src/field/places";
import { describe, expect, test } from "vitest";
import { Camera, fromField, gridStep, toField, zoomed, type Turn } from "../../src/views/field/geometry";
import { emptyField, restoreField } from "../../src/views/field/config";
import { heatOf, heatPixels, ramp } from "../../src/views/field/heat";
import { spotOf } from "../../src/views/field/poser";
import { allianceChannel, allianceOf } from "../../src/field/alliance";

const FRC = FIELDS.frc.size;
const spot = () => ({ x: 0, y: 0, yaw: 0 });

describe("origins", () => {
  test("blue is as it comes", () => {
    expect(toField(1, 2, 0.5, "blue", FRC, spot())).toEqual({ x: 1, y: 2, yaw: 0.5 });
  });

  test("red is the same corner from the other side", () => {
    const seen = toField(1, 2, 0.5, "red", FRC, spot());
    expect(seen.x).toBeCloseTo(15.54);
    expect(seen.y).toBeCloseTo(6.07);
    expect(seen.yaw).toBeCloseTo(0.5 - Math.PI);
  });

  test("a centre is half a field away", () => {
    expect(toField(0, 0, 0, "centre", FRC, spot())).toEqual({ x: 8.27, y: 4.035, yaw: 0 });
  });

  test("go back to where they came from", () => {
    for (const origin of ["blue", "red", "centre"] as const) {
      const there = toField(3.2, 1.1, 0, origin, FRC, spot());
      const back = fromField(there.x, there.y, origin, FRC);
      expect(back.x).toBeCloseTo(3.2);
      expect(back.y).toBeCloseTo(1.1);
    }
  });
});

describe("camera", () => {
  test("shows the whole field in the middle, y up", () => {
    const camera = new Camera(1000, 600, FRC, 0, null, 20);
    expect(camera.px(FRC.length / 2, FRC.width / 2)).toBeCloseTo(500);
    expect(camera.py(FRC.length / 2, FRC.width / 2)).toBeCloseTo(300);
    expect(camera.px(0, 0)).toBeCloseTo(20);
    expect(camera.px(FRC.length, 0)).toBeCloseTo(980);
    expect(camera.py(0, 0)).toBeGreaterThan(camera.py(0, 8));
  });

  test("has blue on each side when it is turned", () => {
    const blue = ([0, 1, 2, 3] as Turn[]).map((turn) => {
      const camera = new Camera(600, 600, FRC, turn, null, 0);
      return [Math.sign(Math.round(camera.px(0, 4.035) - 300)), Math.sign(Math.round(camera.py(0, 4.035) - 300))];
    });
    expect(blue).toEqual([
      [-1, 0],
      [0, 1],
      [1, 0],
      [0, -1],
    ]);
  });

  test("knows what is under the pointer", () => {
    for (const turn of [0, 1, 2, 3] as Turn[]) {
      const camera = new Camera(800, 500, FRC, turn, { x: 3, y: 2, zoom: 2.5 }, 10);
      const under = camera.under(camera.px(4.5, 1.5), camera.py(4.5, 1.5));
      expect(under.x).toBeCloseTo(4.5);
      expect(under.y).toBeCloseTo(1.5);
    }
  });

  test("turns headings with the field, clockwise as canvases do", () => {
    expect(new Camera(1, 1, FRC, 0, null, 0).angle(Math.PI / 2)).toBeCloseTo(-Math.PI / 2);
    expect(new Camera(1, 1, FRC, 1, null, 0).angle(0)).toBeCloseTo(-Math.PI / 2);
  });

  test("zooms about a place that stays", () => {
    const about = { x: 2, y: 3 };
    const before = new Camera(800, 500, FRC, 0, null, 10);
    const look = zoomed(null, FRC, 2, about);
    const after = new Camera(800, 500, FRC, 0, look, 10);
    expect(after.px(2, 3)).toBeCloseTo(before.px(2, 3));
    expect(after.py(2, 3)).toBeCloseTo(before.py(2, 3));
    expect(after.scale).toBeCloseTo(before.scale * 2);
    expect(zoomed(look, FRC, 1e9, about)?.zoom).toBe(40);
  });

  test("has grids that can be distinguished", () => {
    expect(gridStep(60, 22)).toBe(0.5);
    expect(gridStep(3, 22)).toBe(10);
    expect(gridStep(0.001, 22)).toBe(1000);
  });
});

describe("places out of what was fetched", () => {
  const flat: PoseSeries = {
    refs: ["x", "y", "r"].map((path) => ({ log: 0, name: "p", path })),
    turn: "yaw",
    angle: 1,
    long: 1,
    mirrored: false,
  };

  test("are between two samples, the shorter way round", () => {
    const into = spot();
    const values = Float64Array.of(1, 2, 3.1, 2, 3, -3.1);
    expect(spotOf(flat, values, 0.5, "blue", FRC, into)).toBe(true);
    expect(into.x).toBeCloseTo(1.5);
    expect(into.y).toBeCloseTo(2.5);
    expect(Math.abs(into.yaw)).toBeCloseTo(Math.PI);
  });

  test("stay where they were when the next is far", () => {
    const into = spot();
    spotOf(flat, Float64Array.of(1, 2, 0, 12, 2, 0), 0.5, "blue", FRC, into);
    expect(into.x).toBe(1);
  });

  test("of quaternions, inches and CARLA", () => {
    const into = spot();
    const half = Math.SQRT1_2;
    const whole: PoseSeries = { ...flat, refs: Array(6).fill(flat.refs[0]) as PoseSeries["refs"], turn: "quaternion" };
    spotOf(whole, Float64Array.of(1, 2, half, 0, 0, half), 0, "blue", FRC, into);
    expect(into.yaw).toBeCloseTo(Math.PI / 2);
    spotOf({ ...flat, long: 0.0254, angle: Math.PI / 180 }, Float64Array.of(100, 0, 90), 0, "blue", FRC, into);
    expect(into).toMatchObject({ x: 2.54 });
    expect(into.yaw).toBeCloseTo(Math.PI / 2);
    spotOf({ ...flat, mirrored: true, angle: -Math.PI / 180 }, Float64Array.of(1, 2, 90), 0, "blue", FRC, into);
    expect(into.y).toBe(-2);
    expect(into.yaw).toBeCloseTo(-Math.PI / 2);
  });

  test("without a place are none", () => {
    expect(spotOf(flat, Float64Array.of(NaN, 2, 0), 0, "blue", FRC, spot())).toBe(false);
  });
});

describe("heat", () => {
  const t = Float64Array.of(0, 0.1, 0.2, 5);

  test("is the time spent, without gaps and without what is outside", () => {
    const heat = heatOf(t, [1, 1, 1, -3], [1, 1, 1, 1], FRC, 5.1);
    expect(heat.seconds).toBeCloseTo(0.1 + 0.1 + 0.5);
    expect(heat.cells.reduce((sum, value) => sum + value, 0)).toBeCloseTo(heat.seconds, 3);
    const most = heat.cells.indexOf(heat.most);
    expect([most % heat.columns, Math.floor(most / heat.columns)]).toEqual([10, 10]);
  });

  test("is the same to all sides", () => {
    const { cells, columns } = heatOf(t, [4, 4, 4, 4], [4, 4, 4, 4], FRC, 5.1);
    const at = (x: number, y: number) => cells[(40 + y) * columns + 40 + x];
    expect(at(2, 0)).toBeCloseTo(at(0, 2) ?? NaN);
    expect(at(-2, 0)).toBeCloseTo(at(0, 2) ?? NaN);
    expect(at(2, 1)).toBeCloseTo(at(-1, -2) ?? NaN);
  });

  test("has colours from nothing to the last stop", () => {
    const table = ramp(["#000000", "#ff0000"]);
    expect(table[3]).toBe(0);
    expect([...table.subarray(255 * 4, 255 * 4 + 3)]).toEqual([255, 0, 0]);
    const heat = heatOf(t, [0, 0, 0, 0], [0, 0, 0, 0], FRC, 5.1);
    const pixels = heatPixels(heat, table);
    // The corner of the origin is below on the left.
    expect(pixels[(heat.rows - 1) * heat.columns * 4]).toBe(255);
    expect(pixels[0]).toBe(0);
  });
});

describe("sources", () => {
  const ref = (name: string) => ({ log: 0, name, path: "" });
  const single = {} as PoseSeries;
  const one: Place = { kind: "pose2d", many: false, single };
  const many: Place = { kind: "pose2d", many: true, single: null };

  test("have the role that their names say", () => {
    expect(guessRole(ref("/Drive/Pose"), one, [])).toBe("robot");
    expect(guessRole(ref("/Drive/Other"), one, [{ role: "robot" }])).toBe("ghost");
    expect(guessRole(ref("/Drive/PoseSetpoint"), one, [])).toBe("ghost");
    expect(guessRole(ref("/Drive/Trajectory"), many, [])).toBe("trajectory");
    expect(guessRole(ref("/Vision/TagPoses"), many, [])).toBe("targets");
    expect(guessRole(ref("/Field/Notes"), many, [])).toBe("points");
    expect(guessRole(ref("/Aim"), { kind: "point2d", many: false, single }, [])).toBe("points");
  });

  test("take the alliance from the field's word, and without one from what the team wrote", () => {
    const of = (...names: string[]) => allianceChannel(names.map((name) => ({ name })))?.name;
    expect(of("RealMetadata/alliance", "RealOutputs/x")).toBe("RealMetadata/alliance");
    expect(of("/RealMetadata/Alliance", "/DriverStation/AllianceStation")).toBe("/DriverStation/AllianceStation");
    expect(of("/RealOutputs/alliance", "/Metadata/allianceSelector")).toBeUndefined();
  });

  test("show the alliance in three ways", () => {
    expect([true, false, 2, 5, 0, "red 2", "Blue 1", "", null].map(allianceOf)).toEqual([
      "red",
      "blue",
      "red",
      "blue",
      null,
      "red",
      "blue",
      null,
      null,
    ]);
  });
});

describe("configurations", () => {
  test("come back as they were", () => {
    const config = emptyField("ftc");
    config.turn = 3;
    config.look = { x: 1, y: 2, zoom: 3 };
    config.sources.push({
      ref: { log: 1, name: "a", path: ".b" },
      role: "heat",
      color: 4,
      reading: { layout: "xyr", degrees: true, inches: false },
      hidden: true,
    });
    expect(restoreField(JSON.parse(JSON.stringify(config)))).toEqual(config);
  });

  test("of nonsense are the default", () => {
    expect(restoreField(null)).toEqual(emptyField());
    expect(restoreField({ sources: [1, {}, { ref: {} }], turn: 9, trail: -4, size: { length: "x" } })).toEqual({
      ...emptyField(),
      trail: 0,
    });
  });
});

test("a log of FTC has its field", () => {
  expect(kindOf([{ name: "HardwareMap/I2c/i1/xPosition" }])).toBe("ftc");
  expect(kindOf([{ name: "/RealOutputs/Odometry/Robot" }, { name: "/A/HardwareMap/B" }])).toBe("frc");
});

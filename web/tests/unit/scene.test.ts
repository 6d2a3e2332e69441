import { describe, expect, it } from "vitest";
import { degrees, yawOf } from "../../src/poses/angles";
import { ActorList } from "../../src/carla/cast";
import { Snapshot, Tile } from "../../src/carla/tracks";
import { emptyScene, restoreScene } from "../../src/views/scene/config";
import { poseOf, type PoseSeries3d } from "../../src/views/scene/sources";
import { actorTrails, Pencil, rgb, Trail } from "../../src/views/scene/trails";
import { boxOf, cellAt, lookFrom, turned, type Point } from "../../src/views/scene/world";
import { actor } from "./make";

const close = (found: Point, expected: Point) =>
  found.forEach((part, axis) => expect(part, `axis ${axis}`).toBeCloseTo(expected[axis] ?? NaN, 6));
const size = { cx: 0, cy: 0, cz: 0, ex: 2, ey: 1, ez: 0.5, known: true };

describe("from CARLA's left-handed world to a right-handed one", () => {
  it("y is mirrored, and a yaw to the right turns to the right", () => {
    const { middle, q } = boxOf(size, 10, 20, 3, 0, 0, 90);
    close(middle, [10, -20, 3]);
    // Forward is CARLA's +y, which is to the right: -y here.
    close(turned(q, [1, 0, 0]), [0, -1, 0]);
    expect(degrees(yawOf(q))).toBeCloseTo(-90);
  });

  it("a positive pitch lifts the nose, a positive roll lowers the right side", () => {
    close(turned(boxOf(size, 0, 0, 0, 0, 90, 0).q, [1, 0, 0]), [0, 0, 1]);
    // Its right is -y here.
    close(turned(boxOf(size, 0, 0, 0, 90, 0, 0).q, [0, -1, 0]), [0, 0, -1]);
  });

  it("the middle of a box turns with its actor", () => {
    const tall = { ...size, cx: 1, cy: 2, cz: 0.7 };
    close(boxOf(tall, 0, 0, 0, 0, 0, 0).middle, [1, -2, 0.7]);
    // Turned to the right: forward is -y, and what was right of it is behind.
    close(boxOf(tall, 0, 0, 0, 0, 0, 90).middle, [-2, -1, 0.7]);
  });
});

describe("poses of channels", () => {
  const solid = (turn: PoseSeries3d["turn"], more: Partial<PoseSeries3d> = {}): PoseSeries3d => ({
    refs: [],
    z: false,
    turn,
    angle: 1,
    carla: false,
    long: 1,
    ...more,
  });
  const refs = (count: number) => Array.from({ length: count }, () => ({ log: 0, name: "/x", path: "" }));

  it("headings, quaternions and angles", () => {
    const flat = poseOf(solid("yaw"), [1, 2, Math.PI / 2], 0);
    expect(flat).toMatchObject({ x: 1, y: 2, z: 0 });
    expect(flat?.yaw).toBeCloseTo(Math.PI / 2);
    const q = poseOf(solid("quaternion", { z: true }), [1, 2, 3, Math.SQRT1_2, 0, 0, Math.SQRT1_2], 0);
    expect(q?.z).toBe(3);
    expect(q?.yaw).toBeCloseTo(Math.PI / 2);
    const carla = poseOf(solid("angles", { z: true, carla: true }), [1, 2, 3, 0, 0, 90], 0);
    expect(carla?.y).toBe(-2);
    expect(carla?.yaw).toBeCloseTo(-Math.PI / 2);
    expect(poseOf(solid(null), [1, 2], 0)?.yaw).toBeNaN();
    expect(poseOf(solid("yaw"), [NaN, 2, 0], 0)).toBeNull();
  });

  it("between samples along the shorter way, but not over a jump", () => {
    const flat = solid("yaw", { refs: refs(3) });
    const half = poseOf(flat, [0, 0, 3, 1, 2, -3], 0.5);
    expect(half).toMatchObject({ x: 0.5, y: 1 });
    expect(Math.abs(half?.yaw ?? 0)).toBeCloseTo(Math.PI);
    expect(poseOf(flat, [0, 0, 0, 50, 0, 0], 0.5)?.x).toBe(0);
  });
});

describe("ribbons", () => {
  it("are two triangles a step, and stop at a jump", () => {
    const pencil = new Pencil();
    const trail = new Trail(pencil, rgb("#ff0000"), 0.2, 10, 5);
    trail.to(6, 0, 0, 0);
    trail.to(8, 1, 0, 0);
    trail.to(9, 100, 0, 0);
    trail.to(10, 101, 0, 0);
    expect(pencil.count).toBe(12);
    expect([...pencil.points.subarray(0, 2)].map((part) => Number(part.toFixed(3)))).toEqual([0, 0.1]);
    expect(pencil.colors[0]).toBe(1);
    pencil.begin();
    expect(pencil.count).toBe(0);
  });

  it("grow, and end somewhere", () => {
    const pencil = new Pencil();
    for (let step = 0; step < 40_000; step++) pencil.line([step, 0, 0], [step + 1, 0, 0], 0.1, [1, 1, 1], 1, 1);
    expect(pencil.count).toBeLessThanOrEqual(180_000);
    expect(pencil.points.length).toBeGreaterThanOrEqual(pencil.count * 3);
  });

  it("actors leave them on the ground", () => {
    const cast = new ActorList([actor(1, { type: "", kind: "walker" })]);
    const column = (...values: number[]) => Float32Array.from(values);
    const motion = {
      t: Float64Array.of(0, 1, 2),
      actor: Uint32Array.of(1, 1, 1),
      x: column(0, 1, 2),
      y: column(5, 5, 5),
      z: column(0.93, 0.93, 0.93),
      roll: column(0, 0, 0),
      pitch: column(0, 0, 0),
      yaw: column(0, 0, 0),
      speed: column(1, 1, 1),
      lights: Uint32Array.of(0, 0, 0),
    };
    const tile = new Tile(0, 2, motion, cast);
    const now = new Snapshot();
    tile.sample(1.5, now);
    const pencil = new Pencil();
    actorTrails(pencil, now, cast, [tile], 1.5, 10, () => [1, 1, 1]);
    expect(pencil.count).toBe(12);
    const [x, y, z] = pencil.points.subarray(pencil.count * 3 - 3, pencil.count * 3);
    expect(x).toBeCloseTo(1.5);
    expect(y).toBeLessThan(-4.8);
    expect(z).toBeCloseTo(0.04);
  });
});

describe("the camera", () => {
  it("stands far enough away", () => {
    const from = lookFrom([1, 2, 0], 10, [0, 0, 1], 45);
    expect(from[0]).toBe(1);
    expect(from[2]).toBeGreaterThan(20);
    expect([1, 8, 50, 400, 5000].map(cellAt)).toEqual([0.1, 1, 5, 50, 500]);
  });
});

describe("the configuration", () => {
  it("survives what others wrote", () => {
    expect(restoreScene(undefined)).toEqual(emptyScene());
    const odd = restoreScene({
      sources: [{}, 7],
      follow: { source: -1 },
      look: { from: [1, 2], to: [] },
      ground: "sea",
    });
    expect(odd).toEqual(emptyScene());
    const good = {
      ...emptyScene(),
      follow: { actor: 10 },
      look: { from: [1, 2, 3] as Point, to: [0, 0, 0] as Point },
      sources: [
        {
          ref: { log: 0, name: "/pose", path: "" },
          shape: "ghost" as const,
          color: 3,
          reading: { layout: "xyr" as const, degrees: true, inches: false },
          hidden: true,
        },
      ],
    };
    expect(restoreScene(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });
});

import { extentOf } from "../../src/carla/extent";
import { readFileSync } from "node:fs";
import { tableFromIPC } from "apache-arrow";
import { describe, expect, it } from "vitest";
import type { CarlaActors } from "../../src/api";
import {
  fit,
  pan,
  scaleBar,
  toScreen,
  toWorld,
  visible,
  within,
  zoomAt,
  type Camera,
} from "../../src/views/carla/camera";
import { ActorList, nameOf, sizeOf } from "../../src/carla/cast";
import { stateCommands } from "../../src/carla/command";
import { empty, hiddenKinds, restore } from "../../src/views/carla/config";
import { burst, visibleOnes } from "../../src/views/carla/draw";
import { blinks, lightNames, trafficLight } from "../../src/carla/lights";
import { pick } from "../../src/views/carla/pick";
import { motionOf, shorterWay, Snapshot, Tile, type Motion } from "../../src/carla/tracks";
import { budget, lengthOf, stepOf, wanted } from "../../src/carla/windows";
import { actor } from "./make";

const golden = (name: string) => new URL(`../../../fixtures/api/${name}`, import.meta.url);
const junction = JSON.parse(readFileSync(golden("junction-actors.json"), "utf8")) as CarlaActors;
const moved = motionOf(tableFromIPC(readFileSync(golden("junction-motion.arrow"))));

/** Rows of time, actor, x and yaw. */
function motion(rows: [number, number, number, number][]): Motion {
  const floats = (place: 2 | 3) => Float32Array.from(rows, (row) => row[place]);
  const none = new Float32Array(rows.length);
  return {
    t: Float64Array.from(rows, (row) => row[0]),
    actor: Uint32Array.from(rows, (row) => row[1]),
    x: floats(2),
    y: none,
    z: none,
    roll: none,
    pitch: none,
    yaw: floats(3),
    speed: Float32Array.from(rows, (_, place) => place),
    lights: Uint32Array.from(rows, (_, place) => place),
  };
}

describe("lives", () => {
  const cast = new ActorList([
    actor(7, { destroyed: 10 }),
    actor(7, { spawned: 10, destroyed: 20, type: "walker.pedestrian.0001", kind: "walker" }),
    actor(8),
  ]);

  it("an id that was used again is another actor", () => {
    expect([0, 9.99, 10, 19.99, 20].map((t) => cast.at(7, t))).toEqual([0, 0, 1, 1, -1]);
    expect(cast.at(9, 0)).toBe(-1);
    expect(cast.nearest(7, 25)?.kind).toBe("walker");
    expect(cast.nearest(7, 5)?.kind).toBe("vehicle");
  });

  it("whoever is seen without having appeared is somebody", () => {
    const fresh = new ActorList([actor(1)]);
    const place = fresh.seen(99, 3);
    expect(fresh.lives[place]).toMatchObject({ id: 99, kind: "other", type: "" });
    expect(fresh.seen(99, 4)).toBe(place);
    expect(fresh.at(99, 5)).toBe(place);
  });

  it("sizes are recorded or usual", () => {
    expect(sizeOf({ kind: "vehicle", bounding_box: [0.1, 0, 0.7, 2.4, 1, 0.7] })).toMatchObject({
      ex: 2.4,
      cx: 0.1,
      known: true,
    });
    expect(sizeOf({ kind: "walker", bounding_box: null })).toMatchObject({ cz: 0, known: false });
    // A box without size, as sensors may have it, is none.
    expect(sizeOf({ kind: "vehicle", bounding_box: [0, 0, 0, 0, 0, 0] }).known).toBe(false);
  });

  it("names are short", () => {
    expect(nameOf(actor(1, { type: "vehicle.tesla.model3" }))).toBe("tesla model3");
    expect(nameOf(actor(1, { type: "walker.pedestrian.0001", kind: "walker" }))).toBe("walker 0001");
    expect(nameOf(actor(1, { type: "traffic.speed_limit.50", kind: "traffic_sign" }))).toBe("speed limit 50");
    expect(nameOf(actor(5, { type: "" }))).toBe("actor 5");
  });
});

describe("a moment between frames", () => {
  const now = new Snapshot();

  it("lies on a line, and angles take the shorter way", () => {
    const cast = new ActorList([actor(1)]);
    const tile = new Tile(
      0,
      1,
      motion([
        [0, 1, 0, 170],
        [1, 1, 10, -170],
      ]),
      cast,
    );
    tile.sample(0.25, now);
    expect([now.count, now.x[0], now.yaw[0]]).toEqual([1, 2.5, 175]);
    tile.sample(2, now);
    expect([now.x[0], now.yaw[0]]).toEqual([10, -170]);
    tile.sample(-1, now);
    expect(now.count).toBe(0);
    expect([-350, 350, 180, -180, 730].map(shorterWay)).toEqual([10, -10, 180, -180, 10]);
  });

  it("lights and speeds are those of the frame", () => {
    const tile = new Tile(
      0,
      1,
      motion([
        [0, 1, 0, 0],
        [1, 1, 10, 0],
      ]),
      new ActorList([actor(1)]),
    );
    tile.sample(0.9, now);
    expect([now.lights[0], now.speed[0]]).toEqual([0, 0]);
    tile.sample(1, now);
    expect([now.lights[0], now.speed[0]]).toEqual([1, 1]);
  });

  it("nothing goes from one life to the next of the same id", () => {
    const cast = new ActorList([actor(1, { destroyed: 2 }), actor(1, { spawned: 2 })]);
    const tile = new Tile(
      0,
      4,
      motion([
        [0, 1, 0, 0],
        [1, 1, 10, 0],
        [2, 1, 500, 90],
        [3, 1, 510, 90],
      ]),
      cast,
    );
    tile.sample(1.5, now);
    expect([now.count, now.life[0], now.x[0]]).toEqual([1, 0, 10]);
    tile.sample(2.5, now);
    expect([now.count, now.life[0], now.x[0]]).toEqual([1, 1, 505]);
  });

  it("a state that is sent once stays", () => {
    const cast = new ActorList([actor(1), actor(2, { kind: "traffic_sign" })]);
    const tile = new Tile(
      0,
      2,
      motion([
        [0, 1, 0, 0],
        [0, 2, 7, 0],
        [1, 1, 10, 0],
        [2, 1, 20, 0],
      ]),
      cast,
    );
    tile.sample(1.5, now);
    expect(now.count).toBe(2);
    expect(now.x[now.find(1)]).toBe(7);
    expect(tile.sampleOne(0, 1.5, now)).toBe(true);
    expect([now.count, now.x[0]]).toEqual([1, 15]);
    expect(tile.sampleOne(9, 1.5, now)).toBe(false);
  });

  it("there is room for thousands", () => {
    const rows = Array.from({ length: 3000 }, (_, id): [number, number, number, number] => [0, id, id, 0]);
    const tile = new Tile(0, 1, motion(rows), new ActorList(rows.map(([, id]) => actor(id))));
    tile.sample(0.5, now);
    expect([now.count, now.x[2999]]).toEqual([3000, 2999]);
  });

  it("the server's own answer", () => {
    const cast = ActorList.of(junction);
    const tile = new Tile(10, 13, moved, cast);
    tile.sample(10.5, now);
    const hero = now.find(cast.at(10, 10.5));
    expect(now.x[hero]).toBeGreaterThan(-18);
    expect(now.x[hero]).toBeLessThan(-12);
    expect(now.y[hero]).toBeCloseTo(1.75, 5);
    // 14 disappears at 12.6 s, and the lights are sent once.
    expect(cast.at(14, 12.5)).toBeGreaterThan(0);
    tile.sample(12.7, now);
    expect(now.find(cast.at(14, 12.5))).toBe(-1);
    const lights = cast.lives.flatMap((life, place) => (life.kind === "traffic_light" ? [now.find(place)] : []));
    expect(lights.map((place) => trafficLight(now.lights[place] ?? 9))).toEqual(["red", "green", "red", "green"]);
  });
});

describe("from above", () => {
  const camera: Camera = { x: 10, y: -5, scale: 4, turn: 0.7 };

  it("a place of the world and a point of the screen are the same", () => {
    for (const [x, y] of [
      [0, 0],
      [10, -5],
      [123, 45],
    ] as const) {
      const [sx, sy] = toScreen(camera, 800, 600, x, y);
      const [wx, wy] = toWorld(camera, 800, 600, sx, sy);
      expect(wx).toBeCloseTo(x);
      expect(wy).toBeCloseTo(y);
    }
  });

  it("x goes right and y down: CARLA's frame is that of the screen", () => {
    const plain = { x: 0, y: 0, scale: 2, turn: 0 };
    expect(toScreen(plain, 100, 100, 10, 0)).toEqual([70, 50]);
    expect(toScreen(plain, 100, 100, 0, 10)).toEqual([50, 70]);
    // Heading up: what lies ahead of a yaw of 90° is above the middle.
    const turn = -(90 * Math.PI) / 180 - Math.PI / 2;
    const [sx, sy] = toScreen({ ...plain, turn }, 100, 100, 0, 10);
    expect(sx).toBeCloseTo(50);
    expect(sy).toBeCloseTo(30);
  });

  it("what is under the pointer stays there", () => {
    const before = toWorld(camera, 800, 600, 100, 200);
    const nearer = zoomAt(camera, 800, 600, 100, 200, 2);
    expect(nearer.scale).toBe(8);
    const after = toWorld(nearer, 800, 600, 100, 200);
    expect(after[0]).toBeCloseTo(before[0]);
    expect(after[1]).toBeCloseTo(before[1]);
    const moved = toWorld(pan(camera, 30, -20), 800, 600, 130, 180);
    expect(moved[0]).toBeCloseTo(before[0]);
    expect(moved[1]).toBeCloseTo(before[1]);
    expect(zoomAt(camera, 800, 600, 0, 0, 1e9).scale).toBe(200);
  });

  it("everything fits", () => {
    const extent = { left: -100, right: 300, top: -20, bottom: 30 };
    const seen = visible(fit(extent, 800, 600), 800, 600);
    expect(seen.left).toBeLessThan(-100);
    expect(seen.right).toBeGreaterThan(300);
    expect(within(seen, 0, 0, 1)).toBe(true);
    expect(within(seen, 1000, 0, 1)).toBe(false);
    expect(fit(extent, 0, 0).scale).toBe(1);
  });

  it("only those in sight are drawn, walkers last", () => {
    const cast = new ActorList([actor(1, { kind: "walker" }), actor(2), actor(3), actor(4, { kind: "sensor" })]);
    const now = new Snapshot();
    new Tile(
      0,
      1,
      motion([
        [0, 1, 0, 0],
        [0, 2, 5, 0],
        [0, 3, 5000, 0],
        [0, 4, 1, 0],
      ]),
      cast,
    ).sample(0, now);
    const seen = { left: -50, right: 50, top: -50, bottom: 50 };
    const shown = visibleOnes({ now, cast, hidden: hiddenKinds(["sensors"]) }, seen);
    expect(shown.map((place) => cast.lives[now.life[place] ?? -1]?.id)).toEqual([2, 1]);
    expect(extentOf(now, cast, hiddenKinds(["vehicles", "sensors"]))?.right).toBeCloseTo(0.19);
    expect(extentOf(new Snapshot(), cast, new Set())).toBeNull();
  });

  it("a point is in the box that is turned, and the smallest wins", () => {
    const cast = new ActorList([actor(1), actor(2, { kind: "walker" })]);
    const now = new Snapshot();
    new Tile(
      0,
      1,
      motion([
        [0, 1, 0, 90],
        [0, 2, 0, 0],
      ]),
      cast,
    ).sample(0, now);
    expect(pick(now, cast, new Set(), 0, 2, 0)).toBe(0);
    expect(pick(now, cast, new Set(), 2, 0, 0)).toBe(-1);
    expect(pick(now, cast, new Set(), 0.1, 0.1, 0)).toBe(1);
    expect(pick(now, cast, new Set(["walker"]), 0.1, 0.1, 0)).toBe(0);
  });

  it("bars are round numbers", () => {
    expect([1, 4, 10, 33].map((scale) => scaleBar(scale, 100))).toEqual([100, 20, 10, 2]);
  });

  it("bursts fade", () => {
    const hit = { start: 10, end: 11 };
    expect([9.9, 10, 11, 20].map((t) => burst(hit, t))).toEqual([0, 1, 1, 0]);
    expect(burst(hit, 12.25)).toBeCloseTo(0.5);
  });
});

describe("what is fetched", () => {
  it("tiles hold about as many rows, whoever is there", () => {
    expect(lengthOf(25 * 20)).toBe(64);
    expect(lengthOf(1000 * 20)).toBe(2);
    expect(lengthOf(1e6)).toBe(1);
    expect(budget(40_000)).toBe(37);
    expect(budget(1)).toBe(64);
    expect(budget(1e7)).toBe(6);
  });

  it("the cursor's own tile comes first, then what plays next, then trails", () => {
    expect(wanted(10, 5, 1, 4, false)).toEqual([2, 3, 1]);
    expect(wanted(10, 20, 2, 4, true)).toEqual([2, 3, 4, 1, 0, -1, -2, -3]);
    expect(wanted(10, 5, 1, 0, true)).toEqual([]);
    expect([1, 4, 8, 16].map(stepOf)).toEqual([0, 0, 0.1, 0.2]);
  });
});

describe("lights", () => {
  it("have CARLA's names", () => {
    expect(lightNames(1 | 8 | 16)).toEqual(["position", "brake", "right blinker"]);
    expect([0, 1, 2, 3, 4, 77].map(trafficLight)).toEqual(["red", "yellow", "green", "off", "unknown", "unknown"]);
    expect([0, 0.5].map(blinks)).toEqual([true, false]);
  });
});

describe("the configuration", () => {
  it("survives what others wrote", () => {
    expect(restore(null)).toEqual(empty());
    expect(restore("x")).toEqual(empty());
    const odd = restore({
      follow: -1,
      trail: 1e9,
      hidden: ["walkers", "nobody"],
      coloring: "?",
      camera: { x: 1, y: 2 },
    });
    expect(odd).toEqual({ ...empty(), trail: 30, hidden: ["walkers"] });
    const good = {
      ...empty(),
      follow: 10,
      headingUp: true,
      camera: { x: 1, y: 2, scale: 3 },
      coloring: "speed" as const,
    };
    expect(restore(JSON.parse(JSON.stringify(good)))).toEqual(good);
  });

  it("lines run", () => {
    expect(stateCommands("a b.log", "5.5", 10)[0]?.text).toBe("logpose carla state 'a b.log' --time 5.5 --actor 10");
    expect(stateCommands("-a.log", "5", null).map(({ text }) => text)).toEqual([
      "logpose carla state ./-a.log --time 5",
      "logpose carla collisions ./-a.log",
    ]);
  });
});

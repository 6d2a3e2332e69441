import { describe, expect, test } from "vitest";
import { degrees, radians } from "../../src/poses/angles";
import { emptySwerve, isHeading, restoreSwerve } from "../../src/views/swerve/config";
import {
  cornersOf,
  decodeModules,
  decodeRotation,
  decodeSpeeds,
  ORDERS,
  speedsOf,
  type Pairs,
} from "../../src/views/swerve/modules";

const PAIRS: Pairs = { first: "angle", degrees: false };

test("a number is a heading by its unit, else by its name", () => {
  expect(isHeading("V", "/Drive/AngleVoltage")).toBe(false);
  expect(isHeading("m/s", "/Drive/Yaw")).toBe(false);
  expect(isHeading("°", "/Drive/Pigeon")).toBe(true);
  expect(isHeading("rad", "/Drive/Pigeon")).toBe(true);
  expect(isHeading(null, "/Drive/GyroYaw")).toBe(true);
  expect(isHeading(null, "/Power/BatteryVoltage")).toBe(false);
});

describe("modules", () => {
  test("of structs", () => {
    expect(decodeModules([{ speed: 1.5, angle: { value: 0.25 } }], PAIRS)).toEqual([{ speed: 1.5, angle: 0.25 }]);
    expect(decodeModules([{ speedMetersPerSecond: 2, angle: { radians: 1 } }], PAIRS)).toEqual([
      { speed: 2, angle: 1 },
    ]);
  });

  test("of pairs of numbers", () => {
    expect(decodeModules([0.5, 2, 0.25, 3], PAIRS)).toEqual([
      { speed: 2, angle: 0.5 },
      { speed: 3, angle: 0.25 },
    ]);
    const [module] = decodeModules([2, 90], { first: "speed", degrees: true });
    expect(module?.speed).toBe(2);
    expect(module?.angle).toBeCloseTo(Math.PI / 2);
  });

  test("of positions have a direction only", () => {
    expect(decodeModules([{ distance: 4, angle: { value: 1 } }], PAIRS)).toEqual([{ speed: NaN, angle: 1 }]);
  });

  test("of anything else are none", () => {
    for (const value of [null, 3, "x", {}]) expect(decodeModules(value, PAIRS)).toEqual([]);
  });
});

describe("places", () => {
  test("follow the order", () => {
    expect(ORDERS).toHaveLength(24);
    expect(ORDERS[0]).toBe("FL FR BL BR");
    expect(cornersOf("FR BL FL BR", 0.6, 0.4)).toEqual([
      { corner: "FR", x: 0.3, y: -0.2 },
      { corner: "BL", x: -0.3, y: 0.2 },
      { corner: "FL", x: 0.3, y: 0.2 },
      { corner: "BR", x: -0.3, y: -0.2 },
    ]);
  });
});

describe("the chassis", () => {
  test("comes from structs and lists", () => {
    expect(decodeSpeeds({ vx: 1, vy: 2, omega: 3 })).toEqual({ vx: 1, vy: 2, omega: 3 });
    expect(decodeSpeeds({ vxMetersPerSecond: 1, vyMetersPerSecond: 2, omegaRadiansPerSecond: 3 })).toEqual({
      vx: 1,
      vy: 2,
      omega: 3,
    });
    expect(decodeSpeeds([1, 2])).toEqual({ vx: 1, vy: 2, omega: 0 });
    expect(decodeSpeeds({ x: 1 })).toBeNull();
    expect(decodeSpeeds(null)).toBeNull();
  });

  test("moves as its modules do", () => {
    const places = cornersOf("FL FR BL BR", 0.6, 0.6);
    const [vx, vy, omega] = [1.2, -0.4, 0.8];
    const modules = places.map(({ x, y }) => {
      const [mx, my] = [vx - omega * y, vy + omega * x];
      return { speed: Math.hypot(mx, my), angle: Math.atan2(my, mx) };
    });
    const speeds = speedsOf(modules, places);
    expect(speeds?.vx).toBeCloseTo(vx);
    expect(speeds?.vy).toBeCloseTo(vy);
    expect(speeds?.omega).toBeCloseTo(omega);
    expect(speedsOf([], places)).toBeNull();
  });

  test("is turned by rotations, poses and numbers", () => {
    expect(decodeRotation({ value: 1 }, false)).toBe(1);
    expect(decodeRotation({ translation: { x: 0, y: 0 }, rotation: { value: 2 } }, false)).toBe(2);
    expect(decodeRotation(90, true)).toBeCloseTo(radians(90));
    expect(degrees(decodeRotation({ q: { w: Math.SQRT1_2, x: 0, y: 0, z: Math.SQRT1_2 } }, false))).toBeCloseTo(90);
    expect(decodeRotation(null, false)).toBeNaN();
  });
});

test("configurations come back, and nonsense is the default", () => {
  const config = emptySwerve();
  config.order = "BR BL FR FL";
  config.sources.push({ ref: { log: 0, name: "a", path: "" }, role: "speeds" });
  expect(restoreSwerve(JSON.parse(JSON.stringify(config)))).toEqual(config);
  expect(restoreSwerve({ order: "FL FL FL FL", fastest: "quick", sources: [{ role: "x" }] })).toEqual(emptySwerve());
});

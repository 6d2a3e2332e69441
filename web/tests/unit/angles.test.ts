import { describe, expect, test } from "vitest";
import { degrees, mixAngle, quaternion, radians, slerp, unit, wrapped, yawOf } from "../../src/poses/angles";

describe("angles", () => {
  test("are within half a turn", () => {
    expect(wrapped(3 * Math.PI)).toBeCloseTo(Math.PI);
    expect(wrapped(-Math.PI)).toBeCloseTo(Math.PI);
    expect(wrapped(-7)).toBeCloseTo(-7 + 2 * Math.PI);
    expect(wrapped(1)).toBe(1);
  });

  test("go the shorter way", () => {
    expect(degrees(mixAngle(radians(170), radians(-170), 0.5))).toBeCloseTo(180);
    expect(degrees(mixAngle(radians(-170), radians(170), 0.25))).toBeCloseTo(-175);
    expect(degrees(mixAngle(radians(10), radians(50), 0.5))).toBeCloseTo(30);
  });
});

describe("rotations", () => {
  const about = (yaw: number) => quaternion(0, 0, radians(yaw));

  test("have a heading", () => {
    expect(degrees(yawOf(about(90)))).toBeCloseTo(90);
    expect(degrees(yawOf(quaternion(radians(10), radians(20), radians(-30))))).toBeCloseTo(-30);
  });

  test("go the shorter way, whichever sign they are written with", () => {
    const to = about(-170);
    const other = { w: -to.w, x: -to.x, y: -to.y, z: -to.z };
    expect(degrees(yawOf(slerp(about(170), to, 0.25)))).toBeCloseTo(175);
    expect(degrees(yawOf(slerp(about(170), other, 0.25)))).toBeCloseTo(175);
  });

  test("keep their length between equal ends", () => {
    const half = slerp(about(20), about(20), 0.5);
    expect(Math.hypot(half.w, half.x, half.y, half.z)).toBeCloseTo(1);
    expect(degrees(yawOf(half))).toBeCloseTo(20);
  });

  test("without length are none", () => {
    expect(unit({ w: 0, x: 0, y: 0, z: 0 })).toEqual({ w: 1, x: 0, y: 0, z: 0 });
    expect(unit({ w: NaN, x: 0, y: 0, z: 0 })).toEqual({ w: 1, x: 0, y: 0, z: 0 });
  });
});

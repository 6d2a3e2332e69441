import { describe, expect, test } from "vitest";
import type { Field, ValueKind } from "../../src/api";
import { degrees, quaternion, radians } from "../../src/poses/angles";
import {
  decodePoses,
  findPoses,
  guessReading,
  partsOf,
  partsOfNumbers,
  PLAIN,
  poseText,
  shapeOf,
  type Reading,
} from "../../src/poses/poses";
import { channel as numbers } from "./make";

const reading = (some: Partial<Reading>): Reading => ({ ...PLAIN, ...some });

/** The fields of a struct, written as an object; a number is a number. */
function fields(shape: object, base = ""): Field[] {
  return Object.entries(shape).map(([name, inside]) => {
    const path = `${base}.${name}`;
    const kind: ValueKind = typeof inside === "object" ? "struct" : "number";
    return { path, name, kind, unit: null, fields: typeof inside === "object" ? fields(inside as object, path) : [] };
  });
}

const list = (element: object | number): Field[] => [
  typeof element === "number"
    ? { path: "[0]", name: "0", kind: "number", unit: null, fields: [] }
    : { path: "[0]", name: "0", kind: "struct", unit: null, fields: fields(element, "[0]") },
];

const channel = (name: string, type: string, kind: ValueKind, fields: Field[] = []) =>
  numbers(name, { type, kind, fields });

const POSE2D = { translation: { x: 1, y: 2 }, rotation: { value: 0.5 } };
const POSE3D = { translation: { x: 1, y: 2, z: 3 }, rotation: { q: { w: 1, x: 0, y: 0, z: 0 } } };

describe("values", () => {
  test("of WPILib's structs", () => {
    expect(decodePoses(POSE2D)).toEqual([{ x: 1, y: 2, z: 0, yaw: 0.5, q: quaternion(0, 0, 0.5) }]);
    const q = quaternion(0, 0, radians(90));
    const [pose] = decodePoses({ translation: { x: 1, y: 2, z: 3 }, rotation: { q: { ...q } } });
    expect(pose).toMatchObject({ x: 1, y: 2, z: 3 });
    expect(degrees(pose?.yaw ?? NaN)).toBeCloseTo(90);
  });

  test("of places without a direction", () => {
    const [flat] = decodePoses({ x: 4, y: 5 });
    expect(flat).toMatchObject({ x: 4, y: 5, z: 0, yaw: NaN, q: { w: 1 } });
    expect(decodePoses({ x: 4, y: 5, z: 6 })[0]?.z).toBe(6);
  });

  test("in other spellings", () => {
    expect(decodePoses({ translation: { x: 1, y: 2 }, rotation: { radians: 3 } })[0]?.yaw).toBe(3);
    expect(decodePoses({ x: 1, y: 2, heading: 0.25 })[0]?.yaw).toBe(0.25);
    expect(decodePoses({ time: 3, pose: POSE2D, velocity: 2 })[0]?.yaw).toBe(0.5);
    expect(decodePoses({ translation: { x: 1, y: 2, z: 0 }, rotation: { w: 1, x: 0, y: 0, z: 0 } })[0]?.yaw).toBe(0);
  });

  test("of lists of structs, also empty ones", () => {
    expect(decodePoses([POSE2D, POSE2D])).toHaveLength(2);
    expect(decodePoses([])).toEqual([]);
    expect(decodePoses([POSE2D, { translation: { x: "NaN", y: 2 }, rotation: { value: 0 } }])).toHaveLength(1);
  });

  test("of CARLA, mirrored", () => {
    const [pose] = decodePoses({ x: 1, y: 2, z: 3, roll: 0, pitch: 0, yaw: 90 });
    expect(pose).toMatchObject({ x: 1, y: -2, z: 3 });
    expect(degrees(pose?.yaw ?? NaN)).toBeCloseTo(-90);
  });

  test("that are none", () => {
    for (const value of [null, true, 3, "x", {}, { vx: 1 }]) expect(decodePoses(value)).toEqual([]);
  });
});

describe("numbers", () => {
  test("by their count", () => {
    expect(decodePoses([1, 2, 3])).toMatchObject([{ x: 1, y: 2, yaw: 3 }]);
    expect(decodePoses([1, 2, 3, 4, 5, 6])).toMatchObject([
      { x: 1, y: 2, yaw: 3 },
      { x: 4, y: 5, yaw: 6 },
    ]);
    expect(decodePoses([1, 2])).toMatchObject([{ x: 1, y: 2, yaw: NaN }]);
    expect(decodePoses([1, 2, 3, 1, 0, 0, 0])).toMatchObject([{ x: 1, y: 2, z: 3, yaw: 0 }]);
  });

  test("in degrees and inches", () => {
    const [pose] = decodePoses([100, 200, 180], reading({ degrees: true, inches: true }));
    expect(pose?.x).toBeCloseTo(2.54);
    expect(pose?.y).toBeCloseTo(5.08);
    expect(pose?.yaw).toBeCloseTo(Math.PI);
  });

  test("of a Limelight, with what stands behind them", () => {
    const numbers = [1, 2, 3, 0, 0, 90, 12, 1, 0, 0, 0];
    const [pose, ...rest] = decodePoses(numbers, guessReading("NT:/limelight/botpose_wpiblue"));
    expect(pose).toMatchObject({ x: 1, y: 2, z: 3 });
    expect(pose?.yaw).toBeCloseTo(Math.PI / 2);
    expect(rest).toEqual([]);
  });

  test("by their name", () => {
    expect(guessReading("NT:/SmartDashboard/Field/Robot")).toEqual(reading({ layout: "xyr", degrees: true }));
    expect(guessReading("/RealOutputs/Odometry/Robot")).toEqual(PLAIN);
  });

  test("have parts where there is one pose", () => {
    expect(partsOfNumbers(3, PLAIN)).toEqual({ x: "[0]", y: "[1]", z: null, yaw: "[2]", q: null });
    expect(partsOfNumbers(6, PLAIN)).toBeNull();
    expect(partsOfNumbers(11, reading({ layout: "xyzrpy" }))?.yaw).toBe("[5]");
    expect(partsOfNumbers(7, PLAIN)?.q).toEqual(["[3]", "[4]", "[5]", "[6]"]);
  });
});

describe("shapes", () => {
  test("of structs, with the paths of their parts", () => {
    expect(partsOf(fields(POSE2D))).toEqual({
      kind: "pose2d",
      parts: { x: ".translation.x", y: ".translation.y", z: null, yaw: ".rotation.value", q: null },
    });
    expect(partsOf(fields(POSE3D))?.parts.q).toEqual([
      ".rotation.q.w",
      ".rotation.q.x",
      ".rotation.q.y",
      ".rotation.q.z",
    ]);
    expect(partsOf(fields({ x: 1, y: 1 }))?.kind).toBe("point2d");
    expect(partsOf(fields({ x: 1, y: 1, z: 1 }))?.kind).toBe("point3d");
    expect(partsOf(fields({ x: 1, y: 1, z: 1, roll: 0, pitch: 0, yaw: 0 }))?.kind).toBe("carla");
    expect(partsOf(fields({ timestamp: 1, x: 1, y: 1, heading: 0, vx: 1 }))?.kind).toBe("pose2d");
    expect(partsOf(fields({ x: 1, y: 1, extent_x: 1 }))).toBeNull();
    expect(partsOf(fields({ vx: 1, vy: 1, omega: 1 }))).toBeNull();
  });

  test("of lists", () => {
    expect(shapeOf("struct:Pose2d[]", "list", [])).toMatchObject({ kind: "pose2d", many: true });
    expect(shapeOf("struct:Translation3d[4]", "list", [])).toMatchObject({ kind: "point3d", many: true });
    expect(shapeOf("", "list", list(POSE3D))).toMatchObject({ kind: "pose3d", many: true });
    expect(shapeOf("double[]", "list", list(1))).toMatchObject({ kind: "numbers", many: true });
    expect(shapeOf("struct:SwerveModuleState[]", "list", list({ speed: 1, angle: { value: 1 } }))).toBeNull();
    expect(shapeOf("boolean[]", "list", [])).toBeNull();
    expect(shapeOf("double", "number", [])).toBeNull();
  });

  test("are found at any depth", () => {
    const found = findPoses([
      channel("NT:/Drive/Pose", "struct:Pose2d", "struct", fields(POSE2D)),
      channel("/Vision", "struct:Vision", "struct", fields({ latency: 1, best: { cam: POSE3D } })),
      channel("NT:/SmartDashboard/Field/Robot", "double[]", "list", list(1)),
      channel("DS:joystick0/axes", "float[]", "list", list(1)),
      channel("/Power", "double", "number"),
    ]);
    expect(found.map(({ channel, path, shape }) => [channel.name, path, shape.kind])).toEqual([
      ["NT:/Drive/Pose", "", "pose2d"],
      ["/Vision", ".best.cam", "pose3d"],
      ["NT:/SmartDashboard/Field/Robot", "", "numbers"],
    ]);
  });
});

test("poses have labels for people", () => {
  expect(poseText({ x: 3.25, y: 1.5, yaw: Math.PI / 2 })).toBe("(3.25, 1.50) m, 90.0°");
  expect(poseText({ x: 3.25, y: 1.5, yaw: NaN })).toBe("(3.25, 1.50) m");
});

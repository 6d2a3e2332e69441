/** The views of space against answers that the server gave. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tableFromIPC } from "apache-arrow";
import type { Channel, Channels, Held, Json, Reference } from "../../src/api";
import { degrees } from "../../src/poses/angles";
import { decodePoses, findPoses, poseText, shapeOf } from "../../src/poses/poses";
import { boardChannels, isBoard, rideOf, type Id } from "../../src/views/board/ride";
import { heatOf } from "../../src/views/field/heat";
import { allianceOf } from "../../src/field/alliance";
import { findSticks, guessPad, stateOf } from "../../src/views/joysticks/sticks";
import { cornersOf, decodeModules, decodeSpeeds, speedsOf } from "../../src/views/swerve/modules";

const file = (name: string) => readFileSync(new URL(`../../../fixtures/api/${name}`, import.meta.url));
const json = <T>(name: string) => JSON.parse(file(name).toString()) as T;

interface Values {
  query: { time: number; series: Reference[] };
  answer: { values: (Held | null)[] };
}

/** The channels of a log, and what one of them held by name. */
function log(name: string): { channels: Channel[]; held: (channel: string) => Json } {
  const { channels } = json<Channels>(`${name}-channels.json`);
  const { query, answer } = json<Values>(`${name}-values.json`);
  const held = (wanted: string) => {
    const id = channels.find((channel) => channel.name === wanted)?.id;
    return answer.values[query.series.findIndex(({ channel }) => channel === id)]?.value ?? null;
  };
  return { channels, held };
}

describe("a match", () => {
  const { channels, held } = log("frc");

  test("has a pose, with its parts and its value", () => {
    const found = findPoses(channels);
    expect(found.map(({ channel, path, shape }) => [channel.name, path, shape.kind])).toEqual([
      ["NT:/Drive/Pose", "", "pose2d"],
    ]);
    expect(found[0]?.shape.parts).toEqual({
      x: ".translation.x",
      y: ".translation.y",
      z: null,
      yaw: ".rotation.value",
      q: null,
    });
    const [pose] = decodePoses(held("NT:/Drive/Pose"));
    expect(pose && poseText(pose)).toBe("(13.76, 6.44) m, 67.7°");
  });

  test("has a red robot", () => {
    expect(allianceOf(held("NT:/FMSInfo/IsRedAlliance"))).toBe("red");
  });

  test("has modules that move as the chassis does", () => {
    const modules = decodeModules(held("NT:/Drive/ModuleStates"), { first: "angle", degrees: false });
    const logged = decodeSpeeds(held("NT:/Drive/ChassisSpeeds"));
    const made = speedsOf(modules, cornersOf("FL FR BL BR", 0.6, 0.6));
    expect(modules).toHaveLength(4);
    expect(made?.vx).toBeCloseTo(logged?.vx ?? NaN, 1);
    expect(made?.vy).toBeCloseTo(logged?.vy ?? NaN, 1);
  });

  test("has a gamepad", () => {
    const [stick, ...more] = findSticks(channels);
    expect(more).toEqual([]);
    expect(Object.keys(stick?.parts ?? {})).toEqual(["axes", "buttons", "povs"]);
    const state = stateOf({
      axes: held("DS:joystick0/axes"),
      buttons: held("DS:joystick0/buttons"),
      povs: held("DS:joystick0/povs"),
    });
    expect(state.axes).toHaveLength(6);
    expect(state.buttons).toEqual(Array(10).fill(false));
    expect(state.povs).toEqual([-1]);
    expect(guessPad({ name: "", xbox: false }, state)).toBe("xbox");
  });

  test("has rows that make a heat map", () => {
    const table = tableFromIPC(file("frc-rows.arrow"));
    const column = (name: string) => Float64Array.from(table.getChild(name) ?? [], Number);
    const t = column("time");
    const heat = heatOf(t, column("c0"), column("c1"), { length: 16.54, width: 8.07 }, 15);
    expect(heat.seconds).toBeGreaterThan(0.9 * Math.min(15 - (t[0] ?? 0), t.length * 0.5));
    expect(heat.most).toBeGreaterThan(0);
  });
});

test("a nose dive is seen by what ran out", () => {
  const { channels, held } = log("refloat");
  const found = boardChannels(channels);
  expect(isBoard(found)).toBe(true);
  const values: Partial<Record<Id, Json>> = {};
  for (const [id, channel] of Object.entries(found)) values[id as Id] = held(channel.name);
  const ride = rideOf(values, { maxDuty: 0.95, pushbackDuty: 0.8, maxCurrent: 60, lowVoltage: 0, pad: 2 });
  expect(ride.pitch).toBeCloseTo(-27.23, 2);
  expect(ride.speed).toBeCloseTo(43.1, 1);
  expect(ride.warnings.map(({ text }) => text)).toEqual([
    "balance lost: 35° from the setpoint",
    "duty at its limit",
    "20 A below requested",
    "footpads open",
    "duty pushback",
  ]);
});

test("actors of CARLA are poses, seen from the other side", () => {
  const { channels, held } = log("carla");
  const transform = channels.find(({ name }) => name === "/carla/actors/24/transform");
  expect(transform && shapeOf(transform.type, transform.kind, transform.fields)?.kind).toBe("carla");
  const [pose] = decodePoses(held("/carla/actors/24/transform"));
  expect(pose).toMatchObject({ x: 3, y: -0.5, z: 0.25 });
  expect(degrees(pose?.yaw ?? NaN)).toBeCloseTo(-3);
});

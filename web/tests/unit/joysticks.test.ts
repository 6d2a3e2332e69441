import { describe, expect, test } from "vitest";
import { restoreJoysticks } from "../../src/views/joysticks/config";
import {
  aboutOf,
  decodeButtons,
  findSticks,
  guessPad,
  isConnected,
  partOf,
  pulled,
  stateOf,
} from "../../src/views/joysticks/sticks";
import { channel as numbers } from "./make";

const channel = (name: string) => numbers(name, { type: "", kind: "list" });

describe("channels", () => {
  test("of all three kinds of logs", () => {
    expect(partOf("DS:joystick0/axes")).toEqual({ port: 0, part: "axes" });
    expect(partOf("/DriverStation/Joystick3/ButtonValues")).toEqual({ port: 3, part: "buttons" });
    expect(partOf("/DriverStation/Joystick3/POVs")).toEqual({ port: 3, part: "povs" });
    expect(partOf("/DriverStation/Joystick3/ButtonCount")).toEqual({ port: 3, part: "count" });
    expect(partOf("/ds/joystick/2/descriptor")).toEqual({ port: 2, part: "descriptor" });
    expect(partOf("/ds/joystick/2/rumble")).toBeNull();
    expect(partOf("/Joystickaxes")).toBeNull();
  });

  test("make joysticks, in the order of ports, if they have axes or buttons", () => {
    const names = ["DS:joystick1/buttons", "DS:joystick0/axes", "DS:joystick0/povs", "/ds/joystick/5/descriptor"];
    const found = findSticks(names.map(channel));
    expect(found.map(({ port, parts }) => [port, Object.keys(parts)])).toEqual([
      [0, ["axes", "povs"]],
      [1, ["buttons"]],
    ]);
  });
});

describe("buttons", () => {
  test("of lists", () => {
    expect(decodeButtons([true, false, 1, 0])).toEqual([true, false, true, false]);
  });

  test("of bits, the first lowest", () => {
    expect(decodeButtons(0b101, 4)).toEqual([true, false, true, false]);
    expect(decodeButtons(0, 3)).toEqual([false, false, false]);
    expect(decodeButtons(2 ** 31, 32)[31]).toBe(true);
    expect(decodeButtons(0b1).length).toBe(10);
    expect(decodeButtons(2 ** 15).length).toBe(16);
  });

  test("of nothing are none", () => {
    expect(decodeButtons(null)).toEqual([]);
    expect(decodeButtons(-1)).toEqual([]);
    expect(decodeButtons("x")).toEqual([]);
  });
});

test("states hold what a stick has", () => {
  expect(stateOf({ axes: [0.5, "NaN"], buttons: 2, count: 2, povs: [90] })).toEqual({
    axes: [0.5, NaN],
    buttons: [false, true],
    povs: [90],
  });
  expect(stateOf({})).toEqual({ axes: [], buttons: [], povs: [] });
});

test("names come from descriptors too", () => {
  const pad = { name: "Xbox One", xbox: true, type: 1 };
  expect(aboutOf({ descriptor: pad })).toEqual({ name: "Xbox One", xbox: true });
  expect(aboutOf({ descriptor: JSON.stringify(pad) })).toEqual({ name: "Xbox One", xbox: true });
  expect(aboutOf({ descriptor: "no JSON", name: "Mine" })).toEqual({ name: "Mine", xbox: false });
});

test("layouts fit names and numbers", () => {
  const state = (axes: number, buttons: number) => ({
    axes: Array<number>(axes).fill(0),
    buttons: Array<boolean>(buttons).fill(false),
    povs: [],
  });
  const named = (name: string) => ({ name, xbox: false });
  expect(guessPad({ name: "", xbox: true }, state(6, 16))).toBe("xbox");
  expect(guessPad(named("Wireless Controller"), state(6, 14))).toBe("ps");
  expect(guessPad(named("Logitech Extreme 3D"), state(4, 12))).toBe("flight");
  expect(guessPad(named(""), state(6, 10))).toBe("xbox");
  expect(guessPad(named("Joystick 0"), state(6, 16))).toBe("generic");
});

test("triggers rest at -1 or at 0", () => {
  expect(pulled(0, false)).toBe(0);
  expect(pulled(-1, true)).toBe(0);
  expect(pulled(1, true)).toBe(1);
  expect(pulled(0, true)).toBe(0.5);
  expect(pulled(NaN, true)).toBe(0);
});

test("configurations keep what makes sense", () => {
  expect(restoreJoysticks({ log: 1, ports: [0, 9, "x"], pads: { 0: "ps", 7: 4, x: "ps" }, numbers: false })).toEqual({
    log: 1,
    ports: [0],
    pads: { 0: "ps" },
    numbers: false,
    empty: false,
  });
});

test("an empty port of a log without counts of buttons has no controller", () => {
  const empty = { axes: [], buttons: 0, povs: [], name: "" };
  expect(isConnected(stateOf(empty))).toBe(false);
  expect(isConnected(stateOf({ ...empty, buttons: 4 }))).toBe(true);
  expect(isConnected(stateOf({ ...empty, name: "Button box" }))).toBe(true);
  expect(isConnected(stateOf({ ...empty, count: 12 }))).toBe(true);
  expect(stateOf({ ...empty, axes: [0, 0] }).buttons).toHaveLength(10);
});

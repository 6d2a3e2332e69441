import { describe, expect, test } from "vitest";
import { candidate, fuzzy, pieces, search } from "../../src/model/fuzzy";

const NAMES = [
  "/Drive/Module0/DriveVelocity",
  "/Drive/Module0/MotorTemperature",
  "/Drive/Module0/TurnPosition",
  "/Power/BatteryVoltage",
  "/Power/BrownedOut",
  "/Power/TotalCurrent",
  "/Shooter/RPM",
  "/Shooter/State",
  "DS:autonomous",
  "DS:joystick0/axes",
  "NT:/Drive/ChassisSpeeds",
  "NT:/Drive/Pose",
  "NT:/Drive/Pose.translation.x",
];
const find = (query: string) =>
  search(
    query,
    NAMES.map((name) => candidate(name)),
  ).map(({ item }) => item.text);

describe("searching", () => {
  test.each([
    ["battery", "/Power/BatteryVoltage"],
    ["BATTERY", "/Power/BatteryVoltage"],
    ["batvol", "/Power/BatteryVoltage"],
    ["bv", "/Power/BatteryVoltage"],
    ["rpm", "/Shooter/RPM"],
    ["shtr rpm", "/Shooter/RPM"],
    ["rpm shooter", "/Shooter/RPM"],
    ["pose", "NT:/Drive/Pose"],
    ["posex", "NT:/Drive/Pose.translation.x"],
    ["joy axes", "DS:joystick0/axes"],
    ["m0temp", "/Drive/Module0/MotorTemperature"],
    ["drivevel", "/Drive/Module0/DriveVelocity"],
    ["ds:auto", "DS:autonomous"],
  ])("%s finds %s first", (query, expected) => expect(find(query)[0]).toBe(expected));

  test("every word must be found", () => {
    expect(find("battery pose")).toEqual([]);
    expect(find("zzz")).toEqual([]);
    expect(find("   ")).toEqual([]);
  });

  test("what is far from the best is left out", () => expect(find("battery")).toEqual(["/Power/BatteryVoltage"]));

  test("letters across words are found only where words begin", () => {
    expect(find("vel")).toEqual(["/Drive/Module0/DriveVelocity"]);
    expect(fuzzy("vel", "/Drive/Module0/MotorTemperature")).toBeNull();
    // Within a word, letters may be left out, and a piece of it is enough.
    expect(fuzzy("shtr", "/Shooter/State")?.places).toEqual([1, 2, 5, 7]);
    expect(fuzzy("olta", "/Power/BatteryVoltage")?.places).toEqual([15, 16, 17, 18]);
  });

  test("types and units lead to names too, and are not marked", () => {
    const items = [candidate("/a", "double V"), candidate("/b", "struct:Pose2d")];
    const [found] = search("pose2d", items);
    expect(found?.item.text).toBe("/b");
    expect(found?.match.places).toEqual([]);
  });

  test("letters that were meant are the ones where words begin", () => {
    expect(fuzzy("bv", "/Power/BatteryVoltage")?.places).toEqual([7, 14]);
    expect(fuzzy("volt", "volume/Voltage")?.places).toEqual([7, 8, 9, 10]);
    expect(fuzzy("pose", "NT:/Pose/Pose")?.places).toEqual([9, 10, 11, 12]);
  });

  test("letters that are missing or in another order find nothing", () => {
    expect(fuzzy("xyz", "abc")).toBeNull();
    expect(fuzzy("ba", "ab")).toBeNull();
    expect(fuzzy("aa", "a")).toBeNull();
    expect(fuzzy("", "a")).toEqual({ score: 0, places: [] });
    expect(fuzzy("a", "")).toBeNull();
  });

  test("letters that are scattered all over find nothing", () =>
    expect(fuzzy("iooe", "/Drive/Module0/MotorTemperature")).toBeNull());

  test("text in which case changes the number of letters does no harm", () => {
    expect(fuzzy("i", "İİi")?.places).toEqual([2]);
    expect(search("straße", [candidate("/Straße/x")])).toHaveLength(1);
  });

  test("a hundred thousand names take a moment", () => {
    const many = Array.from({ length: 100_000 }, (_, place) =>
      candidate(`/Subsystem${place % 97}/Motor${place}/Velocity`),
    );
    const start = performance.now();
    expect(search("motor99999vel", many)[0]?.item.text).toBe("/Subsystem89/Motor99999/Velocity");
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test("pieces join to the whole text", () => {
    expect(pieces("Battery", [0, 3, 4])).toEqual([
      { text: "B", marked: true },
      { text: "at", marked: false },
      { text: "te", marked: true },
      { text: "ry", marked: false },
    ]);
    expect(pieces("", [0])).toEqual([]);
  });
});

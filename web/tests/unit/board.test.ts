import { describe, expect, test } from "vitest";
import { emptyBoard, restoreBoard } from "../../src/views/board/config";
import { bestColumns } from "../../src/views/board/draw";
import { currentHeadroom, dutyLevel, idOf, rideOf, roundUp, type Limits } from "../../src/views/board/ride";

const LIMITS: Limits = { maxDuty: 0.95, pushbackDuty: 0.8, maxCurrent: 100, lowVoltage: 0, pad: 2 };
const warnings = (values: Parameters<typeof rideOf>[0], limits = LIMITS) =>
  rideOf(values, limits).warnings.map(({ text, level }) => `${level}: ${text}`);

describe("names", () => {
  test("are those of boards since 1.3", () => {
    expect(idOf("/refloat/imu.pitch")).toBe("pitch");
    expect(idOf("/refloat/motor.duty_cycle")).toBe("duty_cycle");
    expect(idOf("/refloat/footpad.adc2")).toBe("adc_right");
    expect(idOf("/refloat/setpoint")).toBe("setpoint");
    expect(idOf("/ds/battery")).toBeNull();
  });
});

describe("a ride", () => {
  test("has what the log has", () => {
    const ride = rideOf(
      { pitch: 3, setpoint: 1, duty_cycle: -0.5, erpm: 10000, footpad: "left", running: true },
      LIMITS,
    );
    expect(ride).toMatchObject({ pitch: 3, setpoint: 1, duty: 0.5, measured: false, state: "running" });
    expect(ride.speed).toBeCloseTo(35.2);
    expect(ride.roll).toBeNaN();
    expect(ride.pads.map(({ on }) => on)).toEqual([true, false]);
  });

  test("prefers logged values to computed ones", () => {
    const ride = rideOf(
      { speed: 20, erpm: 10000, dir_current: 5, current: 9, state: "ready", mode: "handtest" },
      LIMITS,
    );
    expect(ride).toMatchObject({ speed: 20, measured: true, current: 5, state: "ready, handtest" });
  });

  test("knows footpads by their volts", () => {
    expect(rideOf({ adc_left: 2.5, adc_right: 0.1 }, LIMITS).pads).toEqual([
      { volts: 2.5, on: true },
      { volts: 0.1, on: false },
    ]);
    expect(rideOf({ pitch: 1 }, LIMITS).pads).toEqual([]);
  });

  test("leaves out what is not a number", () => {
    expect(rideOf({ pitch: 131008, balance_pitch: 2 }, LIMITS).pitch).toBe(2);
    expect(rideOf({ pitch: "NaN" }, LIMITS).pitch).toBeNaN();
  });
});

describe("warnings", () => {
  test("are none on a quiet ride", () => {
    expect(
      warnings({ pitch: 1, setpoint: 0, duty_cycle: 0.3, footpad: "both", running: true, adjustment: "none" }),
    ).toEqual([]);
  });

  test("show what runs out", () => {
    expect(warnings({ duty_cycle: 0.94 })).toEqual(["error: duty at its limit"]);
    expect(warnings({ balance_current: 80, dir_current: 40 })).toEqual(["error: 40 A below requested"]);
    expect(warnings({ balance_current: 20, dir_current: 0 })).toEqual([]);
    expect(warnings({ running: true, pitch: -12, setpoint: 0 })).toEqual([
      "error: balance lost: 12° from the setpoint",
    ]);
    expect(warnings({ running: true, footpad: "none" })).toEqual(["error: footpads open"]);
    expect(warnings({ running: false, footpad: "none" })).toEqual([]);
    expect(warnings({ batt_voltage: 60 }, { ...LIMITS, lowVoltage: 62 })).toEqual(["warning: low voltage"]);
  });

  test("show what the board says", () => {
    expect(warnings({ adjustment: "duty pushback", wheelslip: true })).toEqual([
      "warning: duty pushback",
      "warning: wheelslip",
    ]);
    expect(warnings({ fault_code: 3, running: false, stop_condition: "pitch" })).toEqual([
      "error: fault 3",
      "warning: stopped by pitch",
    ]);
  });
});

describe("gauges", () => {
  test("of duty change with the limits", () => {
    expect([0.5, 0.8, 0.93].map((duty) => dutyLevel(duty, LIMITS))).toEqual(["good", "warning", "error"]);
  });

  test("of current go by what is asked for", () => {
    expect(currentHeadroom(rideOf({ dir_current: 20, balance_current: -75 }, LIMITS), LIMITS)).toBeCloseTo(0.25);
    expect(currentHeadroom(rideOf({ dir_current: 20 }, LIMITS), LIMITS)).toBeCloseTo(0.8);
    expect(currentHeadroom(rideOf({ dir_current: 200 }, LIMITS), LIMITS)).toBe(0);
  });

  test("end at round numbers", () => {
    expect([87, 100, 101, 12, 0, NaN].map(roundUp)).toEqual([100, 100, 120, 12, 100, 100]);
  });

  test("are as large as the room allows", () => {
    expect(bestColumns(4, { width: 400, height: 100 })).toBe(4);
    expect(bestColumns(4, { width: 200, height: 200 })).toBe(2);
    expect(bestColumns(3, { width: 100, height: 400 })).toBe(1);
  });
});

test("configurations come back, and nonsense is the default", () => {
  const config = { ...emptyBoard(), speed: "mph" as const, maxCurrent: 120 };
  expect(restoreBoard(JSON.parse(JSON.stringify(config)))).toEqual(config);
  expect(restoreBoard({ speed: "knots", maxDuty: "x" })).toEqual(emptyBoard());
});

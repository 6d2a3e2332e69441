import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  decimals,
  formatBytes,
  formatClock,
  formatCount,
  formatDuration,
  formatFixed,
  formatNumber,
  formatNumeral,
  formatNumerals,
  formatSi,
  formatStep,
  formatTime,
  TIME_STEPS,
} from "../../src/values/format";

describe("numbers", () => {
  it("have the texts that all implementations share", () => {
    const path = new URL("../../../fixtures/numbers.json", import.meta.url);
    const cases = JSON.parse(readFileSync(path, "utf8")) as { value: number | string; text: string }[];
    expect(cases.length).toBeGreaterThan(50);
    for (const { value, text } of cases) expect(formatNumber(Number(value)), String(value)).toBe(text);
  });

  it("that are text already keep the digits of whole numbers", () => {
    expect(["1774102994200061", "-0", "12.3456789", "2.888892822738853e-6", "NaN", ""].map(formatNumeral)).toEqual([
      ...["1774102994200061", "-0", "12.3457", "2.88889e-6", "NaN", ""],
    ]);
  });

  it("on an axis have the decimals of the step", () => {
    expect([0, 0.5, 1].map((value) => formatStep(value, 0.5))).toEqual(["0.0", "0.5", "1.0"]);
    expect(formatStep(-1e-17, 0.25)).toBe("0.00");
    expect(formatStep(20000, 5000)).toBe("20000");
    expect(formatStep(2e12, 1e12)).toBe("2e12");
    expect([1, 0.1, 0.25, 2e-4, 1e-9, 0, 3].map(decimals)).toEqual([0, 1, 2, 4, 9, 0, 0]);
  });

  it("take prefixes", () => {
    expect([1363000, 999.9, 0.82, 0].map((value) => formatSi(value, "V"))).toEqual([
      "1.36 MV",
      "1 kV",
      "820 mV",
      "0 V",
    ]);
    expect(formatBytes(1_073_741_824)).toBe("1.07 GB");
    expect([73573, 999, 1000000].map(formatCount)).toEqual(["73,573", "999", "1,000,000"]);
  });
});

it("what rounds to zero has no sign", () => {
  expect([-0.001, 0, -0.005, -0.3].map((value) => formatFixed(value, 2))).toEqual(["0.00", "0.00", "-0.01", "-0.30"]);
  expect(formatFixed(-0.4, 0)).toBe("0");
});

describe("times", () => {
  it("are seconds, then minutes, then hours", () => {
    expect([1.2, 59.9996, 72.48, 3723.5, -5, -0.0001].map((t) => formatTime(t))).toEqual([
      ...["1.200", "1:00.000", "1:12.480", "1:02:03.500", "-5.000", "0.000"],
    ]);
    expect(formatTime(12.3456, 0.1)).toBe("12.3");
    expect(formatTime(72, 10)).toBe("1:12");
    expect(formatTime(5, 1, true)).toBe("0:05");
    expect(formatTime(1.0000005, 1e-7)).toBe("1.0000005");
  });

  it("have lengths", () => {
    expect([0, 1e-9, 0.00125, 0.82, 3.25, 59.9999, 125, 3720, 90000, -2].map(formatDuration)).toEqual([
      ...["0 s", "1 ns", "1.25 ms", "820 ms", "3.25 s", "1 min 00 s", "2 min 05 s", "1 h 02 min", "1 d 01 h", "-2 s"],
    ]);
  });

  it("show the time of day", () => {
    expect(formatClock(1.5, 0.1)).toMatch(/^\d\d:\d\d:01\.5$/);
    expect(formatClock(NaN)).toBe("–");
  });

  it("have steps that only grow", () => {
    expect(TIME_STEPS.every((step, place) => place === 0 || step > (TIME_STEPS[place - 1] ?? 0))).toBe(true);
  });
});

it("numbers in lists and structs are shortened like others", () => {
  expect(formatNumerals("[1.4412420000000012, 5.5, 0.0]")).toBe("[1.44124, 5.5, 0.0]");
  expect(formatNumerals("[2.888892822738853e-6, -0.28581680001…")).toBe("[2.88889e-6, -0.285817…");
  expect(formatNumerals("{speed: 0, id: 1774102994200061}")).toBe("{speed: 0, id: 1774102994200061}");
});

import { describe, expect, it } from "vitest";
import {
  conversion,
  convert,
  exactShown,
  kin,
  measureOf,
  numeralShown,
  rateOf,
  sumOf,
  unitShown,
} from "../../src/values/units";

describe("units", () => {
  it("are converted within what they measure", () => {
    const check = (value: number, from: string, to: string, expected: number) =>
      expect(convert(value, from, to)).toBeCloseTo(expected, 9);
    check(1, "m", "ft", 3.280839895);
    check(1, "ft", "in", 12);
    check(Math.PI, "rad", "°", 180);
    check(1, "rot", "rad", 2 * Math.PI);
    check(60, "rpm", "rot/s", 1);
    check(10, "m/s", "km/h", 36);
    check(100, "°C", "°F", 212);
    check(32, "°F", "°C", 0);
    check(0, "K", "°C", -273.15);
    check(0.5, "", "%", 50);
    check(7, "V", "A", 7);
    expect(conversion("V", "A")).toBeNull();
    expect(conversion("furlongs", "furlongs")).toEqual({ factor: 1, offset: 0 });
  });

  it("come back from where they went", () => {
    for (const from of ["m", "rad", "m/s", "°C", "V", "s", "N·m", "psi"]) {
      for (const to of kin(from)) expect(convert(convert(3.7, from, to), to, from)).toBeCloseTo(3.7, 9);
    }
  });

  it("are those in which people read values", () => {
    const trip = { unit: "s", shown: "ms" };
    expect([unitShown(trip), unitShown({ unit: "V", shown: null }), unitShown({ unit: null, shown: "%" })]).toEqual([
      "ms",
      "V",
      "%",
    ]);
    expect([exactShown("0.0045", trip), exactShown("0.29", { unit: null, shown: "%" })]).toEqual(["4.5", "29"]);
    expect(exactShown("2.888892822738853e-6", { unit: "V", shown: null })).toBe("2.888892822738853e-6");
    expect([numeralShown("0.00123456789", trip), numeralShown("text", trip)]).toEqual(["1.23457", "text"]);
  });

  it("share an axis with their kin", () => {
    expect(measureOf("ft")).toBe(measureOf("m"));
    expect(measureOf("V")).not.toBe(measureOf("A"));
    expect(measureOf("furlongs")).toBe("furlongs");
    expect(kin("furlongs")).toEqual(["furlongs"]);
    expect(kin("")).toEqual([""]);
  });

  it("change with derivatives and integrals", () => {
    expect(["m", "m/s", "rad/s", "V", "", "J"].map(rateOf)).toEqual(["m/s", "m/s²", "rad/s²", "V/s", "1/s", "W"]);
    expect(["m/s", "m/s²", "A", "W", ""].map(sumOf)).toEqual(["m", "m/s", "A·s", "J", "s"]);
  });
});

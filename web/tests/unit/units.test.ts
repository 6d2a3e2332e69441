import { describe, expect, it } from "vitest";
import { conversion, convert, kin, measureOf, rateOf, sumOf, symbolOf, unitOf } from "../../src/values/units";

describe("units", () => {
  it("have one spelling", () => {
    expect(["meters", "Metres", "m", "RPM", "deg", "Volts", "furlongs", "", null].map(symbolOf)).toEqual([
      ...["m", "m", "m", "rpm", "°", "V", "furlongs", "", ""],
    ]);
    // Case tells units apart before words do.
    expect(["mV", "MHz", "K", "kB"].map(symbolOf)).toEqual(["mV", "MHz", "K", "kB"]);
  });

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

  it("share an axis with their kin", () => {
    expect(measureOf("ft")).toBe(measureOf("m"));
    expect(measureOf("V")).not.toBe(measureOf("A"));
    expect(measureOf("furlongs")).toBe("furlongs");
    expect(kin("furlongs")).toEqual(["furlongs"]);
    expect(kin("")).toEqual([""]);
  });

  it("come from the log, from WPILib's structs, or from the end of a name", () => {
    const check = (name: string, type: string, path: string, told: string | null, unit: string) =>
      expect(unitOf(told, name, type, path)).toBe(unit);
    check("/x", "double", "", "meters", "m");
    check("/Drive/Pose", "struct:Pose2d", ".translation.x", null, "m");
    check("/Drive/Pose", "struct:Pose3d", ".rotation.q.x", null, "");
    check("/Drive/States", "struct:SwerveModuleState[]", "[2].speed", null, "m/s");
    check("/Drive/States", "struct:SwerveModuleState[]", "[2].angle.value", null, "rad");
    check("/Drive/DriveVelocityMetersPerSec", "double", "", null, "m/s");
    check("/Power/BatteryVoltage", "double", "", null, "V");
    check("/battery_volts", "double", "", null, "V");
    check("/Shooter/RPM", "double", "", null, "rpm");
    check("/Arm/Currents", "double[]", "[0]", null, "");
    check("/Flags/volts", "double", "", null, "V");
  });

  it("change with derivatives and integrals", () => {
    expect(["m", "m/s", "rad/s", "V", "", "J"].map(rateOf)).toEqual(["m/s", "m/s²", "rad/s²", "V/s", "1/s", "W"]);
    expect(["m/s", "m/s²", "A", "W", ""].map(sumOf)).toEqual(["m", "m/s", "A·s", "J", "s"]);
  });
});

import { expect, test } from "vitest";
import type { Channel, Field } from "../../src/api";
import type { SeriesRef } from "../../src/model/series";
import { importAdvantageScope, isAdvantageScope, resolver } from "../../src/shell/advantagescope";
import type { Found } from "../../src/store/session.svelte";

const NAMES: [number, string, string | null, string[]][] = [
  [0, "/Power/BatteryVoltage", "V", []],
  [0, "NT:/SmartDashboard/Speed", null, []],
  [0, "/RealOutputs/Odometry/Robot", null, [".translation.x", ".rotation.value"]],
  [0, "/Modules", null, ["[0].speed"]],
  [1, "/Power/BatteryVoltage", "V", []],
];

function find(ref: SeriesRef): Found | null {
  const known = NAMES.find(([log, name]) => log === ref.log && name === ref.name);
  if (!known) return null;
  const [log, , unit, paths] = known;
  const field = paths.includes(ref.path) ? ({ path: ref.path } as Field) : null;
  return { reference: { log, channel: 0 }, channel: {} as Channel, field, kind: "number", unit, shown: null };
}

const resolve = resolver(2, find);
const source = (type: string, logKey: string, more = {}) => ({
  type,
  logKey,
  logType: "Number",
  visible: true,
  ...more,
});
const file = (tabs: unknown[], more = {}) => ({
  version: "26.0.2",
  hubs: [{ x: 0, y: 0, width: 1, height: 1, state: { sidebar: {}, tabs: { selected: 1, tabs } } }],
  satellites: [],
  ...more,
});
const tab = (type: number, title: string, controller: unknown) => ({
  type,
  title,
  controller,
  controllerUUID: "x",
  renderer: null,
  controlsHeight: 200,
});

/** The configuration of the only pane of each tab. */
const configs = (found: ReturnType<typeof importAdvantageScope>) =>
  (found?.layout.tabs as { title: string; root: { kind: string; config: Record<string, unknown> } }[]).map(
    ({ title, root }) => [title, root.kind, root.config] as const,
  );

test("names are found as AdvantageScope writes them", () => {
  const at = (key: string) => {
    const { ref } = resolve(key);
    return `${ref.log} ${ref.name}${ref.path}`;
  };
  expect(at("/Power/BatteryVoltage")).toBe("0 /Power/BatteryVoltage");
  expect(at("/Log1/Power/BatteryVoltage")).toBe("1 /Power/BatteryVoltage");
  expect(at("NT:/AdvantageKit/RealOutputs/Odometry/Robot")).toBe("0 /RealOutputs/Odometry/Robot");
  expect(at("/SmartDashboard/Speed")).toBe("0 NT:/SmartDashboard/Speed");
  expect(at("/RealOutputs/Odometry/Robot/translation/x")).toBe("0 /RealOutputs/Odometry/Robot.translation.x");
  expect(at("/Modules/0/speed")).toBe("0 /Modules[0].speed");
  expect(at("/Not/there")).toBe("0 /Not/there");
  expect(resolve("/Power/BatteryVoltage").unit).toBe("V");
});

test("a layout of 2025 to 2027 keeps tabs, series, axes and colours", () => {
  const found = importAdvantageScope(
    file([
      tab(0, "", null),
      tab(1, "Power", {
        leftSources: [source("smooth", "/Power/BatteryVoltage", { options: { color: "#2b66a2", size: "bold" } })],
        rightSources: [source("points", "NT:/SmartDashboard/Speed", { visible: false })],
        discreteSources: [source("stripes", "DS:enabled"), source("alerts", "/Alerts")],
        leftLockedRange: [6, 13],
        rightLockedRange: null,
        leftUnitConversion: { autoTarget: null, preset: null },
        rightUnitConversion: { autoTarget: "feet", preset: null },
        leftFilter: 0,
        rightFilter: 1,
      }),
      tab(2, "2D", {
        sources: [
          source("robot", "/RealOutputs/Odometry/Robot"),
          source("heatmapLegacy", "/RealOutputs/Odometry/Robot"),
          source("swerveStates", "/Modules"),
        ],
        field: "2026 Field",
      }),
      tab(4, "Table", ["/Power/BatteryVoltage", "/Not/there"]),
      tab(5, "Console", "/Console"),
      tab(6, "Stats", { sources: [source("independent", "/Power/BatteryVoltage")], timeRange: "auto" }),
      tab(9, "Swerve", {
        sources: [source("moduleVelocities", "/Modules"), source("states", "/Setpoints")],
        maxSpeed: 5,
        sizeX: 0.6,
      }),
      tab(7, "Video", null),
      tab(11, "Points", {}),
    ]),
    resolve,
  );
  expect(found?.version).toBe("26.0.2");
  expect(found?.layout.current).toBe("t1");
  const all = configs(found);
  expect(all.map(([title, kind]) => [title, kind])).toEqual([
    ["Power", "graph"],
    ["2D", "field"],
    ["Table", "table"],
    ["Console", "console"],
    ["Stats", "statistics"],
    ["Swerve", "swerve"],
  ]);
  const [graph, field, table, , statistics, swerve] = all.map(([, , config]) => config);
  expect(graph?.["series"]).toMatchObject([
    {
      ref: { name: "/Power/BatteryVoltage" },
      side: "left",
      style: "smooth",
      color: "#2b66a2",
      width: 2.5,
      shown: true,
    },
    { ref: { name: "NT:/SmartDashboard/Speed" }, side: "right", style: "points", filter: "derivative", shown: false },
    { ref: { name: "DS:enabled" }, side: "auto" },
  ]);
  expect(graph?.["axes"]).toEqual({ "left:voltage": { range: [6, 13] } });
  expect(field?.["sources"]).toMatchObject([{ role: "robot" }, { role: "heat" }]);
  expect(table?.["columns"]).toHaveLength(2);
  expect(statistics?.["range"]).toBe("visible");
  expect(swerve?.["sources"]).toMatchObject([{ role: "measured" }, { role: "setpoint" }]);
  expect(swerve?.["fastest"]).toBe(5);
  expect(found?.lost).toEqual([
    "units of the right axis",
    "alerts: /Alerts",
    "swerve states on the field: /Modules",
    'the time range "auto" of statistics',
    "a tab that shows video: Video",
    "a tab that shows mechanisms, points and metadata: Points",
  ]);
});

test("a layout of 2023 or 2024 has other numbers and places", () => {
  const found = importAdvantageScope(
    file(
      [
        {
          type: 1,
          legendHeight: 0.3,
          legends: {
            left: {
              lockedRange: null,
              unitConversion: { type: null, factor: 1 },
              fields: [{ key: "/Power/BatteryVoltage", color: "#af2437", show: true }],
            },
            discrete: { fields: [{ key: "DS:enabled", color: "#e5b31b", show: false }] },
            right: { lockedRange: null, unitConversion: { type: null, factor: 1 }, fields: [] },
          },
        },
        { type: 2, fields: ["/Power/BatteryVoltage"] },
        {
          type: 5,
          title: "Odometry",
          fields: [],
          listFields: [
            [{ type: "Robot", key: "/RealOutputs/Odometry/Robot", sourceTypeIndex: 1, sourceType: "Pose2d" }],
          ],
        },
        { type: 9, fields: [{ key: "/Modules" }, null, null], listFields: [] },
      ],
      { version: "3.2.1", satellites: [{}] },
    ),
    resolve,
  );
  const all = configs(found);
  expect(all.map(([title, kind]) => [title, kind])).toEqual([
    ["Line Graph", "graph"],
    ["Table", "table"],
    ["Odometry", "field"],
    ["Swerve", "swerve"],
  ]);
  expect(all[0]?.[2]["series"]).toMatchObject([
    { ref: { name: "/Power/BatteryVoltage" }, side: "left", color: "#af2437", shown: true },
    { ref: { name: "DS:enabled" }, side: "auto", shown: false },
  ]);
  expect(all[2]?.[2]["sources"]).toMatchObject([{ ref: { name: "/RealOutputs/Odometry/Robot" }, role: "robot" }]);
  expect(found?.lost).toEqual(["pop-out windows"]);
});

test("what is no layout of AdvantageScope is none", () => {
  expect(isAdvantageScope({ tabs: [] })).toBe(false);
  expect(isAdvantageScope(null)).toBe(false);
  expect(isAdvantageScope(file([]))).toBe(true);
  for (const data of [null, 5, [], {}, { hubs: [] }, { layout: [] }, { hubs: [null, 3, { state: { tabs: [1] } }] }]) {
    expect(importAdvantageScope(data, resolve)).toBeNull();
  }
  // Nonsense within it is left out.
  const odd = importAdvantageScope(
    file([tab(1, "x", { leftSources: [null, 1, { logKey: 5 }] }), tab(4, "", 5)]),
    resolve,
  );
  expect(configs(odd).map(([, kind]) => kind)).toEqual(["graph", "table"]);
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Channel, Channels, LogInfo, Preset, Session } from "../../src/api";
import type { SeriesRef } from "../../src/model/series";
import { presetTabs } from "../../src/shell/presets";
import { isSplit, type Node, type Tab } from "../../src/model/panes";
import type { ViewDefinition } from "../../src/model/view";

const answer = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/api/${name}.json`, import.meta.url), "utf8")) as T;

/** A view that takes everything and remembers it. */
const registry = (kind: string): ViewDefinition =>
  ({
    kind,
    empty: () => [],
    add: (config: SeriesRef[], refs: SeriesRef[]) => config.push(...refs) > 0,
  }) as unknown as ViewDefinition;

/** What a tab shows: `graph(name, name)`, splits in brackets. */
const outline = (node: Node): string =>
  isSplit(node)
    ? `${node.direction}[${node.children.map(outline).join(" ")}]`
    : `${node.kind}(${(node.config as SeriesRef[]).map((ref) => ref.name.split("/").at(-1) + ref.path).join(", ")})`;

const tabsOf = (logs: LogInfo[], channels: Channel[][], wanted?: Preset, known = registry): Tab[] => {
  let next = 0;
  return presetTabs(
    {
      logs,
      channels,
      refOf: (log, channel, path = "") => ({ log, name: channel.name, path }),
      registry: known,
      id: () => `n${next++}`,
    },
    wanted,
  );
};

const check = (name: string, wanted?: Preset): Record<string, string> => {
  const { logs } = answer<Session>(`${name}-session`);
  const { channels } = answer<Channels>(`${name}-channels`);
  return Object.fromEntries(tabsOf(logs, [channels], wanted).map((tab) => [tab.title, outline(tab.root)]));
};

describe("presets", () => {
  test("of a match", () =>
    expect(check("frc")).toEqual({
      Match:
        "column[row[graph(BatteryVoltage, TotalCurrent, DS:enabled, BrownedOut) field(Pose)]" +
        " row[graph(ChassisSpeeds.vx, ChassisSpeeds.vy, ChassisSpeeds.omega) events() console()]]",
      Drive:
        "row[column[graph(DriveVelocity, DriveVelocity, DriveVelocity, DriveVelocity)" +
        " graph(TurnPosition, TurnPosition, TurnPosition, TurnPosition)]" +
        " column[swerve(ModuleStates) joysticks(axes)]]",
    }));

  test("of a station's log", () => {
    const found = check("ds");
    expect(found["Station"]).toBe(
      "row[column[graph(battery, enabled, brownout) graph(trip_time, packet_loss)" +
        " graph(total_current, cpu, utilization)] column[events() console()]]",
    );
    expect(found["Currents"]).toMatch(/^row\[graph\(0, 1, 2, .*, 9, 10, 11\) statistics\(0, .*, 23\)\]$/);
    // There are descriptors only.
    expect(found["Joysticks"]).toBeUndefined();
  });

  test("of traffic", () =>
    expect(check("carla")).toEqual({
      Traffic: "row[carla(transform) column[graph(vehicle.steering, vehicle.throttle, vehicle.brake) events()]]",
      "3D": "scene(transform)",
    }));

  test("of a ride", () =>
    expect(check("refloat")).toEqual({
      Ride:
        "row[column[graph(pitch, balance_pitch, setpoint) graph(duty_cycle, erpm)" +
        " graph(dir_current, balance_current, batt_voltage)] column[board(pitch) events()]]",
    }));

  test("that do not fit show what there is", () => {
    const found = check("refloat", "frc");
    expect(Object.keys(found)).toContain("Match");
    expect(check("refloat", "general")["Overview"]).toMatch(/^column\[graph\(.*\) table\(.*\)\]$/);
  });

  test("of several logs have tabs for each", () => {
    const [frc] = answer<Session>("frc-session").logs;
    const [ride] = answer<Session>("refloat-session").logs;
    if (!frc || !ride) throw new Error("no logs");
    const channels = [answer<Channels>("frc-channels").channels, answer<Channels>("refloat-channels").channels];
    const tabs = tabsOf([frc, { ...ride, id: 1 }], channels);
    expect(tabs.map((tab) => tab.title.split(" · ")[0])).toEqual(["Match", "Drive", "Ride"]);
    const refs = JSON.stringify(tabs[2]?.root);
    expect(refs).toContain('"log":1');
    expect(refs).not.toContain('"log":0');
  });

  test("need neither channels nor views", () => {
    const { logs } = answer<Session>("frc-session");
    expect(tabsOf(logs, [[]]).map((tab) => outline(tab.root))).toEqual(["row[events() console()]"]);
    expect(tabsOf(logs, [[]], "frc", () => undefined as unknown as ViewDefinition)).toEqual([]);
    expect(tabsOf([], [])).toEqual([]);
  });
});

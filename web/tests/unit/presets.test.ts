import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Channel, Channels, LogInfo, Panes, Session } from "../../src/api";
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

const tabsOf = (logs: LogInfo[], channels: Channel[][], panes: Panes[], known = registry): Tab[] => {
  let next = 0;
  return presetTabs({
    logs,
    several: logs.length > 1,
    channels,
    panes: new Map(panes.entries()),
    refOf: (log, channel, path = "") => ({ log, name: channel.name, path }),
    registry: known,
    id: () => `n${next++}`,
  });
};

const check = (name: string): Record<string, string> => {
  const { logs } = answer<Session>(`${name}-session`);
  const { channels } = answer<Channels>(`${name}-channels`);
  const tabs = tabsOf(logs, [channels], [answer<Panes>(`${name}-panes`)]);
  return Object.fromEntries(tabs.map((tab) => [tab.title, outline(tab.root)]));
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
        " graph(cpu, utilization, total_current)] column[events() console()]]",
    );
    expect(found["Currents"]).toMatch(/^column\[graph\(0, 1, 7, 8, .*\) statistics\(0, .*, 23\)\]$/);
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

  test("of several logs have tabs for each", () => {
    const [frc] = answer<Session>("frc-session").logs;
    const [ride] = answer<Session>("refloat-session").logs;
    if (!frc || !ride) throw new Error("no logs");
    const channels = [answer<Channels>("frc-channels").channels, answer<Channels>("refloat-channels").channels];
    const ride2 = answer<Panes>("refloat-panes");
    const second = {
      ...ride2,
      panes: ride2.panes.map((pane) => ({ ...pane, series: pane.series.map((one) => ({ ...one, log: 1 })) })),
    };
    const tabs = tabsOf([frc, { ...ride, id: 1 }], channels, [answer<Panes>("frc-panes"), second]);
    expect(tabs.map((tab) => tab.title.split(" · ")[0])).toEqual(["Match", "Drive", "Ride"]);
    const refs = JSON.stringify(tabs[2]?.root);
    expect(refs).toContain('"log":1');
    expect(refs).not.toContain('"log":0');
  });

  test("leave out what the server left out, and need neither channels nor views", () => {
    const { logs } = answer<Session>("frc-session");
    const panes = answer<Panes>("frc-panes");
    expect(tabsOf(logs, [[]], [panes]).map((tab) => outline(tab.root))).toEqual(["row[events() console()]"]);
    const quiet = { ...panes, panes: panes.panes.filter(({ name }) => name === "field") };
    const { channels } = answer<Channels>("frc-channels");
    expect(tabsOf(logs, [channels], [quiet]).map((tab) => outline(tab.root))).toEqual(["field(Pose)"]);
    expect(tabsOf(logs, [[]], [panes], () => undefined as unknown as ViewDefinition)).toEqual([]);
    expect(tabsOf(logs, [[]], [])).toEqual([]);
    expect(tabsOf([], [], [])).toEqual([]);
  });

  test("have titles that say what is shown", () => {
    const titles = (name: string) => answer<Panes>(name).panes.map((pane) => pane.title);
    expect(titles("frc-panes")).toContain("Battery voltage and total current");
    expect(titles("ds-panes")).toContain("Trip time and packet loss");
  });
});

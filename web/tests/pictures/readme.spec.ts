/** The pictures in the README: the demo logs, each at its most telling moment. */

import type { Page } from "@playwright/test";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import UPNG from "upng-js";
import { encodeState } from "../../src/model/hash";
import { expect, test } from "../e2e/base";

const FOLDER = resolve("../docs/pictures");

interface View {
  kind: string;
  title?: string;
  config: unknown;
}
interface Split {
  direction: "row" | "column";
  sizes: number[];
  children: (View | Split)[];
}
/** What share of the space goes to which view. */
type Part = [number, View | Split];

const row = (...parts: Part[]): Split => split("row", parts);
const column = (...parts: Part[]): Split => split("column", parts);
const split = (direction: "row" | "column", parts: Part[]): Split => ({
  direction,
  sizes: parts.map(([size]) => size),
  children: parts.map(([, part]) => part),
});

const ref = (name: string, path = "") => ({ log: 0, name, path });
const graph = (title: string, style: string, ...refs: ReturnType<typeof ref>[]): View => ({
  kind: "graph",
  title,
  config: { series: refs.map((one, color) => ({ ref: one, color, style, width: 1.5 })) },
});

/** The address of a layout at some time. */
const address = (title: string, root: Split, clock: unknown, sidebar: unknown): string =>
  `#${encodeState({ version: 1, layout: { version: 1, tabs: [{ title, root }] }, clock, sidebar })}`;

/** What the page looks like when nothing moves any more. */
async function steady(page: Page): Promise<Buffer> {
  let before: Buffer = Buffer.alloc(0);
  let now = await page.screenshot();
  while (!now.equals(before)) {
    await page.waitForTimeout(500);
    [before, now] = [now, await page.screenshot()];
  }
  return now;
}

/** Writes a picture of the page with 256 colours, which is a third of the size and looks the same. */
async function take(page: Page, name: string): Promise<void> {
  await expect(page.getByTestId("scene-canvas")).toHaveAttribute("data-drawn", "true");
  await page.waitForLoadState("networkidle");
  const picture = UPNG.decode(Uint8Array.from(await steady(page)).buffer);
  const small = UPNG.encode(UPNG.toRGBA8(picture), picture.width, picture.height, 256);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(join(FOLDER, `${name}.png`), new Uint8Array(small));
}

test("an FRC match", async ({ page, open }) => {
  const power = ["/Power/BatteryVoltage", "/Power/TotalCurrent", "DS:enabled", "/Power/BrownedOut"];
  const robot = { ref: ref("NT:/Drive/Pose"), shape: "robot" };
  const field: View = {
    kind: "scene",
    title: "Robot in 3D",
    config: { sources: [robot], trail: 8, look: { from: [5.1, -0.4, 3.1], to: [9.2, 4.3, 0.2] } },
  };
  const speeds = [".vx", ".vy", ".omega"].map((path) => ref("NT:/Drive/ChassisSpeeds", path));
  const states = { ref: ref("NT:/Drive/ModuleStates"), role: "measured" };
  const swerve: View = { kind: "swerve", config: { sources: [states], numbers: false } };
  const events: View = { kind: "events", config: {} };
  const layout = column(
    [0.58, row([0.52, graph("Power", "stepped", ...power.map((name) => ref(name)))], [0.48, field])],
    [0.42, row([0.36, graph("Chassis speeds", "stepped", ...speeds)], [0.26, swerve], [0.38, events])],
  );
  // The brownout.
  const clock = { start: 38, end: 50, cursor: 44.2 };
  await open(["frc"], address("Match", layout, clock, { shown: true, width: 250 }));
  await take(page, "frc-match");
});

test("traffic in CARLA", async ({ page, open }) => {
  const hero = "/carla/actors/10";
  const junction: View = {
    kind: "scene",
    title: "Junction in 3D",
    config: { look: { from: [-33, -15, 12], to: [-9, -1, 0] } },
  };
  const above: View = {
    kind: "carla",
    config: { follow: 10, list: false, trail: 10, camera: { x: -10, y: 0, scale: 9 } },
  };
  const controls = [".throttle", ".brake"].map((path) => ref(`${hero}/vehicle`, path));
  const layout = column(
    [0.62, row([0.5, junction], [0.5, above])],
    [
      0.38,
      row(
        [0.5, graph("Controls of hero", "smooth", ...controls)],
        [0.5, graph("Velocity of hero", "smooth", ref(`${hero}/velocity`, ".vx"))],
      ),
    ],
  );
  // The collision.
  await open(["carla"], address("Traffic", layout, { cursor: 10.25 }, { shown: false }));
  await take(page, "carla-traffic");
});

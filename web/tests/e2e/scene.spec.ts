/** Poses and actors in 3D. */

import type { Page } from "@playwright/test";
import { alone, exportedPng, expect, fileOf, logpose, logposeJson, loud, test } from "./base";

const hash = (config: unknown, cursor: number) => alone("scene", config, { cursor });

interface Pose {
  translation: { x: number; y: number };
  rotation: { value: number };
}

const drawn = (page: Page) => expect(page.getByTestId("scene-canvas")).toHaveAttribute("data-drawn", "true");

test("a robot on its field is where the log has it", async ({ page, open, picture }) => {
  const robot = { sources: [{ ref: { log: 0, name: "NT:/Drive/Pose", path: "" }, shape: "robot" }] };
  await open(["frc"], hash(robot, 14));
  await drawn(page);
  const lines = logpose("cat", fileOf("frc"), "-y", "NT:/Drive/Pose", "-E", "14", "--json").trim().split("\n");
  const { translation, rotation } = (JSON.parse(lines.at(-1) ?? "null") as { value: Pose }).value;
  const angle = ((rotation.value * 180) / Math.PI).toFixed(1);
  await expect(page.getByTestId("scene-pose")).toHaveText(
    `(${translation.x.toFixed(2)}, ${translation.y.toFixed(2)}) m, ${angle}°`,
  );
  await picture("scene-robot");
  const before = await exportedPng(page);
  expect(before.width).toBeGreaterThan(1000);
  expect(before.bytes.length).toBeGreaterThan(10_000);
  // Another side is another picture, and so is another time.
  await page.getByRole("button", { name: "Top" }).click();
  const top = await exportedPng(page);
  expect(top.bytes.equals(before.bytes)).toBe(false);
  await page.getByTestId("scene-canvas").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await expect(page.getByTestId("scene-pose")).not.toHaveText(
    `(${translation.x.toFixed(2)}, ${translation.y.toFixed(2)}) m, ${angle}°`,
  );
  expect((await exportedPng(page)).bytes.equals(top.bytes)).toBe(false);
});

test("a scene without anything offers the robot of the log", async ({ page, open }) => {
  await open(["frc"], hash({}, 14));
  await expect(page.getByTestId("empty")).toContainText("Drop poses");
  await page.getByTestId("scene-auto").click();
  await drawn(page);
  await expect(page.getByTestId("scene-pose").first()).toContainText(" m, ");
});

test("actors of a recording in 3D, one of them followed", async ({ page, open, picture }) => {
  await open(["carla"], hash({}, 10.4));
  await drawn(page);
  await expect(page.getByTestId("scene")).toContainText("Junction");
  await picture("scene-carla");
  await page.getByTestId("scene-follow").selectOption({ label: "10 tesla model3 (hero)" });
  await page.getByRole("button", { name: "Corner" }).click();
  const state = logposeJson("carla", "state", fileOf("carla"), "--time", "10.4", "--actor", "10") as {
    actors: { pose: { x: number; y: number; z: number } }[];
  };
  const { x, y, z } = state.actors[0]?.pose ?? { x: 0, y: 0, z: 0 };
  await expect(page.getByTestId("carla-place")).toHaveText(`${x.toFixed(2)}, ${y.toFixed(2)}, ${z.toFixed(2)} m`);
  await picture("scene-follow");
  expect((await exportedPng(page)).bytes.length).toBeGreaterThan(10_000);
  await page.getByTestId("scene-canvas").focus();
  await page.keyboard.press("Escape");
  await expect(page.getByTestId("carla-place")).toHaveCount(0);
});

test("the camera is in the address", async ({ page, open }) => {
  const look = { from: [0, -30, 20], to: [0, 0, 0] };
  await open(["carla"], hash({ look, follow: null }, 10.4));
  await drawn(page);
  const same = await exportedPng(page);
  await page.reload();
  await drawn(page);
  expect((await exportedPng(page)).bytes.equals(same.bytes)).toBe(true);
});

loud("without WebGL the page says so, and everything else works", async ({ page, open }) => {
  await page.addInitScript(() => {
    const { prototype } = HTMLCanvasElement;
    const getContext = Object.getOwnPropertyDescriptor(prototype, "getContext")?.value as typeof prototype.getContext;
    prototype.getContext = function (this: HTMLCanvasElement, kind: string, more?: unknown) {
      return kind.startsWith("webgl") ? null : getContext.call(this, kind as "2d", more);
    } as typeof prototype.getContext;
  });
  await open(["carla"], hash({}, 5));
  await expect(page.getByTestId("pane")).toContainText("No 3D here");
  await expect(page.getByTestId("pane")).toContainText("has no WebGL");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(page.getByTestId("time")).toContainText("6.0");
});

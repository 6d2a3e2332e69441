/** Layouts: remembered for logs of one kind, named, given at the start, and those of AdvantageScope. */

import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ended, expect, fileOf, LOGS, loud, ready, test, viewer } from "./base";

loud("a layout is remembered for the next log of its kind, and only for that", async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), "logpose-layouts-"));
  const file = join(folder, "layouts.json");
  try {
    let server = await viewer([fileOf("frc")], file);
    await page.goto(server.url);
    await ready(page);
    await page.keyboard.press("t");
    await page.keyboard.press("Shift+F2");
    await page.keyboard.type("Mine");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await readFile(file, "utf8").catch(() => "")).includes("Mine")).toBe(true);
    await ended(server.process);
    // Another viewer, another port, another log of the same kind.
    server = await viewer([fileOf("damaged")], file);
    await page.goto(server.url);
    await ready(page);
    await expect(page.getByRole("tab", { name: "Mine" })).toBeVisible();
    await expect(page.getByTestId("toast")).toContainText("your layout");
    await page.getByTestId("toast").getByRole("button", { name: "Use suggested" }).click();
    await expect(page.getByRole("tab", { name: "Mine" })).toBeHidden();
    await expect.poll(async () => (await readFile(file, "utf8")).includes("Mine")).toBe(false);
    await ended(server.process);
    server = await viewer([fileOf("refloat")], file);
    await page.goto(server.url);
    await ready(page);
    await expect(page.getByRole("tab", { name: "Ride" })).toBeVisible();
    await ended(server.process);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

loud("a layout gets a name, is shown again and deleted", async ({ page }) => {
  const folder = mkdtempSync(join(tmpdir(), "logpose-layouts-"));
  const server = await viewer([fileOf("frc")], join(folder, "layouts.json"));
  try {
    await page.goto(server.url);
    await ready(page);
    await page.keyboard.press("Shift+L");
    const list = page.getByTestId("layouts");
    await list.getByRole("textbox").fill("Pit");
    await list.getByRole("button", { name: "Save this layout" }).click();
    await expect(list.getByTestId("named-layout")).toHaveText("Pit");
    await page.keyboard.press("Escape");
    await expect(list).toHaveCount(0);
    await page.keyboard.press("Shift+X");
    await expect(page.getByRole("tab", { name: "Match" })).toBeHidden();
    await page.keyboard.press("Shift+L");
    await list.getByRole("button", { name: "Pit", exact: true }).click();
    await expect(page.getByRole("tab", { name: "Match" })).toBeVisible();
    await page.keyboard.press("Shift+L");
    await list.getByRole("button", { name: "Delete Pit" }).click();
    await expect(list.getByTestId("named-layout")).toHaveCount(0);
  } finally {
    await ended(server.process);
    rmSync(folder, { recursive: true, force: true });
  }
});

test("--layout begins with a layout of AdvantageScope and says what was not imported", async ({
  page,
  open,
  picture,
}) => {
  const source = (type: string, logKey: string) => ({ type, logKey, logType: "Number", visible: true, options: {} });
  const tab = (type: number, title: string, controller: unknown) => ({ type, title, controller, controllerUUID: "u" });
  const tabs = [
    tab(1, "Volts", {
      leftSources: [source("stepped", "/Power/BatteryVoltage")],
      rightSources: [source("stepped", "NT:/Drive/Pose/translation/x")],
      discreteSources: [source("stripes", "DS:enabled")],
    }),
    tab(2, "Driving", { sources: [source("robot", "NT:/Drive/Pose")], field: "2026 Field" }),
    tab(7, "Our video", null),
  ];
  const path = join(LOGS, "AdvantageScope.json");
  const hubs = [{ state: { sidebar: {}, tabs: { selected: 0, tabs } } }];
  await writeFile(path, JSON.stringify({ version: "26.0.2", hubs, satellites: [] }));
  await open([{ args: [fileOf("frc"), "--layout", path] }]);
  const imported = page.getByTestId("imported");
  await expect(imported).toContainText("AdvantageScope 26.0.2");
  await expect(imported).toContainText("2 tabs imported");
  await expect(imported).toContainText("a tab that shows video: Our video");
  await picture("layouts-imported");
  await imported.getByRole("button", { name: "Close" }).click();
  const values = page.getByTestId("legend-row");
  await expect(values).toHaveCount(3);
  await expect(values.nth(0).getByTestId("value")).toContainText("V");
  await expect(values.nth(1).getByTestId("value")).toContainText("m");
  await page.getByRole("tab", { name: "Driving" }).click();
  await expect(page.getByText("Drive/Pose").first()).toBeVisible();
});

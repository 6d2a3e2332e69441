import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { expect, fileOf, logpose, test } from "./base";

const VOLTAGE = "/Power/BatteryVoltage";

/** A new tab with an empty line graph. */
async function emptyGraph(page: Page): Promise<Locator> {
  await page.getByTestId("new-tab").click();
  await page.getByTestId("chooser").locator("[data-kind=graph]").click();
  const plot = page.getByTestId("plot");
  await expect(page.getByTestId("empty")).toBeVisible();
  return plot;
}

/** Drags a channel from the sidebar onto the graph. */
async function drag(page: Page, name: string): Promise<void> {
  const rows = page.getByTestId("legend-row");
  const before = await rows.count();
  await page.getByTestId("search").fill(name);
  await page.locator(`[data-testid=row][data-name="${name}"]`).first().dragTo(page.getByTestId("plot"));
  await expect.poll(() => rows.count()).toBeGreaterThan(before);
  await page.getByTestId("search").fill("");
}

const row = (page: Page, name: string): Locator => page.locator(`[data-testid=legend-row][data-series="0:${name}"]`);

/** What the log holds at a moment, according to the command line. */
function held(name: string, time: number): string {
  const text = logpose("cat", fileOf("frc"), "-y", name, "-E", String(time), "--format", "csv");
  return text.trim().split(/\r?\n/).at(-1)?.split(",").at(-1) ?? "";
}

/** The moment of the cursor, to the last digit: what the page asked values for. */
function cursorOf(page: Page): () => number {
  let time = NaN;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/values")) time = (JSON.parse(request.postData() ?? "{}") as { time: number }).time;
  });
  return () => time;
}

test("a dragged channel shows the value that the log has at the cursor", async ({ page, open, picture }) => {
  const cursor = cursorOf(page);
  await open(["frc"]);
  const plot = await emptyGraph(page);
  await drag(page, VOLTAGE);
  await drag(page, "/Power/TotalCurrent");
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  for (const part of [0.3, 0.62, 0.85]) {
    await page.mouse.click(box.x + box.width * part, box.y + box.height * 0.5);
    const value = row(page, VOLTAGE).getByTestId("value");
    await expect.poll(async () => (await value.getAttribute("data-value")) === held(VOLTAGE, cursor())).toBe(true);
    await expect(value).toContainText("V");
  }
  await picture("graph-two-axes");
});

test("the wheel zooms, a drag pans, a double click shows all", async ({ page, open }) => {
  await open(["frc"]);
  const plot = await emptyGraph(page);
  await drag(page, VOLTAGE);
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const asked: { start: number; end: number }[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/api/pixels")) asked.push(JSON.parse(request.postData() ?? "{}") as (typeof asked)[0]);
  });
  const whole = await plot.screenshot();
  await page.mouse.move(x, y);
  for (let turn = 0; turn < 12; turn++) await page.mouse.wheel(0, -240);
  await expect.poll(() => Math.min(...asked.map(({ start, end }) => end - start))).toBeLessThan(8);
  const near = await plot.screenshot();
  expect(near.equals(whole)).toBe(false);
  await page.mouse.down();
  await page.mouse.move(x - 300, y, { steps: 8 });
  await page.mouse.up();
  await page.mouse.move(x, y);
  await expect.poll(async () => (await plot.screenshot()).equals(near)).toBe(false);
  const before = await plot.screenshot();
  await page.mouse.dblclick(x, y);
  await expect.poll(async () => (await plot.screenshot()).equals(before)).toBe(false);
});

test("states are rows of colour with the state at the cursor", async ({ page, open, picture }) => {
  const cursor = cursorOf(page);
  await open(["frc"]);
  const plot = await emptyGraph(page);
  await drag(page, VOLTAGE);
  await drag(page, "/Shooter/State");
  await drag(page, "DS:enabled");
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  await page.mouse.click(box.x + box.width * 0.6, box.y + box.height * 0.4);
  // Where it was before, the robot is enabled too.
  await expect.poll(cursor).toBeGreaterThan(30);
  await expect(row(page, "DS:enabled").getByTestId("value")).toHaveText("true");
  await expect
    .poll(async () => row(page, "/Shooter/State").getByTestId("value").innerText())
    .toBe(held("/Shooter/State", cursor()));
  await picture("graph-states");
});

test("a mark gives differences", async ({ page, open, picture }) => {
  await open(["frc"]);
  const plot = await emptyGraph(page);
  await drag(page, VOLTAGE);
  const box = await plot.boundingBox();
  if (!box) throw new Error("no plot");
  const y = box.y + box.height * 0.5;
  await page.keyboard.down("Alt");
  await page.mouse.click(box.x + box.width * 0.3, y);
  await page.keyboard.up("Alt");
  await page.mouse.click(box.x + box.width * 0.7, y);
  const number = async (id: string) =>
    Number(/-?[\d.]+/.exec(await row(page, VOLTAGE).getByTestId(id).innerText())?.[0]);
  await expect
    .poll(async () => Math.abs((await number("value")) - (await number("mark-value")) - (await number("delta"))))
    .toBeLessThan(1e-4);
  await page.getByRole("button", { name: "Statistics" }).click();
  await expect.poll(() => number("min")).toBeLessThan(7);
  await picture("graph-differences");
});

test("series have styles, filters and sides", async ({ page, open, picture }) => {
  await open(["frc"]);
  await emptyGraph(page);
  await drag(page, VOLTAGE);
  await row(page, VOLTAGE)
    .getByRole("button", { name: /^Settings/ })
    .click();
  const panel = page.getByRole("dialog");
  await panel.getByRole("radio", { name: "Lines" }).click();
  await panel.getByRole("combobox", { name: "Filter" }).selectOption("derivative");
  await panel.getByRole("radio", { name: "Right" }).click();
  await picture("graph-settings");
  await page.keyboard.press("Escape");
  await expect(row(page, VOLTAGE).getByTestId("value")).toContainText("V/s");
  await expect(row(page, VOLTAGE)).toContainText("derivative");
  await row(page, VOLTAGE).getByRole("button", { name: /^Hide/ }).click();
  await expect(row(page, VOLTAGE).getByRole("button", { name: /^Show/ })).toBeVisible();
  await row(page, VOLTAGE)
    .getByRole("button", { name: /^Remove/ })
    .click();
  await expect(page.getByTestId("empty")).toBeVisible();
});

test("pictures and data leave the page", async ({ page, open }) => {
  await open(["frc"]);
  await emptyGraph(page);
  await drag(page, VOLTAGE);
  await drag(page, "/Shooter/State");
  const save = async (label: string): Promise<Buffer> => {
    await page.getByTestId("pane-menu").first().click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByTestId("menu").getByText(label, { exact: true }).click(),
    ]);
    return readFileSync(await file.path());
  };
  const png = await save("Picture (PNG)");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const svg = (await save("Picture (SVG)")).toString();
  expect(svg).toContain("<svg");
  expect(svg).toContain("BatteryVoltage");
  expect(svg).toContain("SHOOTING");
  expect(svg).toMatch(/<path d="M[\d. ]+L/);
  const csv = (await save("Samples (CSV)")).toString();
  expect(csv.split("\n").filter((line) => line.includes(VOLTAGE)).length).toBe(3500);
  const mcap = await save("Channels (MCAP)");
  expect(mcap.subarray(1, 5).toString()).toBe("MCAP");
});

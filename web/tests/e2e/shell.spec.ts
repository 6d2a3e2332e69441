/** The window around the views: channels, panes, tabs, time, and all of it in the address. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { answer, BINARY, expect, fileOf, frames, freePort, ready, test } from "./base";

const panes = (page: Page): Locator => page.getByTestId("pane");
const kinds = (page: Page): Promise<(string | null)[]> =>
  panes(page).evaluateAll((all) => all.map((pane) => pane.getAttribute("data-kind")));
const row = (page: Page, name: string): Locator => page.locator(`[data-testid=row][data-name="${name}"]`);

/** Goes to a moment with the keyboard. */
async function goTo(page: Page, time: string): Promise<void> {
  await page.keyboard.press("g");
  await page.keyboard.type(time);
  await page.keyboard.press("Enter");
}

/** Until the address holds what is shown. */
async function written(page: Page): Promise<string> {
  let before = "";
  await expect
    .poll(
      async () => {
        const now = await page.evaluate(() => location.hash);
        const same = now === before && now.length > 10;
        before = now;
        return same;
      },
      { intervals: [800] },
    )
    .toBe(true);
  return before;
}

test("a channel is found, and its value at the cursor is the log's", async ({ page, open, picture }) => {
  await open(["frc"]);
  await picture("shell-frc");
  await page.keyboard.press("/");
  await page.keyboard.type("batvol");
  const found = page.getByTestId("row").first();
  await expect(found).toHaveAttribute("data-name", "/Power/BatteryVoltage");
  await expect(found.locator("mark").first()).toHaveText("Bat");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await goTo(page, "43.84");
  await expect(page.getByTestId("time")).toHaveText("43.840");
  await expect(row(page, "/Power/BatteryVoltage")).toContainText("6.14");
});

test("struct fields open, and schemas are folded away", async ({ page, open }) => {
  await open(["frc"]);
  const group = page.getByRole("treeitem", { name: /^NT 1/ });
  if ((await group.getAttribute("aria-expanded")) === "false") await group.click();
  await expect(page.getByRole("treeitem", { name: /struct:Pose2d/ })).toHaveCount(0);
  await page.getByRole("treeitem", { name: /^Drive 3/ }).click();
  await row(page, "NT:/Drive/Pose").click();
  await page.keyboard.press("ArrowRight");
  await expect(row(page, "NT:/Drive/Pose.translation")).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(row(page, "NT:/Drive/Pose.translation.x")).toBeVisible();
});

test("channels are dragged into views, onto empty panes and beside views", async ({ page, open }) => {
  await open(["frc"]);
  await page.getByTestId("new-tab").click();
  await row(page, "/Power/BatteryVoltage").dragTo(panes(page).first());
  await expect.poll(() => kinds(page)).toEqual(["graph"]);
  await expect(panes(page).first()).toContainText("BatteryVoltage");
  await row(page, "/Power/TotalCurrent").dragTo(panes(page).first());
  await expect(panes(page).first()).toContainText("TotalCurrent");
  const box = await panes(page).first().boundingBox();
  if (!box) throw new Error("no pane");
  await row(page, "/Shooter/RPM").dragTo(panes(page).first(), {
    targetPosition: { x: box.width - 12, y: box.height / 2 },
  });
  await expect.poll(() => kinds(page)).toEqual(["graph", "graph"]);
  await expect(panes(page).nth(1)).toContainText("RPM");
});

test("everything works without a pointer", async ({ page, open, picture }) => {
  await open(["frc"]);
  await page.keyboard.press("t");
  await expect(page.getByTestId("chooser")).toBeVisible();
  // Search, and add what was found.
  await page.keyboard.press("/");
  await page.keyboard.type("battery");
  await page.keyboard.press("Enter");
  await expect(panes(page).first()).toContainText("BatteryVoltage");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  // The tree.
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await expect(page.locator("[role=treeitem][aria-selected=true]")).toHaveCount(2);
  await page.keyboard.press("Shift+F10");
  await expect(page.getByTestId("menu")).toBeVisible();
  await page.keyboard.press("Escape");
  // Panes.
  await page.keyboard.press("v");
  await page.keyboard.press("h");
  await expect(panes(page)).toHaveCount(3);
  await page.keyboard.press("n");
  await page.keyboard.press("f");
  await expect(panes(page)).toHaveCount(1);
  await page.keyboard.press("f");
  await page.keyboard.press("Shift+N");
  await page.keyboard.press("x");
  await expect(panes(page)).toHaveCount(2);
  // An empty pane is chosen for.
  await page.getByTestId("chooser").getByRole("button").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("chooser")).toHaveCount(0);
  // Parts of the window.
  await page.keyboard.press("F6");
  await page.keyboard.press("?");
  await expect(page.getByTestId("help")).toBeVisible();
  await picture("shell-keys");
  await page.keyboard.press("Escape");
  await expect(page.getByTestId("help")).toHaveCount(0);
});

test("tabs are added, renamed, moved, copied, closed", async ({ page, open }) => {
  await open(["frc"]);
  const titles = () => page.getByTestId("tab").allTextContents();
  const before = await titles();
  await page.keyboard.press("t");
  await page.keyboard.press("Shift+F2");
  await page.keyboard.type("Mine");
  await page.keyboard.press("Enter");
  await expect.poll(titles).toEqual([before[0], "Mine", ...before.slice(1)]);
  await page
    .getByTestId("tab")
    .nth(1)
    .dragTo(page.getByTestId("tab").first(), { targetPosition: { x: 3, y: 10 } });
  await expect.poll(async () => (await titles())[0]).toBe("Mine");
  await page.keyboard.press("Shift+D");
  await expect.poll(async () => (await titles())[1]).toBe("Mine (copy)");
  await page.keyboard.press("Shift+X");
  await page.keyboard.press("1");
  await expect(page.getByTestId("tab").first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Shift+X");
  await expect.poll(titles).toEqual(before);
});

test("every change has a way back", async ({ page, open }) => {
  await open(["frc"]);
  const first = await kinds(page);
  await page.keyboard.press("v");
  await page
    .getByTestId("chooser")
    .getByRole("button", { name: /^Table/ })
    .click();
  await expect(panes(page)).toHaveCount(first.length + 1);
  await row(page, "/Power/BatteryVoltage").dblclick();
  for (let step = 0; step < 3; step++) await page.keyboard.press("Control+z");
  await expect.poll(() => kinds(page)).toEqual(first);
  for (let step = 0; step < 3; step++) await page.keyboard.press("Control+Shift+z");
  await expect(panes(page)).toHaveCount(first.length + 1);
  await expect.poll(() => kinds(page)).toContain("table");
});

test("time plays, steps, loops and jumps to events", async ({ page, open }) => {
  await open(["frc"]);
  const now = async () => {
    const parts = ((await page.getByTestId("time").textContent()) ?? "").split(":").map(Number);
    return parts.reduce((sum, part) => sum * 60 + part, 0);
  };
  await goTo(page, "10");
  await expect.poll(now).toBe(10);
  await page.keyboard.press("ArrowRight");
  await expect.poll(now).toBe(10.02);
  await page.keyboard.press("Shift+ArrowLeft");
  await expect.poll(now).toBe(9.02);
  await page.keyboard.press("Alt+ArrowRight");
  await expect.poll(now).toBe(15.2);
  await page.getByTestId("speed").selectOption("4");
  await page.keyboard.press("Space");
  await expect.poll(now).toBeGreaterThan(17);
  await page.keyboard.press("Space");
  const stopped = await now();
  await frames(page, 20);
  expect(await now()).toBe(stopped);
  // A selection that repeats.
  await goTo(page, "20");
  await page.keyboard.press("[");
  await goTo(page, "21");
  await page.keyboard.press("]");
  await expect(page.getByTestId("selection")).toContainText("1 s");
  await page.getByTestId("loop").click();
  await page.keyboard.press("Space");
  for (let look = 0; look < 8; look++) {
    await frames(page, 6);
    expect(await now()).toBeGreaterThanOrEqual(20);
    expect(await now()).toBeLessThanOrEqual(21);
  }
  await page.keyboard.press("Space");
  await page.keyboard.press("Escape");
  await expect(page.getByTestId("selection")).toHaveCount(0);
});

test("the strip below moves the cursor and the visible range", async ({ page, open }) => {
  await open(["frc"]);
  const strip = await page.getByTestId("overview").boundingBox();
  if (!strip) throw new Error("no strip");
  await page.mouse.click(strip.x + strip.width / 2, strip.y + 8);
  await expect(page.getByTestId("time")).toHaveText(/^3[56]\./);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  const stretch = page.getByTestId("window");
  const before = await stretch.getAttribute("aria-valuetext");
  const box = await stretch.boundingBox();
  if (!box) throw new Error("no window");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  await expect(stretch).not.toHaveAttribute("aria-valuetext", before ?? "");
  await page.getByTestId("show-all").click();
  await expect(stretch).toHaveAttribute("aria-valuetext", /^1\.200 s to 1:11\.180 s/);
});

test("an address opens what was shown", async ({ page, open }) => {
  await open(["frc"]);
  await page.keyboard.press("t");
  await row(page, "/Power/BatteryVoltage").dblclick();
  await page.keyboard.press("v");
  await page
    .getByTestId("chooser")
    .getByRole("button", { name: /^Statistics/ })
    .click();
  await page.keyboard.press("Shift+F2");
  await page.keyboard.type("Volts");
  await page.keyboard.press("Enter");
  await goTo(page, "30");
  await page.keyboard.press("+");
  await page.keyboard.press("m");
  await page.keyboard.press("[");
  await page.keyboard.press("b");
  await written(page);
  const look = async () => ({
    kinds: await kinds(page),
    tabs: await page.getByTestId("tab").allTextContents(),
    current: await page.locator("[role=tab][aria-selected=true]").textContent(),
    time: await page.getByTestId("time").textContent(),
    window: await page.getByTestId("window").getAttribute("aria-valuetext"),
    selection: await page.getByTestId("selection").textContent(),
    sidebar: await page.getByTestId("sidebar").count(),
  });
  const before = await look();
  await page.reload();
  await ready(page);
  expect(await look()).toEqual(before);
  expect(before.sidebar).toBe(0);
});

test("an address that is nonsense shows the preset and says so", async ({ page, open }) => {
  await open(["frc"], "#nonsense");
  await expect(page.getByTestId("toast")).toContainText("The link contains no readable layout");
  expect((await kinds(page)).length).toBeGreaterThan(1);
  await page.evaluate(() => (location.hash = "%00<script>alert(1)</script>"));
  await expect(panes(page).first()).toBeVisible();
});

test("the palette does, adds and jumps", async ({ page, open, picture }) => {
  await open(["frc"]);
  await page.keyboard.press("t");
  await page.keyboard.press("Control+p");
  await page.getByTestId("palette").fill("batteryv");
  await picture("shell-palette");
  await page.keyboard.press("Enter");
  await expect(panes(page).first()).toContainText("BatteryVoltage");
  await page.keyboard.press("Control+k");
  await page.getByTestId("palette").fill("split down");
  await page.keyboard.press("Enter");
  await expect(panes(page)).toHaveCount(2);
  await page.keyboard.press("Control+p");
  await page.getByTestId("palette").fill("go to brownout");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("time")).toHaveText(/^43\.8/);
  await page.keyboard.press("Control+p");
  await page.getByTestId("palette").fill("theme light");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await page.reload();
  await ready(page);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await picture("shell-light");
});

test("a layout is saved as a file and loaded from one", async ({ page, open }, info) => {
  // Somebody listens all the time: Playwright begins to catch choosers a moment after the first listener came.
  page.on("filechooser", () => undefined);
  await open(["frc"]);
  await page.keyboard.press("t");
  await row(page, "/Power/BatteryVoltage").dblclick();
  const tabs = await page.getByTestId("tab").count();
  const saved = page.waitForEvent("download");
  await page.keyboard.press("Control+s");
  const file = await saved;
  expect(file.suggestedFilename()).toMatch(/\.logpose\.json$/);
  const path = info.outputPath(file.suggestedFilename());
  await file.saveAs(path);
  const text = readFileSync(path, "utf8");
  expect(JSON.parse(text)).toMatchObject({ logpose: "layout", version: 1 });
  await page.keyboard.press("Shift+X");
  await expect(page.getByTestId("tab")).toHaveCount(tabs - 1);
  const load = async (from: string) => {
    const chooser = page.waitForEvent("filechooser");
    await page.keyboard.press("Control+o");
    await (await chooser).setFiles(from);
  };
  await load(path);
  await expect(page.getByTestId("tab")).toHaveCount(tabs);
  await expect(panes(page).first()).toContainText("BatteryVoltage");
  // Dropped on the window.
  const drop = async (content: string, name: string) => {
    const data = await page.evaluateHandle(
      ([content, name]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([content], name, { type: "application/json" }));
        return transfer;
      },
      [content, name] as const,
    );
    await page.dispatchEvent("body", "drop", { dataTransfer: data });
  };
  await drop('{"tabs": 7}', "odd.json");
  await expect(page.getByTestId("toast").filter({ hasText: "contains no layout" })).toBeVisible();
  await expect(page.getByTestId("tab")).toHaveCount(tabs);
  await page.keyboard.press("Shift+X");
  await drop(text, "mine.logpose.json");
  await expect(page.getByTestId("tab")).toHaveCount(tabs);
});

test("panes are resized, moved and switched to other views", async ({ page, open }) => {
  await open(["frc"]);
  await page.keyboard.press("t");
  await row(page, "/Power/BatteryVoltage").dblclick();
  await page.keyboard.press("v");
  await page
    .getByTestId("chooser")
    .getByRole("button", { name: /^Events/ })
    .click();
  const width = async () => (await panes(page).first().boundingBox())?.width ?? 0;
  const before = await width();
  const bar = await page.getByRole("separator", { name: "Size of the panes" }).boundingBox();
  if (!bar) throw new Error("no bar");
  await page.mouse.move(bar.x + 4, bar.y + 200);
  await page.mouse.down();
  await page.mouse.move(bar.x + 154, bar.y + 200, { steps: 4 });
  await page.mouse.up();
  await expect.poll(async () => Math.round((await width()) - before)).toBe(150);
  await panes(page).nth(1).locator("header .title").dragTo(panes(page).first().locator(".body"));
  await expect.poll(() => kinds(page)).toEqual(["events", "graph"]);
  await panes(page).nth(1).getByTestId("kind").click();
  await page.getByRole("menuitemradio", { name: "Table" }).click();
  await expect.poll(() => kinds(page)).toEqual(["events", "table"]);
  await expect(panes(page).nth(1)).toContainText("BatteryVoltage");
});

test("the window reports a damaged log", async ({ page, open, picture }) => {
  await open(["damaged"]);
  await page.getByTestId("problems").click();
  await expect(page.getByRole("dialog")).toContainText("problem");
  await picture("shell-problems");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("each dialect has its preset", async ({ page, open, settled, picture }) => {
  const expected = {
    akit: ["graph", "field", "graph", "events", "console"],
    ds: ["graph", "graph", "graph", "events", "console"],
    carla: ["carla", "graph", "graph", "events"],
    refloat: ["graph", "graph", "graph", "board", "events"],
  } as const;
  for (const [log, shown] of Object.entries(expected)) {
    await page.goto("about:blank");
    await open([log as keyof typeof expected]);
    await expect.poll(() => kinds(page)).toEqual(shown);
    await page.keyboard.press("Alt+ArrowRight");
    await settled();
    await picture(`shell-${log}`);
  }
});

test("live data is followed, left and followed again", async ({ page, open, picture }) => {
  const port = await freePort();
  const robot = spawn(BINARY, ["play", fileOf("rlog"), "--to", `rlog://127.0.0.1:${port}`, "--loop"], {
    stdio: "ignore",
  });
  try {
    await open([{ args: [`rlog://127.0.0.1:${port}`] }]);
    const follow = page.getByTestId("follow");
    const time = page.getByTestId("time");
    await expect(follow).toHaveAttribute("aria-pressed", "true");
    await expect(row(page, "/SystemStats/BatteryVoltage")).toContainText(/\d/);
    await expect.poll(() => kinds(page)).toContain("graph");
    // A tab without views: a machine that draws without a graphics card has little left for the test.
    await page.keyboard.press("t");
    const before = await time.textContent();
    await expect.poll(() => time.textContent()).not.toBe(before);
    await page.keyboard.press("l");
    await expect(follow).toHaveAttribute("aria-pressed", "false");
    const stopped = await time.textContent();
    // Other data has come since.
    const end = async () => (await answer<{ end: number }>(page, "/api/session")).end;
    const last = await end();
    await expect.poll(end).toBeGreaterThan(last + 0.2);
    await frames(page, 2);
    expect(await time.textContent()).toBe(stopped);
    await page.keyboard.press("1");
    await picture("shell-live");
    await page.keyboard.press("2");
    await page.keyboard.press("Home");
    await page.keyboard.press("l");
    await expect(follow).toHaveAttribute("aria-pressed", "true");
    await expect.poll(() => time.textContent()).not.toBe(stopped);
  } finally {
    robot.kill("SIGINT");
  }
});

/** What hands do: keys, menus, hovering, and searching. */

import type { Page } from "@playwright/test";
import { encodeState } from "../../src/model/hash";
import { alone, expect, test } from "./base";

const panes = (page: Page) => page.getByTestId("pane");

test.describe("keys", () => {
  /** Views in which letters once meant something else. */
  const VIEWS = { carla: ["carla"], scene: ["frc"], field: ["frc"], xy: ["frc"], graph: ["frc"] } as const;
  const config: Record<string, unknown> = {
    scene: { sources: [{ ref: { log: 0, name: "NT:/Drive/Pose", path: "" }, shape: "robot", color: 0 }] },
    field: { sources: [{ ref: { log: 0, name: "NT:/Drive/Pose", path: "" }, role: "robot", color: 0 }] },
  };

  for (const [kind, [log]] of Object.entries(VIEWS)) {
    test(`mean the same in a pane of kind ${kind} as everywhere`, async ({ page, open }) => {
      await open([log], alone(kind, config[kind] ?? {}));
      const inside = panes(page).first().locator("canvas, [tabindex='0'], button").last();
      await inside.focus();
      await page.keyboard.press("t");
      await expect(page.getByTestId("tab")).toHaveCount(2);
      await page.keyboard.press("q");
      await inside.focus();
      await page.keyboard.press("h");
      await expect(panes(page)).toHaveCount(2);
      await page.keyboard.press("n");
      await inside.focus();
      await page.keyboard.press("f");
      await expect(panes(page)).toHaveCount(1);
      await page.keyboard.press("f");
      await expect(panes(page)).toHaveCount(2);
      await page.keyboard.press("x");
      await expect(panes(page)).toHaveCount(1);
    });
  }

  test("of a view work wherever the focus is", async ({ page, open }) => {
    const series = [{ ref: { log: 0, name: "/Power/BatteryVoltage", path: "" } }];
    await open(["frc"], alone("graph", { series }));
    const statistics = page.getByTestId("plot").getByRole("button", { name: "Statistics" });
    await page.getByTestId("tree").focus();
    await page.keyboard.press("s");
    await expect(statistics).toHaveAttribute("aria-pressed", "true");
    await page.getByTestId("overview").focus();
    await page.keyboard.press("s");
    await expect(statistics).toHaveAttribute("aria-pressed", "false");
  });

  test("are all in Help, those of views too", async ({ page, open }) => {
    await open(["frc"]);
    await page.keyboard.press("?");
    const help = page.getByTestId("help");
    for (const text of ["Follow the next actor", "Lock or fit the axes", "Heat map", "Find a message", "Long press"])
      await expect(help).toContainText(text);
    const keys = await help.locator("kbd").allTextContents();
    for (const key of ["T", "H", "F", "A", "Shift+Z", "Ctrl+→", "F3", "Delete"]) expect(keys).toContain(key);
  });

  test("step after a speed was chosen", async ({ page, open }) => {
    await open(["frc"]);
    const [speed, time] = [page.getByTestId("speed"), page.getByTestId("time")];
    await page.keyboard.press("g");
    await page.keyboard.type("10");
    await page.keyboard.press("Enter");
    await speed.focus();
    await speed.selectOption("2");
    await expect(speed).not.toBeFocused();
    await page.keyboard.press("ArrowRight");
    await expect(time).toHaveText("10.020");
    await expect(speed).toHaveValue("2");
  });
});

test("Enter on a channel that is shown already says so", async ({ page, open }) => {
  const series = [{ ref: { log: 0, name: "/Power/BatteryVoltage", path: "" } }];
  await open(["frc"], alone("graph", { series }));
  await page.keyboard.press("/");
  await page.keyboard.type("battery");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("toast")).toContainText("/Power/BatteryVoltage is already in Line graph");
});

test.describe("search", () => {
  test("finds words, not letters strewn over the name", async ({ page, open }) => {
    await open(["frc"]);
    await page.getByTestId("search").fill("vel");
    const names = page.getByTestId("row");
    await expect(names.first()).toHaveAttribute("data-name", /Velocity/);
    for (const name of await names.evaluateAll((rows) => rows.map((row) => row.getAttribute("data-name"))))
      expect(name).not.toContain("MotorTemperature");
  });

  test("names the log where there are several", async ({ page, open }) => {
    await open(["rlog", "rlog1"]);
    await page.getByTestId("search").fill("batteryvoltage");
    const rows = page.getByTestId("row");
    await expect(rows.filter({ hasText: "demo_q12.rlog" }).first()).toBeVisible();
    await expect(rows.filter({ hasText: "demo_q12_r1.rlog" }).first()).toBeVisible();
  });
});

test("a voltage is not offered as a swerve drive", async ({ page, open }) => {
  await open(["frc"]);
  await page.locator("[data-testid=row][data-name='/Power/BatteryVoltage']").click({ button: "right" });
  const menu = page.getByTestId("menu");
  await expect(menu).toContainText("Line graph");
  await expect(menu).not.toContainText("Swerve");
});

const ref = (name: string, path = "") => ({ log: 0, name, path });
const lines = (...names: string[]) => ({ series: names.map((name) => ({ ref: ref(name) })) });

/** Two graphs above each other, as a layout behind the address. */
function stacked(above: unknown, below: unknown): string {
  const pane = (id: string, config: unknown) => ({ id, kind: "graph", title: "", config });
  const root = { id: "s1", direction: "column", sizes: [0.5, 0.5], children: [pane("p1", above), pane("p2", below)] };
  const tabs = [{ id: "t1", title: "", root, active: "p1", maximised: null }];
  return `#${encodeState({ version: 1, layout: { version: 1, tabs, current: "t1" } })}`;
}

test.describe("graphs", () => {
  test("show every series under the pointer, and how much it is from the cursor", async ({ page, open, picture }) => {
    await open(["frc"], alone("graph", lines("/Power/BatteryVoltage", "/Power/TotalCurrent"), { cursor: 10 }));
    const box = await page.getByTestId("plot").boundingBox();
    if (!box) throw new Error("no plot");
    const rows = page.getByTestId("hover-row");
    // What moves before the graph is drawn is over nothing.
    await expect(async () => {
      await page.mouse.move(box.x + box.width * 0.69, box.y + box.height / 2);
      await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
      await expect(rows).toHaveCount(2, { timeout: 2000 });
    }).toPass();
    const numbers = async (row: number, cell: number) =>
      Number(/-?[\d.]+/.exec((await rows.nth(row).locator("td").nth(cell).textContent()) ?? "")?.[0] ?? NaN);
    const held = async () => Number((await page.getByTestId("value").first().getAttribute("data-value")) ?? NaN);
    await expect
      .poll(async () => Math.abs((await numbers(0, 1)) - (await held()) - (await numbers(0, 2))))
      .toBeLessThan(1e-3);
    await expect(page.getByTestId("hover")).toContainText("Δ");
    await picture("hands-hover");
    await page.mouse.move(box.x + box.width / 2, box.y - 60);
    await expect(page.getByTestId("hover")).toHaveCount(0);
  });

  test("above each other begin and end at the same pixels", async ({ page, open, picture }) => {
    await open(
      ["frc"],
      stacked(lines("/Power/BatteryVoltage"), lines("/Power/TotalCurrent", "/Shooter/RPM", "DS:enabled")),
    );
    await expect(page.getByTestId("plot")).toHaveCount(2);
    // The time under a place that is the same on both.
    const at = async (place: number) => {
      const box = await page.getByTestId("plot").nth(place).boundingBox();
      if (!box) throw new Error("no plot");
      await page.mouse.click(box.x + 400, box.y + 60);
      return page.getByTestId("time").textContent();
    };
    await expect(async () => expect(await at(0)).toBe(await at(1))).toPass();
    await picture("hands-gutters");
  });
});

test.describe("menus", () => {
  const menu = (page: Page) => page.getByTestId("menu");

  test("of a series in the legend, and of the plot", async ({ page, open }) => {
    await open(["frc"], alone("graph", lines("/Power/BatteryVoltage", "/Power/TotalCurrent")));
    await page.getByTestId("legend-row").first().click({ button: "right" });
    await expect(menu(page)).toContainText("BatteryVoltage");
    await page.getByRole("menuitem", { name: "Hide", exact: true }).click();
    await expect(page.getByTestId("legend-row").first().getByRole("button", { name: /^Show/ })).toBeVisible();
    await page.getByTestId("plot").click({ button: "right", position: { x: 300, y: 120 } });
    await page.getByRole("menuitem", { name: "Set mark here" }).click();
    await expect(page.getByRole("button", { name: "Remove the mark" })).toBeVisible();
    // From the keyboard.
    await page.getByTestId("legend-row").nth(1).focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menuitem", { name: "Remove from graph" }).click();
    await expect(page.getByTestId("legend-row")).toHaveCount(1);
  });

  test("of a line in the plot", async ({ page, open }) => {
    await open(["frc"], alone("graph", lines("/Power/BatteryVoltage")));
    const plot = page.getByTestId("plot");
    const box = await plot.boundingBox();
    if (!box) throw new Error("no plot");
    await expect(async () => {
      for (let y = 40; y < box.height - 40; y += 10) {
        await plot.click({ button: "right", position: { x: box.width / 2, y } });
        const found = (await menu(page).textContent())?.includes("BatteryVoltage");
        await page.keyboard.press("Escape");
        if (found) return;
      }
      throw new Error("no line was met");
    }).toPass();
  });

  test("of the timeline, a tab, a channel and any pane", async ({ page, open }) => {
    await open(["frc"]);
    await page.getByTestId("overview").click({ button: "right", position: { x: 700, y: 20 } });
    await page.getByRole("menuitem", { name: "Start selection here" }).click();
    await expect(page.getByTestId("selection")).toBeVisible();
    await page.getByTestId("tab").first().click({ button: "right" });
    await expect(menu(page)).toContainText("Close others");
    await page.keyboard.press("Escape");
    await page.getByTestId("row").nth(1).click({ button: "right" });
    await expect(menu(page)).toContainText("Copy name");
    await page.keyboard.press("Escape");
    for (const kind of ["field", "events", "console"]) {
      await page.locator(`[data-testid=pane][data-kind=${kind}] .body`).click({ button: "right" });
      await expect(menu(page)).toContainText("Split right");
      await page.keyboard.press("Escape");
    }
  });
});

test("the active tab and the button for a new one stay in sight, however many there are", async ({ page, open }) => {
  await open(["frc"]);
  for (let tab = 0; tab < 16; tab++) await page.keyboard.press("t");
  const inSight = async (target: ReturnType<Page["locator"]>) => {
    const [box, commands] = [await target.boundingBox(), await page.getByTestId("open-palette").boundingBox()];
    expect(box && commands && box.x >= 0 && box.x + box.width <= commands.x).toBe(true);
  };
  const current = page.locator("[role=tab][aria-selected=true]");
  await inSight(current);
  await inSight(page.getByTestId("new-tab"));
  await page.keyboard.press("1");
  await inSight(current);
  await page.getByTestId("all-tabs").click();
  await expect(page.getByTestId("menu").getByRole("menuitemradio")).toHaveCount(18);
});

test.describe("a small window", () => {
  test.use({ viewport: { width: 1024, height: 700 } });

  test("has whole titles, and the drawing of the board", async ({ page, open, picture }) => {
    await open(["frc"]);
    const titles = page.locator("[data-testid=pane] header .title");
    for (const title of ["Events", "Console"]) {
      const one = titles.filter({ hasText: title });
      expect(await one.evaluate((node) => node.scrollWidth <= node.clientWidth + 1)).toBe(true);
    }
    await picture("hands-1024");
    await open(["refloat"]);
    const drawing = await page.getByTestId("board").locator("canvas").boundingBox();
    expect(drawing?.height ?? 0).toBeGreaterThan(140);
    await picture("hands-1024-board");
  });

  test("leaves the field its width beside the settings", async ({ page, open, picture }) => {
    await open(["frc"]);
    const canvas = page.getByTestId("field").locator("canvas");
    const before = (await canvas.boundingBox())?.width;
    await page.getByTestId("field").getByRole("button", { name: "Settings" }).click();
    await expect(page.getByTestId("settings")).toBeVisible();
    expect((await canvas.boundingBox())?.width).toBe(before);
    await picture("hands-1024-settings");
  });

  test("keeps cards off the actors", async ({ page, open, picture }) => {
    await open(["carla"]);
    await page.getByTestId("carla-follow").selectOption({ index: 1 });
    // The canvas makes room a moment after the card is there.
    const beside = async () => {
      const canvas = await page.getByTestId("carla-canvas").boundingBox();
      const card = await page.getByTestId("carla-followed").boundingBox();
      if (!canvas || !card) throw new Error("no card");
      return card.y >= canvas.y + canvas.height || card.x >= canvas.x + canvas.width;
    };
    await expect.poll(beside).toBe(true);
    await picture("hands-1024-carla");
  });
});

test("events wrap, and rows are as high as their text", async ({ page, open, picture }) => {
  await page.setViewportSize({ width: 700, height: 800 });
  await open(["ds"], alone("events", {}));
  const rows = page.getByTestId("event-row");
  await expect(rows.first()).toBeVisible();
  await page.setViewportSize({ width: 620, height: 800 });
  const cut = () =>
    rows.evaluateAll(
      (all) =>
        all.filter((row) => [...row.querySelectorAll(".text")].some((text) => text.scrollWidth > text.clientWidth + 1))
          .length,
    );
  await expect.poll(cut).toBe(0);
  await picture("hands-events");
});

test("one controller is one tile", async ({ page, open }) => {
  await open(["frc"], alone("joysticks", {}, { cursor: 28 }));
  await expect(page.getByTestId("joystick")).toHaveCount(1);
});

test("a table has one row for each loop", async ({ page, open }) => {
  const columns = ["/Power/BatteryVoltage", "/Power/TotalCurrent", "/Shooter/RPM"].map((name) => ({
    ref: ref(name),
    width: 150,
  }));
  await open(["frc"], alone("table", { columns }, { cursor: 30 }));
  const rows = page.getByTestId("table-row");
  const times = async () =>
    (await rows.evaluateAll((all) => all.map((row) => Number(row.getAttribute("data-t"))))).sort((a, b) => a - b);
  const apart = (all: number[]) => Math.min(...all.slice(1).map((t, place) => t - (all[place] ?? 0)));
  await expect(rows.first()).toBeVisible();
  expect(apart(await times())).toBeLessThan(0.005);
  await page.getByTestId("table-loops").click();
  await expect.poll(async () => apart(await times())).toBeGreaterThan(0.015);
});

test.describe("touch", () => {
  test.use({ viewport: { width: 1024, height: 700 }, hasTouch: true, isMobile: true });

  test("everything that is pressed is at least 40 px", async ({ page, open, picture }) => {
    for (const log of ["frc", "refloat", "carla"] as const) {
      await open([log]);
      const small = await page.evaluate(() =>
        [
          ...document.querySelectorAll(
            "button, select, [role=tab], [role=treeitem], [role=option], [role=row] , input:not([type=checkbox], [type=radio])",
          ),
        ]
          .filter((one) => one.checkVisibility() && one.clientWidth > 0 && !one.closest("[inert]"))
          .map((one) => ({
            box: one.getBoundingClientRect(),
            name: one.getAttribute("aria-label") ?? one.textContent?.trim().slice(0, 30),
          }))
          .filter(({ box }) => box.width < 39.5 || box.height < 39.5)
          .map(({ box, name }) => `${name}: ${box.width.toFixed(0)} × ${box.height.toFixed(0)}`),
      );
      expect(small, log).toEqual([]);
      await picture(`hands-touch-${log}`);
    }
  });

  type Fingers = (type: "touchStart" | "touchMove" | "touchEnd", points: [number, number][]) => Promise<void>;

  /** Fingers on the page, as the browser gets them from the screen. */
  async function fingersOn(page: Page): Promise<Fingers> {
    const session = await page.context().newCDPSession(page);
    return async (type, points) => {
      const touchPoints = points.map(([x, y], id) => ({ x, y, id }));
      await session.send("Input.dispatchTouchEvent", { type, touchPoints });
    };
  }

  test("one finger pans, two zoom, one that stays opens the menu", async ({ page, open }) => {
    await page.clock.install();
    /** Time stands still in the page: however slow the machine is, no finger stays where it is for long. */
    const atOnce = async (hands: () => Promise<void>): Promise<void> => {
      await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
      await hands();
      await page.clock.resume();
    };
    await open(["frc"], alone("graph", lines("/Power/BatteryVoltage")));
    const box = await page.getByTestId("plot").boundingBox();
    if (!box) throw new Error("no plot");
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const fingers = await fingersOn(page);
    const range = page.getByTestId("window");
    const shown = () => range.getAttribute("aria-valuetext");
    const whole = await shown();
    await fingers("touchStart", [
      [x - 60, y],
      [x + 60, y],
    ]);
    for (let step = 1; step <= 6; step++)
      await fingers("touchMove", [
        [x - 60 - 20 * step, y],
        [x + 60 + 20 * step, y],
      ]);
    await fingers("touchEnd", []);
    await expect.poll(shown).not.toBe(whole);
    const near = await shown();
    await atOnce(async () => {
      await fingers("touchStart", [[x, y]]);
      for (let step = 1; step <= 6; step++) await fingers("touchMove", [[x - 20 * step, y]]);
      await fingers("touchEnd", []);
    });
    await expect.poll(shown).not.toBe(near);
    await expect(page.getByTestId("menu")).toHaveCount(0);
    await fingers("touchStart", [[x, y]]);
    await expect(page.getByTestId("menu")).toContainText("Set mark here");
    await fingers("touchEnd", []);
    await expect(page.getByTestId("menu")).toBeVisible();
  });

  test("two fingers zoom the field", async ({ page, open }) => {
    const sources = [{ ref: ref("NT:/Drive/Pose"), role: "robot", color: 0 }];
    await open(["frc"], alone("field", { sources }));
    const box = await page.getByTestId("field").locator("canvas").boundingBox();
    if (!box) throw new Error("no field");
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const fingers = await fingersOn(page);
    const canvas = page.getByTestId("field").locator("canvas");
    const before = await canvas.screenshot();
    await fingers("touchStart", [
      [x - 50, y],
      [x + 50, y],
    ]);
    for (let step = 1; step <= 6; step++)
      await fingers("touchMove", [
        [x - 50 - 20 * step, y],
        [x + 50 + 20 * step, y],
      ]);
    await fingers("touchEnd", []);
    await expect.poll(async () => (await canvas.screenshot()).equals(before)).toBe(false);
    // A channel's menu, too.
    const channel = page.locator("[data-testid=row][data-name='/Power/BatteryVoltage']");
    await channel.scrollIntoViewIfNeeded();
    const row = await channel.boundingBox();
    if (!row) throw new Error("no row");
    await fingers("touchStart", [[row.x + 80, row.y + 10]]);
    await expect(page.getByTestId("menu")).toContainText("Copy name");
    await fingers("touchEnd", []);
  });
});

for (const theme of ["dark", "light"] as const) {
  test(`text on real pages can be read: ${theme}`, async ({ page, open }) => {
    await page.emulateMedia({ colorScheme: theme });
    for (const log of ["frc", "ds", "carla", "refloat"] as const) {
      await open([log]);
      const poor = await page.evaluate(unreadable);
      expect(poor, log).toEqual([]);
    }
    await page.keyboard.press("?");
    await expect(page.getByTestId("help")).toBeVisible();
    expect(await page.evaluate(unreadable)).toEqual([]);
  });
}

/** Texts of the page whose contrast to what is behind them is below 4.5. */
function unreadable(): string[] {
  const sheet = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!sheet) return ["no canvas"];
  const read = (color: string): [number, number, number, number] => {
    sheet.clearRect(0, 0, 1, 1);
    sheet.fillStyle = color;
    sheet.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, a = 0] = sheet.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const luminance = (color: number[]) => {
    const [r = 0, g = 0, b = 0] = color.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (above: number[], below: number[], opacity: number) =>
    [0, 1, 2].map((at) => (above[at] ?? 0) * opacity + (below[at] ?? 0) * (1 - opacity));
  const behind = (element: Element): number[] => {
    const layers: [number, number, number, number][] = [];
    for (let at: Element | null = element; at; at = at.parentElement) {
      const layer = read(getComputedStyle(at).backgroundColor);
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return layers.reduceRight<number[]>((below, layer) => over(layer, below, layer[3]), [255, 255, 255]);
  };
  const poor = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!element || !node.textContent?.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("script, style, [aria-hidden=true], :disabled, [aria-disabled=true]")) continue;
    const style = getComputedStyle(element);
    const color = read(style.color);
    let opacity = color[3];
    for (let at: Element | null = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const below = behind(element);
    const [a, b] = [luminance(over(color, below, opacity)) + 0.05, luminance(below) + 0.05];
    const ratio = Math.max(a, b) / Math.min(a, b);
    if (ratio < 4.5) poor.add(`${node.textContent.trim().slice(0, 30)} (${style.color}): ${ratio.toFixed(2)}`);
  }
  return [...poor];
}

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Page } from "@playwright/test";
import { alone, exported, BINARY, expect, fileOf, loud, logpose, logposeJson, test } from "./base";

const ref = (name: string, path = "", log = 0) => ({ log, name, path });
const BATTERY = ref("/Power/BatteryVoltage");
const STATE = ref("/Shooter/State");
const POSE = ref("NT:/Drive/Pose");

const columns = (...refs: unknown[]) => ({ columns: refs.map((one) => ({ ref: one, width: 180 })) });

async function choose(page: Page, item: RegExp): Promise<void> {
  await page.getByTestId("pane-menu").click();
  await page.getByRole("menuitem", { name: item }).first().click();
}

interface Sample {
  time: number;
  value: unknown;
}

/** Samples as `logpose cat` prints them. */
function samples(name: "frc" | "rlog", channel: string, range: string): Sample[] {
  const text = logpose("cat", fileOf(name), "-y", channel, "-S", range, "--json");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { time_ns: number; value: unknown })
    .map(({ time_ns, value }) => ({ time: time_ns / 1e9, value }));
}

test.describe("table", () => {
  test("its values are the log's, and a row sets the cursor", async ({ page, open, picture }) => {
    await open(["frc"], alone("table", columns(BATTERY, STATE, ref(POSE.name, ".translation.x")), { cursor: 30 }));
    const [first] = samples("frc", BATTERY.name, "30..30.1");
    expect(first).toBeDefined();
    const row = page.locator(`[data-testid=table-row][data-t="${first?.time}"]`);
    await expect(row.getByRole("gridcell").nth(1)).toHaveAttribute("title", String(first?.value));
    await expect(row.getByRole("gridcell").nth(1)).toHaveText(Number(first?.value).toPrecision(6).replace(/0+$/, ""));
    await expect(row.getByRole("gridcell").nth(1)).toHaveClass(/fresh/);
    await expect(row.getByRole("gridcell").nth(2)).not.toHaveClass(/fresh/);
    await row.getByRole("gridcell").nth(1).click();
    await expect(row).toHaveAttribute("aria-selected", "true");
    await expect(page.getByTestId("time")).toContainText("30.000");
    await page.keyboard.press("ArrowDown");
    await expect(row).toHaveAttribute("aria-selected", "false");
    for (let step = 0; step < 60; step++) await page.keyboard.press("ArrowDown");
    await expect(page.getByTestId("time")).toContainText("30.400");
    await picture("table");
  });

  test("it scrolls without end, keeps few rows and comes back to the cursor", async ({ page, open }) => {
    await open(["frc"], alone("table", columns(BATTERY, STATE), { cursor: 14 }));
    const rows = page.getByTestId("table-row");
    await expect(rows.first()).toBeVisible();
    const earliest = async () => Number(await rows.first().getAttribute("data-t"));
    await page.getByTestId("table-rows").hover();
    await expect(async () => {
      await page.mouse.wheel(0, -8000);
      expect(await earliest()).toBeLessThan(5);
    }).toPass({ timeout: 30_000 });
    expect(await rows.count()).toBeLessThan(90);
    await page.getByTestId("follow-cursor").click();
    await expect(page.locator("[data-testid=table-row][aria-selected=true]")).toHaveAttribute("data-t", /^13\.9/);
  });

  test("rows are filtered by new values", async ({ page, open }) => {
    await open(["frc"], alone("table", columns(BATTERY, STATE), { cursor: 5 }));
    await page.getByTestId("table-filter").fill("/^SHOOT/");
    const cells = page.locator("[data-testid=table-row] mark");
    await expect(cells.first()).toContainText("SHOOT");
    const [shooting] = samples("frc", STATE.name, "5..8").filter((sample) => sample.value === "SHOOTING");
    await expect(page.locator(`[data-testid=table-row][data-t="${shooting?.time}"]`)).toBeVisible();
    await page.getByTestId("table-filter").fill("no such thing");
    await expect(page.getByText("No new value contains “no such thing”.")).toBeVisible();
  });

  test("it is kept as CSV and as MCAP, and its command prints the same", async ({ page, open, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const clock = { cursor: 30, selection: { start: 30, end: 31 } };
    await open(["frc"], alone("table", columns(BATTERY, STATE), clock));
    await expect(page.getByTestId("table-row").first()).toBeVisible();
    const csv = await exported(page, /^CSV/);
    expect(csv.name).toMatch(/\.csv$/);
    const [first] = samples("frc", BATTERY.name, "30..31");
    expect(csv.bytes.toString()).toContain(`${first?.time},${String(first?.value)}`);
    const mcap = await exported(page, /^MCAP/);
    expect(mcap.bytes.subarray(1, 5).toString()).toBe("MCAP");
    await choose(page, /^Samples/);
    const line = await page.evaluate(() => navigator.clipboard.readText());
    expect(line).toMatch(/^logpose cat .* -y \/Power\/BatteryVoltage -y \/Shooter\/State -S 30\.\.31$/);
    const script = `logpose() { "$BINARY" "$@"; }; ${line}`;
    const env = { ...process.env, BINARY };
    const text = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", cwd: dirname(fileOf("frc")), env });
    expect(text).toContain(String(first?.value));
  });
});

test.describe("console", () => {
  test("messages have levels, are filtered, excluded and found, and set the cursor", async ({
    page,
    open,
    picture,
  }) => {
    await open(["frc"], alone("console", {}));
    const rows = page.getByTestId("console-row");
    await expect(rows).toHaveCount(6);
    await picture("console");
    await page.getByTestId("console-include").fill("java");
    await expect(rows).toHaveCount(2);
    await expect(rows.nth(0)).toContainText("Intake.java:88");
    await page.getByTestId("console-exclude").fill("/brown.ut/");
    await expect(rows).toHaveCount(1);
    await expect(rows).toHaveAttribute("data-level", "warning");
    await page.getByTestId("console-include").fill("");
    await page.getByTestId("console-exclude").fill("");
    await page.getByTestId("level-info").click();
    await expect(rows).toHaveCount(2);
    await page.getByTestId("level-info").click();
    await expect(rows).toHaveCount(6);
    await rows.filter({ hasText: "Teleop enabled" }).click();
    await expect(page.getByTestId("time")).toContainText("24.200");
    await page.getByTestId("console-rows").press("Control+f");
    await page.getByTestId("console-find").fill("brownout");
    await page.getByTestId("console-find").press("Enter");
    await expect(page.getByTestId("time")).toContainText("44.400");
    await page.getByTestId("console-include").fill("nothing has this");
    await expect(page.getByText("No messages match the filters.")).toBeVisible();
  });

  test("messages of several logs stand together, and leave as text", async ({ page, open }) => {
    await open(["pcap", "ds"], alone("console", {}));
    const rows = page.getByTestId("console-row");
    await expect(rows.first()).toBeVisible();
    const file = await exported(page, /^Messages as text/);
    const lines = file.bytes.toString().trim().split("\n");
    expect(lines.length).toBe(await rows.count());
    expect(lines.filter((line) => line.includes("Teleop enabled"))).toHaveLength(2);
  });
});

test.describe("events", () => {
  test("a press jumps, arrows go on, kinds are hidden", async ({ page, open, picture }) => {
    await open(["ds"], alone("events", {}));
    const rows = page.getByTestId("event-row");
    await expect(rows.first()).toBeVisible();
    await picture("events");
    const brownout = page.locator("[data-testid=event-row][data-kind=brownout]").first();
    const t = Number(await brownout.getAttribute("data-t"));
    await brownout.click();
    await expect(page.getByTestId("time")).toContainText(t.toFixed(3));
    await page.getByTestId("event-previous").click();
    await expect(page.getByTestId("time")).not.toContainText(t.toFixed(3));
    await page.getByTestId("event-next").click();
    await expect(page.getByTestId("time")).toContainText(t.toFixed(3));
    await page.getByTestId("event-rows").press("ArrowUp");
    await expect(page.getByTestId("time")).not.toContainText(t.toFixed(3));
    const before = await rows.count();
    const modes = await page.locator("[data-testid=event-row][data-kind=mode]").count();
    await page.getByTestId("kind-mode").click();
    await expect(rows).toHaveCount(before - modes);
    await page.getByTestId("events-filter").fill("brownout");
    await expect(rows.filter({ hasNotText: /brownout/i })).toHaveCount(0);
  });
});

test.describe("statistics", () => {
  test("numbers are the command's, and there is a histogram", async ({ page, open, picture }) => {
    await open(
      ["frc"],
      alone("statistics", { series: [BATTERY, ref("/Shooter/RPM")], range: "whole" }, { cursor: 30 }),
    );
    const row = page.getByTestId("statistics-row").first();
    const [stats] = logposeJson("stats", fileOf("frc"), "-y", BATTERY.name) as {
      name: string;
      min: number;
      mean: number;
    }[];
    expect(stats?.name).toBe(BATTERY.name);
    const number = async (name: string) => Number(await row.locator(`[data-name="${name}"]`).textContent());
    await expect(row.locator("[data-name=Mean]")).not.toHaveText("–");
    expect(await number("Min")).toBeCloseTo(stats?.min ?? NaN, 4);
    expect(await number("Mean")).toBeCloseTo(stats?.mean ?? NaN, 3);
    const canvas = page.getByTestId("histogram").first();
    await expect(canvas).toBeVisible();
    const inked = () =>
      canvas.evaluate((node: HTMLCanvasElement) => {
        const data = node.getContext("2d")?.getImageData(0, 0, node.width, node.height).data;
        return data ? data.some((value, place) => place % 4 === 3 && value > 60) : false;
      });
    await expect.poll(inked).toBe(true);
    await picture("statistics");
    await row.getByTitle(/go there$/).click();
    const csv = await exported(page, /^Statistics as CSV/);
    expect(csv.bytes.toString()).toContain(`/Power/BatteryVoltage,V,`);
    const png = await exported(page, /^Histogram.*\(PNG\)/);
    expect(png.bytes.subarray(1, 4).toString()).toBe("PNG");
  });
});

test.describe("XY plot", () => {
  test("a path is drawn and a press on it sets the cursor", async ({ page, open, picture }) => {
    const config = { x: ref(POSE.name, ".translation.x"), y: [ref(POSE.name, ".translation.y")], equal: true };
    await open(["frc"], alone("xy", { ...config, range: "whole" }, { cursor: 60 }));
    const canvas = page.getByTestId("xy-canvas");
    await expect(canvas).toHaveAttribute("data-points", /^3\d\d\d$/);
    await picture("xy");
    const before = await page.getByTestId("time").textContent();
    const box = await canvas.boundingBox();
    if (!box) throw new Error("the plot has no size");
    await expect(async () => {
      // Somewhere along a line down the middle there is the path.
      for (let part = 0.2; part < 0.9; part += 0.05) {
        await page.mouse.click(box.x + box.width / 2, box.y + box.height * part);
        if ((await page.getByTestId("time").textContent()) !== before) return;
      }
      throw new Error("no point of the path was met");
    }).toPass();
    const csv = await exported(page, /^Points as CSV/);
    expect(csv.bytes.toString().split("\r\n")[0]).toBe(
      "time,NT:/Drive/Pose.translation.x,NT:/Drive/Pose.translation.y",
    );
  });

  test("the first series that is added is x, the next is y", async ({ page, open }) => {
    await open(["frc"], alone("xy", {}));
    await expect(page.getByTestId("empty")).toContainText("the first is x");
    const row = (name: string) => page.getByTestId("row").filter({ hasText: name });
    await row("TotalCurrent").dblclick();
    await expect(page.getByTestId("empty")).toContainText("TotalCurrent is x");
    await row("BatteryVoltage").dblclick();
    await expect(page.getByTestId("xy-canvas")).toHaveAttribute(
      "aria-label",
      "BatteryVoltage (V) against TotalCurrent (A)",
    );
  });
});

loud.describe("SQL", () => {
  loud("questions have answers, charts, errors and files", async ({ page, open, picture }) => {
    await open(["frc"], alone("sql", {}));
    const { sql } = (await (await page.request.get(new URL("/api/session", page.url()).href)).json()) as {
      sql: boolean;
    };
    loud.skip(!sql, "this logpose was built without SQL");
    const editor = page.getByTestId("sql-editor");
    await expect(page.getByTestId("sql-tables")).toContainText("samples");
    await editor.fill("SELECT mode, start, duration FROM modes");
    await editor.press("Control+Enter");
    await expect(page.getByTestId("sql-row")).toHaveCount(5);
    await expect(page.getByTestId("sql-row").nth(1)).toContainText("auto");
    await editor.fill(
      `SELECT time_bucket('1s', time) AS t, min(value) AS low, avg(value) AS mean\nFROM "${BATTERY.name}"\nGROUP BY t ORDER BY t`,
    );
    await page.getByTestId("sql-run").click();
    await expect(page.getByTestId("sql-note")).toContainText("71 rows");
    await page.getByTestId("sql-plot").click();
    await expect(page.getByTestId("sql-chart")).toBeVisible();
    await picture("sql");
    const wait = page.waitForEvent("download");
    await page.getByTestId("sql-csv").click();
    const text = readFileSync(await (await wait).path(), "utf8");
    expect(text.split("\r\n")[0]).toBe("t,low,mean");
    expect(text.trim().split("\r\n")).toHaveLength(72);
    await editor.fill("SELECT mode\nFORM modes x");
    await editor.press("Control+Enter");
    await expect(page.getByTestId("sql-error")).toContainText("line 2");
    await page.getByRole("button", { name: "Show location" }).click();
    await editor.fill("SELECT foo FROM samples");
    await editor.press("Control+Enter");
    await expect(page.getByTestId("sql-error")).toContainText('no column "foo"');
    await expect(page.getByTestId("sql-error")).toContainText("time_ns");
    await editor.press("Control+ArrowUp");
    await expect(editor).toHaveValue("SELECT foo FROM samples");
  });
});

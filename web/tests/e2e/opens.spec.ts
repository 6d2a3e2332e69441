/** What a log shows in the first second: recovered where it is damaged, and in the range in which it has its samples. */

import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeState } from "../../src/model/hash";
import { alone, answer, expect, fileOf, LOGS, logposeJson, test } from "./base";

interface Session {
  start: number;
  end: number;
  logs: { damage: { bytes: number; share: number } | null; stragglers: { start: number; text: string }[] }[];
}

test("a damaged log opens recovered, says what is lost, and is saved repaired", async ({ page, open, picture }) => {
  await open(["damaged"]);
  const banner = page.getByTestId("damaged");
  const session = await answer<Session>(page, "/api/session");
  const lost = session.logs[0]?.damage;
  expect(lost?.bytes).toBeGreaterThan(0);
  await expect(banner).toContainText(`${String(lost?.bytes)} bytes are unreadable`);
  await expect(banner).toContainText(`${Number(((lost?.share ?? 0) * 100).toPrecision(2))} %`);
  await picture("opens-damaged");
  await banner.getByRole("button", { name: "Details" }).click();
  await expect(page.getByRole("dialog")).toContainText("bytes contain no readable record");
  await page.keyboard.press("Escape");
  const saved = page.waitForEvent("download");
  await banner.getByRole("button", { name: "Save repaired copy" }).click();
  const copy = await saved;
  expect(copy.suggestedFilename()).toBe("damaged.recovered.wpilog");
  const path = join(LOGS, "repaired.wpilog");
  await copy.saveAs(path);
  const about = logposeJson("info", path) as { samples: number; problems: unknown[] };
  expect(about.problems).toEqual([]);
  await banner.getByRole("button", { name: "Hide" }).click();
  await expect(banner).toBeHidden();
});

test("a healthy log has no banner and no stubs", async ({ page, open }) => {
  await open(["frc"]);
  await expect(page.getByTestId("damaged")).toBeHidden();
  await expect(page.getByTestId("stub-before")).toBeHidden();
});

test("stragglers are a stub at the edge of the timeline that can be opened", async ({ page, open, picture }) => {
  const lines = Array.from({ length: 400 }, (_, n) => `${10 + n * 0.1},/x,${Math.sin(n / 10)}`);
  const path = join(LOGS, "stragglers.csv");
  await writeFile(path, `time,channel,value\n-33225,/x,1\n-33224,/x,2\n${lines.join("\n")}\n9000,/x,5\n`);
  await open([{ args: [path] }]);
  const { logs } = await answer<Session>(page, "/api/session");
  const [before, after] = [page.getByTestId("stub-before"), page.getByTestId("stub-after")];
  await expect(before).toHaveAttribute("title", new RegExp("2 samples between -9:13:45 and -9:13:44"));
  await expect(after).toBeVisible();
  // The view begins where the samples are, and so does the cursor.
  const visible = page.getByTestId("window");
  await expect(visible).toHaveAttribute("aria-valuetext", /^10\.000 s to 49\.900 s/);
  await expect(page.getByTestId("time")).toHaveText("10.000");
  await picture("opens-stragglers");
  await before.click();
  await expect(visible).toHaveAttribute("aria-valuetext", /^-9:13:45\.000 s to 49\.900 s/);
  await expect(before).toHaveAttribute("aria-pressed", "true");
  // They are there: the first sample is where the cursor goes at Home.
  await page.keyboard.press("Home");
  await expect(page.getByTestId("time")).toHaveText("-9:13:45.000");
  expect(logs[0]?.stragglers.map((found) => found.start)).toEqual([-33225, 9000]);
  // A link to it opens them too.
  await expect
    .poll(() => decodeState(new URL(page.url()).hash))
    .toMatchObject({ clock: { cursor: -33225, opened: ["before"] } });
  await page.reload();
  await page.locator("[data-ready=true]").waitFor();
  await expect(before).toHaveAttribute("aria-pressed", "true");
  await before.click();
  await expect(visible).toHaveAttribute("aria-valuetext", /^10\.000 s to 49\.900 s/);
  // The cursor is where data is.
  await expect(page.getByTestId("time")).toHaveText("10.000");
});

test("one key shows the time in which the robot was enabled", async ({ page, open }) => {
  const [session, events] = ["/api/session", "/api/logs/0/events"];
  await open(["frc"]);
  const { bands } = await answer<{ bands: { start: number; end: number; kind: string }[] }>(page, events);
  const { start: first, end: last } = await answer<Session>(page, session);
  const enabled = bands.filter(({ kind }) => kind === "auto" || kind === "teleop");
  const [start, end] = [enabled[0]?.start ?? 0, enabled.at(-1)?.end ?? 0];
  await expect(page.getByTestId("time")).toHaveText(start.toFixed(3));
  const seen = page.getByTestId("window");
  const expected = [Math.max(start - 5, first), Math.min(end + 5, last)];
  const isEnabled = async () => {
    const text = (await seen.getAttribute("aria-valuetext")) ?? "";
    const [from, to] = [...text.matchAll(/(?:(\d+):)?([\d.]+) s/g)].map(([, m, s]) => Number(m ?? 0) * 60 + Number(s));
    return [from, to].every((t, place) => Math.abs((t ?? 0) - (expected[place] ?? 0)) < 0.01);
  };
  for (const way of ["key", "button"]) {
    await page.keyboard.press("+");
    await expect.poll(isEnabled).toBe(false);
    if (way === "key") await page.keyboard.press("Shift+E");
    else await page.getByTestId("zoom-enabled").click();
    await expect.poll(isEnabled).toBe(true);
  }
});

test("trip time is in ms and loss in % wherever they are read, with the full value on hover", async ({
  page,
  open,
}) => {
  const refs = ["/ds/trip_time", "/ds/packet_loss"].map((name) => ({ log: 0, name, path: "" }));
  const clock = { cursor: 20, start: 0, end: 60 };
  await open(["ds"], alone("statistics", { series: refs, range: "whole" }, clock));
  const [trip, loss] = [page.getByTestId("statistics-row").nth(0), page.getByTestId("statistics-row").nth(1)];
  await expect(trip).toContainText("ms");
  await expect(loss).toContainText("%");
  const stats = logposeJson("stats", fileOf("ds"), "-y", "/ds/trip_time") as { max: number }[];
  await expect(trip.locator('[data-name="Max"]')).toHaveText(/^\d/);
  const shown = Number(await trip.locator('[data-name="Max"]').innerText());
  expect(shown).toBeCloseTo((stats[0]?.max ?? 0) * 1000, 3);
  // The list of channels, a graph and a table agree.
  await page.keyboard.press("/");
  await page.keyboard.type("trip_time");
  await expect(page.locator('[data-testid=row][data-name="/ds/trip_time"]').first()).toContainText("ms");
  await open(["ds"], alone("graph", { series: refs }, clock));
  await expect(page.getByTestId("legend-row").first().getByTestId("value")).toContainText("ms");
  await expect(page.getByTestId("legend-row").nth(1).getByTestId("value")).toContainText("%");
  await expect(page.getByTestId("legend-row").first().getByTestId("value")).toHaveAttribute("title", / s$/);
  await open(["ds"], alone("table", { columns: refs.map((ref) => ({ ref, width: 150 })) }, clock));
  await expect(page.getByRole("columnheader").filter({ hasText: "trip_time" })).toContainText("ms");
});

test("all columns of the Driver Station's statistics are in sight or scroll to, with names that say what they are", async ({
  page,
  open,
  picture,
}) => {
  await page.setViewportSize({ width: 1024, height: 700 });
  await open(["ds"]);
  await page.getByRole("tab", { name: "Currents" }).click();
  const row = page.getByTestId("statistics-row").first();
  await expect(row).toContainText("current/0");
  await picture("opens-ds-statistics");
  const table = page.getByTestId("statistics-table");
  const [wide, room] = await table.evaluate((found) => [found.scrollWidth, found.parentElement?.clientWidth ?? 0]);
  expect(wide).toBeLessThanOrEqual(room);
  for (const head of await page.getByTestId("statistics-table").locator("thead th").all()) {
    await head.scrollIntoViewIfNeeded();
    const [text, cut] = await head.evaluate((cell) => [cell.textContent, cell.scrollWidth > cell.clientWidth + 1]);
    expect(cut, `the head "${String(text)}" is cut`).toBe(false);
  }
});

test("aligned logs show their times on the shared clock, with offset and quality", async ({ page, open }) => {
  await open([{ args: [fileOf("rlog"), fileOf("ds"), "--align", "enabled"] }]);
  const session = await answer<{ logs: { offset_ns: string; facts: [string, string][] }[] }>(page, "/api/session");
  await page.getByRole("button", { name: /^About demo_q12.dslog/ }).click();
  const dialog = page.getByRole("dialog");
  const offset = Number(session.logs[1]?.offset_ns) / 1e9;
  expect(Math.abs(offset)).toBeGreaterThan(1);
  await expect(dialog).toContainText(`${Math.abs(offset).toFixed(3)} s, by the moments at which the robot was enabled`);
  await expect(dialog).toContainText("enable and disable edges match");
  await expect(dialog).toContainText(/Confidence\s*high/);
  // The battery was lowest on both clocks at the same shown time.
  const lowest = session.logs.map(({ facts }) =>
    /at ([\d.]+) s/.exec(facts.find(([name]) => name === "Battery")?.[1] ?? ""),
  );
  expect(Math.abs(Number(lowest[0]?.[1]) - Number(lowest[1]?.[1]))).toBeLessThan(1);
});

test("forty logs at once stay usable, and each is asked for once", async ({ page, open }) => {
  const copies = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const from = fileOf(n % 2 === 0 ? "refloat" : "frc");
      const path = join(LOGS, `forty-${n}${from.slice(from.lastIndexOf("."))}`);
      await copyFile(from, path);
      return path;
    }),
  );
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await open([{ args: copies }]);
  const count = (what: RegExp) => asked.filter((path) => what.test(path)).length;
  expect(count(/channels$/)).toBe(40);
  expect(count(/events$/)).toBe(40);
  // Tabs for a few of them: nobody reads eighty.
  expect(count(/panes$/)).toBeLessThanOrEqual(4);
  expect(await page.getByRole("tab").count()).toBeLessThan(12);
  await page.keyboard.press("/");
  await page.keyboard.type("batteryvoltage");
  const found = page.locator('[data-testid=row][data-name$="BatteryVoltage"]');
  await expect(found.first()).toBeVisible();
  await expect(found.first()).toContainText("forty-");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const time = page.getByTestId("time");
  const before = await time.textContent();
  await page.keyboard.press("End");
  await expect(time).not.toHaveText(before ?? "");
});

/** A robot that speaks while we look: a log that is played as NetworkTables, RLOG, and what the page makes of it. */

import { spawn, type ChildProcess } from "node:child_process";
import { alone, answer, BINARY, ended, expect, fileOf, freePort, loud, ready, test, viewer } from "./base";

for (const scheme of ["nt4", "rlog"]) {
  test(`${scheme}: follows the newest data and scrolls back to the start`, async ({ page, open, picture }) => {
    const port = await freePort();
    const robot: ChildProcess = spawn(
      BINARY,
      ["play", fileOf("frc"), "--to", `${scheme}://127.0.0.1:${port}`, "--from", "auto", "--loop", "--quiet"],
      { stdio: "ignore" },
    );
    try {
      await open([{ args: [`${scheme}://127.0.0.1:${port}`] }]);
      const follow = page.getByTestId("follow");
      await expect(follow).toHaveAttribute("aria-pressed", "true");
      const time = page.getByTestId("time");
      const first = await time.textContent();
      await expect(time).not.toHaveText(first ?? "");
      const battery = page.locator('[data-testid=row][data-name$="BatteryVoltage"]').first();
      await page.keyboard.press("/");
      await page.keyboard.type("batteryvoltage");
      await expect(battery).toContainText(/\d+\.\d/);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      const session = () => answer<{ start: number; end: number; logs: { state: string }[] }>(page, "/api/session");
      await expect.poll(async () => (await session()).end - (await session()).start).toBeGreaterThan(2);
      await picture(`live-${scheme}`);
      // Back to the start: what was heard first is still there. In the tree, Home would be its first row.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press("Home");
      await expect(follow).toHaveAttribute("aria-pressed", "false");
      expect((await session()).logs[0]?.state).toBe("live");
      await page.keyboard.press("l");
      await expect(follow).toHaveAttribute("aria-pressed", "true");
      // Messages and modes are there without being asked for, and SQL knows what has come so far.
      await expect(page.getByTestId("console-row").filter({ hasText: "Auto: three pieces" }).first()).toBeVisible();
      await expect(page.getByTestId("event-row").filter({ hasText: "Autonomous" }).first()).toBeVisible();
      await open([{ args: [`${scheme}://127.0.0.1:${port}`] }], alone("sql", {}));
      const count = async (): Promise<number> => {
        await page.getByTestId("sql-editor").fill("SELECT count(*) AS n FROM samples");
        await page.getByTestId("sql-run").click();
        await expect(page.getByTestId("sql-note")).toContainText("1 row");
        return Number((await page.getByTestId("sql-row").first().innerText()).trim().split(/\s+/).at(-1));
      };
      const before = await count();
      expect(before).toBeGreaterThan(100);
      await expect.poll(count).toBeGreaterThan(before);
    } finally {
      robot.kill("SIGINT");
    }
  });
}

test("a source is waited for, comes, is lost and leaves a gap", async ({ page, open, picture }) => {
  const address = `nt4://127.0.0.1:${await freePort()}`;
  const play = () =>
    spawn(BINARY, ["play", fileOf("frc"), "--to", address, "--from", "auto", "--loop", "--quiet"], { stdio: "ignore" });
  const name = "NT:/Power/BatteryVoltage";
  // Nobody is there yet: nothing is claimed about what happened, and the reason is readable in full.
  await open([{ args: [address] }]);
  await expect(page.getByTestId("empty").first()).toContainText("Waiting for data");
  await expect(page.getByText("No events", { exact: true })).toBeHidden();
  const pill = page.getByTestId("follow");
  await expect(pill).toContainText("onnection refused");
  expect(await pill.evaluate((button) => button.scrollWidth <= button.clientWidth + 1)).toBe(true);
  await picture("live-waiting");
  let robot = play();
  try {
    const head = page.locator('[data-testid=row][aria-level="1"]').first();
    await expect(head).toContainText("live");
    await expect(head).toContainText(/[1-9]\d* channels/);
    await page.getByRole("button", { name: /^About nt4/ }).click();
    await expect(page.getByRole("dialog")).toContainText(/[1-9][\d,]* samples, [1-9]\d* channels/);
    await page.keyboard.press("Escape");
    const end = async () => (await answer<{ end: number }>(page, "/api/session")).end;
    const begun = await end();
    await expect.poll(end).toBeGreaterThan(begun + 2);
    const { channels } = await answer<{ channels: { id: number; name: string }[] }>(page, "/api/logs/0/channels");
    const channel = channels.find((one) => one.name === name)?.id ?? -1;
    robot.kill("SIGINT");
    await expect(head).toContainText("waiting");
    const lost = await end();
    // So long is the gap, at least.
    await page.waitForTimeout(1500);
    robot = play();
    await expect(head).toContainText("live");
    await expect.poll(end).toBeGreaterThan(lost + 2.5);
    // In the gap nothing is held: no value in the legend, in the list of channels, or in the table.
    const series = [{ log: 0, channel }];
    const seen = async (t: number): Promise<unknown> => {
      const body = await page.request.post(new URL("/api/values", page.url()).href, { data: { time: t, series } });
      return ((await body.json()) as { values: unknown[] }).values[0];
    };
    const session = await answer<{ end: number }>(page, "/api/session");
    let gap = NaN;
    for (let t = lost; t < session.end && Number.isNaN(gap); t += 0.05) if ((await seen(t)) === null) gap = t;
    expect(gap).toBeGreaterThan(lost - 1);
    const ref = { log: 0, name, path: "" };
    await open([{ args: [address] }], alone("graph", { series: [ref] }, { start: gap - 3, end: gap + 3, cursor: gap }));
    const value = page.getByTestId("legend-row").first().getByTestId("value");
    await expect(value).toHaveText(/^–/);
    await picture("live-gap", '[data-testid="plot"]');
    await page.keyboard.press("/");
    await page.keyboard.type("batteryvoltage");
    await expect(page.locator(`[data-testid=row][data-name="${name}"]`).first()).not.toContainText(/\d/);
  } finally {
    robot.kill("SIGINT");
  }
});

loud("a server that goes away is missed, and found again when it is back", async ({ page }) => {
  const args = [fileOf("frc"), "--port", String(await freePort())];
  const first = await viewer(args);
  await page.goto(first.url);
  await ready(page);
  await expect(page.getByTestId("gone")).toBeHidden();
  await ended(first.process);
  await expect(page.getByTestId("gone")).toBeVisible();
  const second = await viewer(args);
  try {
    await expect(page.getByTestId("gone")).toBeHidden();
    // What is asked for now is answered.
    await page.keyboard.press("/");
    await page.keyboard.type("batteryvoltage");
    const battery = page.locator('[data-testid=row][data-name$="BatteryVoltage"]').first();
    const before = await battery.innerText();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("End");
    await page.keyboard.press("/");
    await expect(battery).not.toHaveText(before);
  } finally {
    await ended(second.process);
  }
});

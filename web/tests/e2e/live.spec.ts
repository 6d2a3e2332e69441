/** A robot that speaks while we look: a log that is played as NetworkTables, RLOG, and what the page makes of it. */

import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { alone, answer, BINARY, ended, expect, fileOf, loud, ready, test, viewer } from "./base";

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

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
      await page.waitForTimeout(3000);
      await picture(`live-${scheme}`);
      // Back to the start: what was heard first is still there. In the tree, Home would be its first row.
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press("Home");
      await expect(follow).toHaveAttribute("aria-pressed", "false");
      const session = await answer<{ start: number; end: number; logs: { state: string }[] }>(page, "/api/session");
      expect(session.end - session.start).toBeGreaterThan(2);
      expect(session.logs[0]?.state).toBe("live");
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

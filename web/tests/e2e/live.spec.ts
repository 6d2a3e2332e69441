/** A robot that speaks while we look: a log that is played as NetworkTables, RLOG, and what the page makes of it. */

import { spawn, type ChildProcess } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { answer, BINARY, expect, fileOf, test } from "./base";

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
    } finally {
      robot.kill("SIGINT");
    }
  });
}

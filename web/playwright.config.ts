import { defineConfig } from "@playwright/test";
import { execFileSync } from "node:child_process";

// The browser of the system: Playwright's own would have to be downloaded.
const executablePath =
  process.env["CHROMIUM"] ?? execFileSync("sh", ["../scripts/browser.sh"], { encoding: "utf8" }).trim();

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "artefacts/failures",
  globalSetup: "./tests/e2e/setup.ts",
  timeout: 120_000,
  expect: { timeout: 30_000 },
  workers: 2,
  fullyParallel: false,
  forbidOnly: Boolean(process.env["CI"]),
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1440, height: 900 },
    colorScheme: "dark",
    acceptDownloads: true,
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath,
      // SwiftShader for WebGL alone. As `--use-angle` it would also compose the pages, at a tenth of the speed.
      args: ["--no-sandbox", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"],
    },
  },
});

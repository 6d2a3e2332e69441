import { defineConfig } from "@playwright/test";
import e2e from "./playwright.config";

// The pictures in the README, at a size in which their text can be read on GitHub.
export default defineConfig(e2e, {
  testDir: "tests/pictures",
  workers: 1,
  use: {
    viewport: { width: 1200, height: 750 },
    deviceScaleFactor: 2,
    launchOptions: {
      ...e2e.use?.launchOptions,
      // Text that comes out the same every time.
      args: [
        ...(e2e.use?.launchOptions?.args ?? []),
        "--font-render-hinting=none",
        "--disable-partial-raster",
        "--disable-skia-runtime-opts",
        "--run-all-compositor-stages-before-draw",
        "--disable-gpu-rasterization",
        "--disable-font-subpixel-positioning",
      ],
    },
  },
});

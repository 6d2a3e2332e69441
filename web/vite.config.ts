import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// `LOGPOSE_SERVER=http://127.0.0.1:PORT npm run dev` shows changes at once, with the data of a `logpose open --no-browser --port PORT`.
const server = process.env["LOGPOSE_SERVER"];

export default defineConfig({
  plugins: [svelte()],
  build: {
    // In the crate that serves the page, so that it is in its package.
    outDir: "../crates/server/dist",
    emptyOutDir: true,
    target: "es2022",
    // The content policy allows no inline data but pictures.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  // The server only answers its own page, so the page of Vite says that it is that one.
  server: server
    ? {
        proxy: {
          "/api": { target: server, ws: true, changeOrigin: true, headers: { origin: server.replace(/\/+$/, "") } },
        },
      }
    : {},
  test: { include: ["tests/unit/**/*.test.ts"], environment: "node" },
});

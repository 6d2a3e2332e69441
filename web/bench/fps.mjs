// How smooth a view is for some seconds: a line graph under real wheel and drag events, or another view that plays.
//
//   node bench/fps.mjs URL [--series 10] [--search TEXT] [--seconds 5] [--size 1440x900] [--png FILE]
//   node bench/fps.mjs URL --play KIND [--seconds 5] [--size 1440x900] [--png FILE]
//
// The page is a viewer; for graphs with at least that many channels of numbers whose names fit the search. Prints one line of JSON. Frames are what the
// page itself sees by requestAnimationFrame; the browser is Chromium without a window, whose frames come at most 60 times a second.

import { chromium } from "@playwright/test";
import { execFileSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    series: { type: "string", default: "10" },
    seconds: { type: "string", default: "5" },
    size: { type: "string", default: "1440x900" },
    search: { type: "string", default: "/" },
    play: { type: "string" },
    png: { type: "string" },
  },
});
const [address] = positionals;
if (!address) {
  console.error("bench/fps.mjs: which page? node bench/fps.mjs URL");
  process.exit(2);
}
const [series, seconds] = [Number(values.series), Number(values.seconds)];
const [width, height] = values.size.split("x").map(Number);
const script = resolve(dirname(fileURLToPath(import.meta.url)), "../../scripts/browser.sh");
const executablePath = process.env.CHROMIUM ?? execFileSync("sh", [script], { encoding: "utf8" }).trim();

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--enable-precise-memory-info"],
});
try {
  const page = await browser.newPage({ viewport: { width, height } });
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable");
  const requests = { count: 0, bytes: 0, times: [] };
  page.on("requestfinished", async (request) => {
    if (!request.url().includes(values.play ? "/api/" : "/api/pixels")) return;
    const { responseEnd, requestStart } = request.timing();
    requests.count++;
    requests.times.push(responseEnd - requestStart);
    requests.bytes += (await request.sizes().catch(() => ({ responseBodySize: 0 }))).responseBodySize;
  });
  await page.goto(address);
  await page.locator("[data-ready=true]").waitFor();
  const shown = values.play ? 0 : await addSeries(page, series);
  if (values.play) await addView(page, values.play);
  await settled(page);
  const first = values.play ? null : await firstPicture(page);

  const before = await metrics(client);
  const count = requests.count;
  await page.evaluate(watchFrames);
  const moves = values.play ? await play(page, seconds) : await drive(page, seconds);
  const frames = await page.evaluate(() => window.logposeFrames.stop());
  const after = await metrics(client);
  if (values.png) await page.screenshot({ path: values.png });

  const sorted = [...frames].sort((a, b) => a - b);
  const mean = frames.reduce((sum, time) => sum + time, 0) / Math.max(frames.length, 1);
  requests.times.sort((a, b) => a - b);
  console.log(
    JSON.stringify({
      series: shown,
      seconds,
      fps: round(1000 / mean),
      frame_ms: {
        mean: round(mean),
        p50: round(at(sorted, 0.5)),
        p95: round(at(sorted, 0.95)),
        p99: round(at(sorted, 0.99)),
        max: round(at(sorted, 1)),
      },
      frames: frames.length,
      events: moves,
      zoom_to_answer_ms: first === null ? null : round(first),
      requests: {
        count: requests.count - count,
        per_second: round((requests.count - count) / seconds),
        p50_ms: round(at(requests.times, 0.5)),
        p99_ms: round(at(requests.times, 0.99)),
        megabytes: round(requests.bytes / 1e6),
      },
      heap_megabytes: { used: round(after.JSHeapUsedSize / 1e6), total: round(after.JSHeapTotalSize / 1e6) },
      script_share: round((after.ScriptDuration - before.ScriptDuration) / seconds),
      task_share: round((after.TaskDuration - before.TaskDuration) / seconds),
    }),
  );
} finally {
  await browser.close();
}

/** Opens a tab with one view in it. */
async function addView(page, kind) {
  await page.getByTestId("new-tab").click();
  await page.getByTestId("chooser").locator(`[data-kind=${kind}]`).click();
}

/** Plays from the start on; tells how many events that took. */
async function play(page, seconds) {
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await page.waitForTimeout(seconds * 1000);
  await page.keyboard.press("Space");
  return 3;
}

/** Opens a tab with a line graph and drags channels of numbers onto it; tells how many there are. */
async function addSeries(page, wanted) {
  const rows = page.getByTestId("legend-row");
  // A page that shows a graph already is taken as it is.
  if ((await rows.count()) >= wanted) return rows.count();
  await addView(page, "graph");
  const plot = page.getByTestId("plot").first();
  // What is found stands in one list, without folders.
  await page.getByTestId("search").fill(values.search);
  const sources = page.locator("[data-testid=row][data-name]:has(.kind.number)");
  await sources.first().waitFor();
  for (let place = 0, left = await sources.count(); place < left && (await rows.count()) < wanted; place++) {
    await sources.nth(place).dragTo(plot);
  }
  await page.getByTestId("search").fill("");
  return rows.count();
}

async function settled(page) {
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(500);
}

/** From a change of the window to what it was asked for, in milliseconds; null if nothing had to be asked. */
async function firstPicture(page) {
  const plot = page.getByTestId("plot").first();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4);
  const done = page
    .waitForResponse((response) => response.url().includes("/api/pixels"), { timeout: 2000 })
    .catch(() => null);
  const start = performance.now();
  await page.mouse.wheel(0, -600);
  // What is finer than the screen already needs no request.
  const time = (await done) ? performance.now() - start : null;
  await settled(page);
  return time;
}

/** In the page: the time between frames until it is told to stop. */
function watchFrames() {
  const times = [];
  let last = null;
  let running = true;
  requestAnimationFrame(function frame(now) {
    if (last !== null) times.push(now - last);
    last = now;
    if (running) requestAnimationFrame(frame);
  });
  window.logposeFrames = {
    stop() {
      running = false;
      return times;
    },
  };
}

/** Zooms in and out and pans to and fro, as a hand does; tells how many events that took. */
async function drive(page, seconds) {
  const box = await page.getByTestId("plot").first().boundingBox();
  const end = performance.now() + seconds * 1000;
  const [x, y] = [box.x + box.width * 0.5, box.y + box.height * 0.4];
  let events = 0;
  for (let turn = 0; performance.now() < end; turn++) {
    await page.mouse.move(x, y);
    for (let step = 0; step < 24 && performance.now() < end; step++, events++) {
      await page.mouse.wheel(0, turn % 2 === 0 ? -90 : 90);
      await page.waitForTimeout(12);
    }
    await page.mouse.down();
    for (let step = 0; step < 40 && performance.now() < end; step++, events++) {
      await page.mouse.move(x + (turn % 2 === 0 ? -1 : 1) * step * 8, y);
      await page.waitForTimeout(12);
    }
    await page.mouse.up();
  }
  return events;
}

async function metrics(client) {
  const { metrics } = await client.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

function at(sorted, part) {
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)] ?? 0;
}

function round(value) {
  return Math.round(value * 100) / 100;
}

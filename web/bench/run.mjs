// Frames a second of a line graph on logs of 10 channels and of a crowd of actors that plays, and what the page takes; beside what is published of
// AdvantageScope.
//
//   make bench-web        (LOGPOSE_BIN names another binary)

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const release = join(root, "target/release");
const binary = process.env.LOGPOSE_BIN ?? join(release, "logpose");
const folder = join(root, "target/bench/data");
const cache = join(root, "target/bench/cache");
mkdirSync(folder, { recursive: true });

const ten = ["--search", "/Ten"];
const inputs = [
  { title: "10 channels of 100,000 samples", log: "ten-100000.wpilog", made: ["wpilog-ten", "100000"], how: ten },
  {
    title: "10 channels of 10,000,000 samples",
    log: "ten-10000000.wpilog",
    made: ["wpilog-ten", "10000000"],
    how: ten,
  },
  { title: "3,000 actors from above", log: "crowd.log", made: ["carla-crowd"], how: ["--play", "carla"] },
  { title: "3,000 actors in 3D", log: "crowd.log", made: ["carla-crowd"], how: ["--play", "scene"] },
];

const rows = [];
for (const { title, log: name, made, how } of inputs) {
  const log = join(folder, name);
  if (!existsSync(log)) {
    const [kind, ...size] = made;
    execFileSync(join(release, "generate"), [kind, log, ...size]);
    // Nothing is kept of a file that was written within the last two seconds.
    await new Promise((resolve) => setTimeout(resolve, 3000));
  }
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  // The second opening is the usual one: what the first found is kept.
  const first = await opened(log);
  first.stop();
  const viewer = await opened(log);
  const done = spawnSync(process.execPath, [join(root, "web/bench/fps.mjs"), viewer.url, ...how, "--seconds", "8"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const memory = memoryOf(viewer.process.pid);
  viewer.stop();
  if (done.status !== 0) process.exit(1);
  const doing = how[0] === "--play" ? "while it plays" : "under wheel and drag events that zoom and pan";
  rows.push({ title, doing, bytes: statSync(log).size, first, viewer, memory, page: JSON.parse(done.stdout) });
}

for (const { title, doing, bytes, first, viewer, memory, page } of rows) {
  console.log(`\n${title}, ${mega(bytes)}`);
  line("opened, nothing kept", `${first.ms} ms`);
  line("opened again", `${viewer.ms} ms until the address is printed`);
  line("frames", `${page.fps} a second for ${page.seconds} s ${doing}`);
  line(
    "",
    `${page.frame_ms.mean} ms a frame, p95 ${page.frame_ms.p95}, p99 ${page.frame_ms.p99}, longest ${page.frame_ms.max}`,
  );
  const zoom = page.zoom_to_answer_ms;
  if (doing !== "while it plays") line("zoom to finer data", zoom === null ? "was there already" : `${zoom} ms`);
  line("requests", `${page.requests.count}, p50 ${page.requests.p50_ms} ms, p99 ${page.requests.p99_ms} ms`);
  line("memory of the page", `${page.heap_megabytes.used} MB of JavaScript in use`);
  line("memory of the server", memory);
}
console.log(`
AdvantageScope, by what is published:
  issue 406: a WPILOG of 800 MB stops at 20 % and does not open (4.1.6 and 27.0.0-alpha-3)
  issue 397: a log of 50 MB takes more than 4 GB of memory in the table, which then stands still (4.1.5)
  its decoders in node, on a WPILOG of 1.0 GB with 64.7 million records: 165 s and 6.9 GB for all columns
Frames are those that the page sees in Chromium without a window, at most 60 a second; no graphics processor.`);

/** A viewer on a log, and how long it took to be there. */
async function opened(log) {
  const start = performance.now();
  const child = spawn(binary, ["open", "--no-browser", "--json", log], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, LOGPOSE_CACHE: cache, LOGPOSE_LAYOUTS: "" },
  });
  const [text] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url: JSON.parse(text).url,
    ms: Math.round(performance.now() - start),
    process: child,
    stop: () => child.kill("SIGINT"),
  };
}

function memoryOf(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = (name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0);
    const own = kilobytes("RssAnon") / 1000;
    return `${own.toFixed(0)} MB of its own, ${(kilobytes("RssFile") / 1000).toFixed(0)} MB of mapped files`;
  } catch {
    return "not told by this system";
  }
}

function line(name, text) {
  console.log(`  ${name.padEnd(24)}${text}`);
}

function mega(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** What all tests in a browser share: the logs, a server for each set of them, and no tolerance for console errors. */

import { expect, test as plain, type Page } from "@playwright/test";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { encodeState } from "../../src/model/hash";

export { expect };

export const BINARY = resolve(process.env["LOGPOSE_BIN"] ?? "../target/debug/logpose");
export const LOGS = join(tmpdir(), `logpose-e2e-${process.env["LOGPOSE_E2E"] ?? "logs"}`);
const PICTURES = resolve("artefacts");

/** The log of each dialect, out of `logpose demo`. */
export type LogName = "frc" | "akit" | "rlog" | "rlog1" | "ds" | "pcap" | "carla" | "refloat" | "damaged";

const FILES: Record<LogName, RegExp> = {
  frc: /^FRC_.*\.wpilog$/,
  akit: /^akit_.*\.wpilog$/,
  rlog: /^demo_q12\.rlog$/,
  rlog1: /^demo_q12_r1\.rlog$/,
  ds: /^demo_q12\.dslog$/,
  pcap: /\.pcap$/,
  carla: /^demo_junction\.log$/,
  refloat: /\.rfrec$/,
  damaged: /^damaged\.wpilog$/,
};

export function fileOf(name: LogName): string {
  const found = readdirSync(LOGS).find((file) => FILES[name].test(file));
  if (!found) throw new Error(`no log ${name} in ${LOGS}`);
  return join(LOGS, found);
}

/** What `logpose` prints; that it found damage is no failure. */
export function logpose(...args: string[]): string {
  const done = spawnSync(BINARY, args, { encoding: "utf8", maxBuffer: 64 << 20 });
  if (done.status !== 0 && done.status !== 3) throw new Error(`logpose ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** What `logpose … --json` prints, as one value. */
export const logposeJson = (...args: string[]): unknown => JSON.parse(logpose(...args, "--json"));

export class Servers {
  #running = new Map<string, { url: string; process: ChildProcess }>();

  /** The address of a viewer with these arguments behind `open`; one is started if there is none. */
  async url(args: string[]): Promise<string> {
    const key = args.join("\n");
    const known = this.#running.get(key);
    if (known) return known.url;
    const server = await viewer(args);
    this.#running.set(key, server);
    return server.url;
  }

  async stop(): Promise<void> {
    for (const { process } of this.#running.values()) await ended(process);
    this.#running.clear();
  }
}

/** Starts `logpose open`; it listens when this returns. `layouts` is the file in which it keeps layouts, if it does. */
export async function viewer(
  args: string[],
  layouts = "",
  env: NodeJS.ProcessEnv = {},
): Promise<{ url: string; process: ChildProcess }> {
  const child = spawn(BINARY, ["open", "--no-browser", "--json", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    // What one test arranges, no other one begins with.
    env: { ...process.env, LOGPOSE_LAYOUTS: layouts, ...env },
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, "line").then(([line]) => String(line)),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`logpose open ended with ${String(code)}`))),
  ]);
  return { ...(JSON.parse(first) as { url: string }), process: child };
}

/** Presses Ctrl-C, and waits until it has ended. */
export async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null) return;
  process.kill("SIGINT");
  await once(process, "exit");
}

/** For so long nothing is asked for in a page that has what it shows. */
const QUIET_MS = 300;

interface Fixtures {
  /** Opens logs in the page; `hash` is the state behind the address. */
  open: (logs: (LogName | { args: string[] })[], hash?: string) => Promise<void>;
  /** Waits until nothing has been asked for and nothing has come for a moment. */
  settled: () => Promise<void>;
  /** Keeps a picture of the page, or of a part of it, to be looked at. */
  picture: (name: string, selector?: string) => Promise<void>;
  /** Fails the test if the page complained. */
  quiet: void;
}

export const test = plain.extend<Fixtures, { servers: Servers }>({
  servers: [
    // Playwright wants to see the fixtures that are needed, also where there is none.
    async ({}, use) => {
      const servers = new Servers();
      await use(servers);
      await servers.stop();
    },
    { scope: "worker" },
  ],
  quiet: [
    async ({ page }, use) => {
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(String(error)));
      await use();
      expect(
        complaints.filter((text) => !/GPU stall|swiftshader|WebGL/i.test(text)),
        "the console of the page",
      ).toEqual([]);
    },
    { auto: true },
  ],
  open: async ({ page, servers }, use) => {
    await use(async (logs, hash = "") => {
      const args = logs.flatMap((log) => (typeof log === "string" ? [fileOf(log)] : log.args));
      await page.goto((await servers.url(args)) + hash);
      await ready(page);
    });
  },
  settled: async ({ page }, use) => {
    let [asked, last] = [0, 0];
    const changed = (by: number) => () => {
      asked += by;
      last = Date.now();
    };
    page.on("request", changed(1));
    page.on("requestfinished", changed(-1));
    page.on("requestfailed", changed(-1));
    await use(async () => {
      await ready(page);
      last = Date.now();
      while (asked > 0 || Date.now() - last < QUIET_MS) await page.waitForTimeout(QUIET_MS / 4);
      // What came is painted in the next frame.
      await frames(page, 2);
    });
  },
  picture: async ({ page }, use) => {
    await use(async (name, selector) => {
      mkdirSync(PICTURES, { recursive: true });
      const target = selector ? page.locator(selector) : page;
      await target.screenshot({ path: join(PICTURES, `${name}.png`) });
    });
  },
});

/** Where the browser itself complains, as about answers that are errors: only what the page throws fails the test. */
export const loud = test.extend({
  quiet: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    await use();
    expect(complaints).toEqual([]);
  },
});

/** The address of one view in the whole window. */
export function alone(kind: string, config: unknown, clock: unknown = {}): string {
  const root = { id: "p1", kind, title: "", config };
  const tabs = [{ id: "t1", title: "", root, active: "p1", maximised: null }];
  return `#${encodeState({ version: 1, layout: { version: 1, tabs, current: "t1" }, clock })}`;
}

/** The file that an entry of the pane's menu gives. */
export async function exported(page: Page, item: RegExp): Promise<{ name: string; bytes: Buffer }> {
  const saved = page.waitForEvent("download");
  await page.getByTestId("pane-menu").first().click();
  await page.getByRole("menuitem", { name: item }).first().click();
  const file = await saved;
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

/** The picture that the pane's menu gives, and its size. */
export async function exportedPng(page: Page): Promise<{ name: string; bytes: Buffer; width: number; height: number }> {
  const { name, bytes } = await exported(page, /^Picture.*\(PNG\)/);
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  return { name, bytes, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Waits until the channels are there and nothing is being asked for. */
export async function ready(page: Page): Promise<void> {
  await page.locator("[data-ready=true]").waitFor();
}

/** Waits for so many pictures of the page: whatever it would have done by then, it has done. */
export async function frames(page: Page, count: number): Promise<void> {
  await page.evaluate(async (count) => {
    for (let frame = 0; frame < count; frame++) await new Promise((next) => requestAnimationFrame(next));
  }, count);
}

/** A port at which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What the server of the page answers. */
export async function answer<T>(page: Page, path: string): Promise<T> {
  const response = await page.request.get(new URL(path, page.url()).href);
  expect(response.ok(), path).toBe(true);
  return (await response.json()) as T;
}

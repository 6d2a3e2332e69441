/** Every log of the corpus of real logs, as it looks when it is first opened. Without a corpus nothing is opened. */

import type { Page } from "@playwright/test";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { answer, BINARY, ended, expect, test, viewer } from "./base";

const CORPUS = resolve(process.env["LOGPOSE_CORPUS"] ?? "../../shared/corpus");
/** What is beside the logs: a `.dslog` comes with its `.dsevents`. */
const BESIDE = /\.(json|md|txt|dsevents)$/;
/** Half of a conversation, and half of a log whose other half has the names: nothing in them can be read. */
const UNREADABLE = ["derived-akit-r1.stream", "derived-akit-r2.stream", "tervay-2022-r1-tail-headerless.rlog"];
/** One of each kind also in a small window and in the light theme. */
const TWICE = [
  "sr_lanecenter_0.9.13.log",
  "2022_02_25_21_25_39_Fri.dslog",
  "wpilib_sim_2026_station.pcap",
  "akit-2021-r1-odometry.rlog",
  "spectrum-2024-akit.wpilog",
  "sciborgs-2024-match-negts.wpilog",
];

const LOGS = ["carla", "ds", "rlog", "wpilog"]
  .filter((folder) => existsSync(join(CORPUS, folder)))
  .flatMap((folder) => readdirSync(join(CORPUS, folder)).map((file) => ({ path: join(CORPUS, folder, file), file })))
  .filter(({ file }) => !BESIDE.test(file));

test.describe.configure({ mode: "parallel", timeout: 240_000 });

/** What is wrong with a first screen, as far as it can be measured. */
function faults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const all = (selector: string, root: ParentNode = document) => [...root.querySelectorAll<HTMLElement>(selector)];
    const cut = (node: HTMLElement) => node.scrollWidth > node.clientWidth + 1;
    if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
    for (const node of all("[data-testid=log-size]")) if (cut(node)) found.push(`cut: ${node.innerText}`);
    const rows = ["event-row", "console-row"].map((row) => `[data-testid=${row}]`);
    for (const node of all(rows.map((row) => `${row} .time`).join()))
      if (cut(node)) found.push(`cut: ${node.innerText}`);
    const words = rows.map((row) => `${row} .text`);
    for (const node of all([...words, "[data-testid=event-row] .long"].join()))
      if (cut(node) || node.scrollHeight > node.parentElement!.clientHeight) found.push(`cut: ${node.innerText}`);
    for (const pane of all("[data-testid=pane]")) {
      const title = pane.querySelector<HTMLElement>("header .title")?.innerText ?? "";
      if (!/[A-Za-z]{2}/.test(title)) found.push(`a pane is called "${title}"`);
      const empty = pane.querySelector<HTMLElement>("[data-testid=empty]");
      if (empty) found.push(`${title}: ${empty.innerText}`);
      if (pane.innerText.includes("no value yet")) found.push(`${title}: no value yet`);
      const values = all("[data-testid=value]", pane).map((node) => node.innerText);
      if (values.length > 0 && values.every((text) => text.startsWith("–"))) found.push(`${title}: no values`);
    }
    return found;
  });
}

for (const { path, file } of LOGS.filter(({ file }) => !UNREADABLE.includes(file))) {
  test(file, async ({ page, settled, picture }) => {
    const server = await viewer([path]);
    try {
      await page.goto(server.url);
      const name = `corpus-${file.replaceAll(".", "-")}`;
      const look = async (as: string): Promise<void> => {
        await settled();
        try {
          await expect.poll(() => faults(page)).toEqual([]);
        } finally {
          await settled();
          await picture(as);
        }
      };
      await look(name);
      const { logs } = await answer<{ logs: { channels: number; samples: number }[] }>(page, "/api/session");
      const [log] = logs;
      const size = page.getByTestId("log-size");
      await expect(size).toContainText(log?.channels === 1 ? "1 channel" : `${log?.channels} channels`);
      await expect(size).toHaveText(log?.samples === 0 ? /no samples/ : /^[\d.]+ (s|ms|µs|min)/);
      if (TWICE.includes(file)) {
        await page.setViewportSize({ width: 1024, height: 700 });
        await look(`${name}-1024`);
        await page.emulateMedia({ colorScheme: "light" });
        await look(`${name}-1024-light`);
      }
    } finally {
      // A page whose server is gone complains.
      await page.goto("about:blank");
      await ended(server.process);
    }
  });
}

for (const { path, file } of LOGS.filter(({ file }) => UNREADABLE.includes(file))) {
  test(`${file} is refused with a reason`, () => {
    const { status, stderr } = spawnSync(BINARY, ["open", "--no-browser", path], { encoding: "utf8", timeout: 30_000 });
    expect(status).toBe(1);
    expect(stderr).toContain(file);
    expect(stderr).toContain("help:");
  });
}

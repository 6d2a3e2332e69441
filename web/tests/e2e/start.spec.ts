/** Logs are opened, added and closed in the page, by whatever way they come. */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Page } from "@playwright/test";
import type { Session } from "../../src/api";
import { answer, BINARY, ended, expect, fileOf, freePort, loud, ready, test as quiet, viewer } from "./base";

interface Own {
  /** Starts `logpose open` with these arguments and a cache of its own, and shows its page. */
  start: (...args: string[]) => Promise<void>;
  /** A folder of this test. */
  folder: string;
}

const own = {
  folder: async ({}, use: (folder: string) => Promise<void>) => {
    const folder = mkdtempSync(join(tmpdir(), "logpose-start-"));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },
  start: async (
    { page, folder }: { page: Page; folder: string },
    use: (start: (...args: string[]) => Promise<void>) => Promise<void>,
  ) => {
    const running: ChildProcess[] = [];
    await use(async (...args) => {
      const { url, process } = await viewer(args, "", { LOGPOSE_CACHE: join(folder, "cache"), TMPDIR: folder });
      running.push(process);
      await page.goto(url);
      await ready(page);
    });
    // A page whose server ends would complain.
    await page.goto("about:blank");
    for (const process of running) await ended(process);
    // Whatever was uploaded ended with the server.
    const left = readdirSync(folder, { recursive: true }).map(String);
    expect(left.filter((name) => name.includes("logpose-uploads"))).toEqual([]);
  },
};
const test = quiet.extend<Own>(own);
/** Where the server refuses something, which the browser writes to its console. */
const refused = loud.extend<Own>(own);

/** Drops files or folders of this computer on the page, as a person would. */
async function drop(page: Page, ...files: string[]): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await client.send("Input.dispatchDragEvent", { type, x: 500, y: 300, data });
  }
  await client.detach();
}

const session = (page: Page) => answer<Session>(page, "/api/session");

const heads = (page: Page) => page.locator('[data-testid="row"].head strong');

test("the start page has all ways to a log, and a dropped one is shown", async ({ start, page, picture }) => {
  await start();
  await expect(page.getByRole("heading", { name: "logpose" })).toBeVisible();
  for (const id of ["drop", "recent", "connect", "demos"]) await expect(page.getByTestId(id)).toBeVisible();
  await expect(page.getByTestId("recent")).toContainText("Files that you open appear here");
  await picture("start");
  await drop(page, fileOf("frc"));
  await expect(heads(page)).toHaveText([basename(fileOf("frc"))]);
  await expect(page.getByTestId("tab").first()).toHaveText("Match");
  await expect(page.getByTestId("pane").first()).toBeVisible();
  await expect(page).toHaveTitle(basename(fileOf("frc")));
  const { logs } = await session(page);
  expect(logs.map(({ uploaded, state }) => [uploaded, state])).toEqual([[true, "finished"]]);
  await picture("start-dropped");
});

refused("a chosen file is opened, and its views say when it is closed", async ({ start, page, picture }) => {
  await start();
  const chooser = page.waitForEvent("filechooser");
  await page.getByTestId("choose").click();
  await (await chooser).setFiles(fileOf("rlog"));
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
  await expect(page.getByTestId("adding")).toHaveCount(0);
  await drop(page, fileOf("refloat"));
  await expect(heads(page)).toHaveText(["demo_q12.rlog", basename(fileOf("refloat"))]);
  // The message that offers the same is gone after a while, perhaps before a busy machine draws it.
  await heads(page).last().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Add tabs with its views" }).click();
  await expect(page.getByTestId("tab").last()).toContainText("Ride · demo_nosedive");
  await expect(page.getByTestId("closed-note")).toHaveCount(0);
  await page.getByTestId("close-log").last().click();
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
  await expect(page.getByTestId("closed-note").first()).toHaveText(/demo_nosedive\.rfrec\s+was closed/);
  await picture("start-closed");
  // The other one is shown as before.
  await page.getByTestId("tab").first().click();
  await expect(page.getByTestId("closed-note")).toHaveCount(0);
  expect((await session(page)).logs.map(({ state }) => state)).toEqual(["finished", "closed"]);
  // After a reload it is the same.
  await page.reload();
  await ready(page);
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
  // And without any log there is the start page again, from which the next one is shown anew.
  await page.getByTestId("close-log").click();
  await expect(page.getByTestId("drop")).toBeVisible();
  await page.getByTestId("demos").getByText("CARLA traffic").click();
  await expect(heads(page)).toHaveText(["demo_junction.log"]);
  await expect(page.getByTestId("tab").first()).toHaveText("Traffic");
});

test("recent files are read where they are, also when they are dropped", async ({ start, page, folder, picture }) => {
  const [first, beside] = [join(folder, "first.wpilog"), join(folder, "beside.rlog")];
  copyFileSync(fileOf("frc"), first);
  copyFileSync(fileOf("rlog"), beside);
  await start(first);
  // In the folder of a log that was opened.
  await drop(page, beside);
  await expect(heads(page)).toHaveText(["first.wpilog", "beside.rlog"]);
  let { logs } = await session(page);
  expect(logs.map(({ path, uploaded }) => [path, uploaded])).toEqual([
    [first, false],
    [beside, false],
  ]);
  // Once more it is not another log.
  await drop(page, beside);
  await expect(page.getByTestId("toast").filter({ hasText: "is open already" })).toBeVisible();
  await page.getByTestId("close-log").last().click();
  await page.getByTestId("close-log").last().click();
  await expect(page.getByTestId("recent").getByRole("button")).toHaveCount(2);
  await picture("start-recent");
  await page
    .getByTestId("recent")
    .getByRole("button", { name: /first\.wpilog/ })
    .click();
  await expect(heads(page)).toHaveText(["first.wpilog"]);
  ({ logs } = await session(page));
  expect(logs.at(-1)?.path).toBe(first);
  // Another server knows them too, and says which are gone.
  rmSync(beside);
  await start();
  await expect(page.getByRole("button", { name: /beside\.rlog.*no longer there/ })).toBeDisabled();
  // A file of the same name with another content is another file.
  const other = join(folder, "other");
  mkdirSync(other);
  copyFileSync(fileOf("akit"), join(other, "first.wpilog"));
  await drop(page, join(other, "first.wpilog"));
  await expect(heads(page)).toHaveText(["first.wpilog"]);
  expect((await session(page)).logs.at(-1)?.uploaded).toBe(true);
});

test("without a cache nothing is remembered", async ({ start, folder, page }) => {
  const first = join(folder, "first.wpilog");
  copyFileSync(fileOf("frc"), first);
  await start("--no-cache", first);
  expect(readdirSync(folder)).not.toContain("cache");
  mkdirSync(join(folder, "cache"));
  await start("--no-cache");
  await expect(page.getByTestId("recent").getByRole("button")).toHaveCount(0);
});

refused(
  "a file that is not a log is reported in its row, and the rest goes on",
  async ({ start, page, folder, picture }) => {
    const named = (name: string) => join(folder, name);
    writeFileSync(named("notes.docx"), Buffer.from(Array.from({ length: 4000 }, (_, n) => (n * 2654435761) >>> 24)));
    writeFileSync(named("empty.wpilog"), "");
    mkdirSync(named("season"));
    copyFileSync(fileOf("rlog"), named("good.rlog"));
    copyFileSync(fileOf("damaged"), named("damaged.wpilog"));
    await start();
    await drop(
      page,
      named("notes.docx"),
      named("season"),
      named("good.rlog"),
      named("empty.wpilog"),
      named("damaged.wpilog"),
    );
    await expect(heads(page)).toHaveText(["good.rlog", "damaged.wpilog"]);
    const jobs = page.getByTestId("job");
    await expect(jobs).toHaveCount(3);
    await expect(jobs.filter({ hasText: "season" })).toContainText("Is a folder");
    await expect(jobs.filter({ hasText: "notes.docx" })).toContainText(/format|log/);
    await expect(jobs.filter({ hasText: "empty.wpilog" })).toContainText(/empty/);
    await expect(page.getByTestId("adding-summary")).toHaveText("2 of 5 added, 3 failed");
    await picture("start-refused");
    await page.getByTestId("adding").getByRole("button", { name: "Close" }).click();
    await expect(page.getByTestId("adding")).toHaveCount(0);
  },
);

refused("a file that changes or vanishes while it is read", async ({ start, page, folder }) => {
  const [gone, grown] = [join(folder, "gone.wpilog"), join(folder, "grown.rlog")];
  await start();
  // Chosen, and gone before it is read.
  copyFileSync(fileOf("frc"), gone);
  copyFileSync(fileOf("rlog"), grown);
  const chooser = page.waitForEvent("filechooser");
  await page.getByTestId("choose").click();
  // The first request waits, so that there is time to change the files.
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  await page.route("**/api/logs/known*", async (route) => {
    await held;
    await route.continue();
  });
  await (await chooser).setFiles([gone, grown]);
  await expect(page.getByTestId("job").first()).toContainText("Locating the file");
  rmSync(gone);
  truncateSync(grown, 1000);
  utimesSync(grown, 1, 1);
  go();
  const jobs = page.getByTestId("job");
  await expect(jobs).toHaveCount(2);
  for (const job of await jobs.all()) await expect(job).toContainText("The file changed or vanished while it was read");
  await drop(page, fileOf("rlog"));
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
});

refused("a full disk and a limit stop an upload, and the rest goes on", async ({ start, page, folder, picture }) => {
  const small = join(folder, "small.csv");
  writeFileSync(small, "time,channel,value\n0,a,1\n1,a,2\n");
  await start("--limit-upload", "1kB");
  await drop(page, fileOf("frc"), small);
  await expect(heads(page)).toHaveText(["small.csv"]);
  await expect(page.getByTestId("job")).toContainText(/too large to be uploaded.*logpose open FILE/);
  await picture("start-limit");
  await start("--keep-free", "100000TB");
  await drop(page, small);
  await expect(page.getByTestId("job")).toContainText(/The disk is too full for a copy/);
});

test("progress is shown while a file is copied, and it can be cancelled", async ({ start, page, folder, picture }) => {
  const large = join(folder, "large.csv");
  const rows = Array.from({ length: 200_000 }, (_, n) => `${n / 100},channel ${n % 7},${Math.sin(n)}`);
  writeFileSync(large, ["time,channel,value", ...rows].join("\n"));
  await start();
  // So slow that it can be seen.
  const client = await page.context().newCDPSession(page);
  await client.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 1_000_000,
  });
  await drop(page, large, fileOf("rlog"));
  const job = page.getByTestId("job").first();
  await expect(job).toContainText(/Copying, [1-9]\d? %/);
  await picture("start-progress");
  await page.getByTestId("adding").getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByTestId("job")).toHaveCount(0);
  expect((await session(page)).logs).toEqual([]);
});

test("two hundred files at once", async ({ start, page, folder, picture }) => {
  const files = Array.from({ length: 200 }, (_, n) => {
    const path = join(folder, `run ${String(n).padStart(3, "0")}.csv`);
    writeFileSync(path, `time,channel,value\n0,speed,${n}\n1,speed,${n + 1}\n`);
    return path;
  });
  await start();
  await drop(page, ...files);
  await expect(page.getByTestId("adding-summary")).toContainText("Adding 200 logs");
  await picture("start-200-on-their-way");
  await expect.poll(async () => (await session(page)).logs.length, { timeout: 90_000 }).toBe(200);
  await expect(page.getByTestId("adding")).toHaveCount(0);
  await expect(heads(page).first()).toHaveText("run 000.csv");
  await page.getByTestId("tree").press("End");
  await expect(heads(page).last()).toHaveText("run 199.csv");
  await page.getByTestId("search").fill("speed");
  await expect(page.getByTestId("row").first()).toContainText("speed");
  await picture("start-200");
});

refused("a name with 5,000 characters", async ({ start, page, picture }) => {
  await start();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["time,channel,value\n0,a,1\n"], `${"long ".repeat(1000)}.csv`));
    data.items.add(new File(["time,channel,value\n0,a,1\n"], "short.csv"));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await expect(page.getByTestId("job").filter({ hasText: "Has a name of 5004 bytes" })).toBeVisible();
  await expect(heads(page)).toHaveText(["short.csv"]);
  await expect(page.getByTestId("job")).toHaveCount(1);
  await picture("start-long-name");
  const box = await page.getByTestId("adding").boundingBox();
  expect(box?.height).toBeLessThan(330);
});

test("a pair of Driver Station files is one log", async ({ start, page }) => {
  await start();
  await drop(page, fileOf("ds"), fileOf("ds").replace(".dslog", ".dsevents"));
  await expect(heads(page)).toHaveText(["demo_q12.dslog"]);
  await expect(page.getByTestId("tab").first()).toHaveText("Station");
  const events = await answer<{ events: unknown[] }>(page, "/api/logs/0/events");
  expect(events.events.length).toBeGreaterThan(3);
});

refused("a robot is connected to, its counts stay current, and it can be let go", async ({ start, page, picture }) => {
  const port = await freePort();
  await start();
  // Nonsense is refused at its place.
  await page.getByTestId("connect-place").fill("not an address");
  await page.getByTestId("connect-go").click();
  await expect(page.getByTestId("connect-trouble")).toContainText("invalid host name");
  await picture("start-connect");
  await page.getByTestId("connect-place").fill(`127.0.0.1:${port}`);
  await page.getByTestId("connect-go").click();
  await expect(heads(page)).toHaveText([`nt4://127.0.0.1:${port}`]);
  const head = page.locator('[data-testid="row"].head');
  await expect(head).toContainText("waiting");
  const robot = spawn(BINARY, ["play", fileOf("frc"), "--to", `nt4://127.0.0.1:${port}`, "--loop"], {
    stdio: "ignore",
  });
  await expect(head).toContainText("live");
  await expect(head).not.toContainText("0 channels");
  const { logs } = await session(page);
  const channels = logs[0]?.channels ?? 0;
  expect(channels).toBeGreaterThan(10);
  await expect(head).toContainText(/[1-9]\d* channels/);
  const bytes = /[\d.]+ [kM]B/;
  await expect(head).toContainText(bytes);
  const before = bytes.exec((await head.textContent()) ?? "")?.[0];
  await expect.poll(async () => bytes.exec((await head.textContent()) ?? "")?.[0]).not.toBe(before);
  await picture("start-live");
  // A file beside it.
  await drop(page, fileOf("rlog"));
  await expect(heads(page)).toHaveCount(2);
  await page.getByTestId("close-log").first().click();
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
  robot.kill("SIGINT");
  await once(robot, "exit");
});

// What the first window still asks of a log that the other one closes is refused.
refused("two windows of one server show the same logs", async ({ start, page, context }) => {
  await start();
  const other = await context.newPage();
  await other.goto(page.url());
  await ready(other);
  await page.getByTestId("demos").getByText("AdvantageKit").click();
  await expect(heads(page)).toHaveText(["demo_q12.rlog"]);
  await expect(heads(other)).toHaveText(["demo_q12.rlog"]);
  await other.getByTestId("close-log").click();
  await expect(page.getByTestId("drop")).toBeVisible();
  await other.close();
});

test("logs are added in a window over the views, too", async ({ start, page, picture }) => {
  await start(fileOf("frc"));
  await page.getByTestId("add-logs").click();
  await expect(page.getByRole("dialog", { name: "Add logs" })).toBeVisible();
  await picture("start-dialog");
  await page.getByRole("dialog").getByText("A damaged log").click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(heads(page)).toHaveText([basename(fileOf("frc")), "damaged.wpilog"]);
  await page.keyboard.press("Shift+O");
  await expect(page.getByRole("dialog", { name: "Add logs" })).toBeVisible();
  await page.keyboard.press("Escape");
});

refused("others on the network add nothing unless that is wanted", async ({ start, page, folder }) => {
  await start("--bind", "0.0.0.0", fileOf("frc"));
  await expect(page.getByTestId("add-logs")).toHaveCount(0);
  await expect(page.getByTestId("close-log")).toHaveCount(0);
  await drop(page, fileOf("rlog"));
  await expect(page.getByTestId("toast")).toContainText("--allow-upload");
  expect((await session(page)).logs).toHaveLength(1);
  await start("--bind", "0.0.0.0", "--allow-upload");
  await expect(page.getByTestId("drop")).toBeVisible();
  for (const id of ["recent", "connect"]) await expect(page.getByTestId(id)).toHaveCount(0);
  // Also a file that the server could read is copied.
  const file = join(folder, "match.rlog");
  copyFileSync(fileOf("rlog"), file);
  await drop(page, file);
  await expect(heads(page)).toHaveText(["match.rlog"]);
  expect((await session(page)).logs[0]?.uploaded).toBe(true);
});

for (const scheme of ["dark", "light"] as const) {
  test.describe(`at 1024 by 700, ${scheme}`, () => {
    test.use({ viewport: { width: 1024, height: 700 }, colorScheme: scheme });

    test("everything is to be seen and reached", async ({ start, page, picture }) => {
      await start();
      await picture(`start-1024-${scheme}`);
      for (const id of ["drop", "recent", "connect", "demos"]) await expect(page.getByTestId(id)).toBeInViewport();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
      await drop(page, fileOf("frc"), fileOf("rlog"));
      await expect(heads(page)).toHaveCount(2);
      await page.getByTestId("close-log").last().click();
      await page.getByTestId("add-logs").click();
      await picture(`start-1024-dialog-${scheme}`);
      await expect(page.getByRole("dialog").getByTestId("demos")).toBeVisible();
    });
  });
}

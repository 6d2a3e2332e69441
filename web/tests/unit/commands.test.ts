import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogInfo, Session } from "../../src/api";
import {
  catCommands,
  convertCommands,
  findCommands,
  grepCommands,
  moment,
  pattern,
  plotCommands,
  quote,
  seriesSql,
  sqlCommands,
  statsCommands,
  term,
  wideSql,
  xyCommands,
} from "../../src/output/commands";
import type { SeriesRef } from "../../src/model/series";
import type { CommandLine } from "../../src/model/view";

function log(id: number, path: string, more: Partial<LogInfo> = {}): LogInfo {
  return {
    id,
    name: path.replace(/.*\//, ""),
    path,
    uploaded: false,
    dialect: "rlog",
    format: "AdvantageKit RLOG",
    start: 1.2,
    end: 71.2,
    offset_ns: "0",
    unix_offset: null,
    channels: 1,
    samples: 1,
    bytes: 1,
    revision: 1,
    state: "finished",
    preset: "frc",
    facts: [],
    problems: [],
    problem_count: 0,
    damage: null,
    stragglers: [],
    alignment: null,
    ...more,
  };
}

function session(logs: LogInfo[], origin_ns = "0"): Session {
  const limits = { series: 64, width: 8192, points: 20000, rows: 1000, runs: 8192 };
  return { version: "0", title: "", origin_ns, start: 0, end: 80, sql: true, limits, revision: 1, adding: null, logs };
}

const ref = (name: string, path = "", of = 0, type?: string): SeriesRef =>
  type === undefined ? { log: of, name, path } : { log: of, name, path, type };

const texts = (lines: CommandLine[]): string[] => lines.map((line) => line.text);

const one = session([log(0, "demo/a b.rlog")]);
const two = session([log(0, "a.rlog"), log(1, "b.rlog")]);

describe("words", () => {
  test("a shell takes every word as it is", () => {
    expect(quote("/Drive/Pose.translation.x")).toBe("/Drive/Pose.translation.x");
    expect(quote("Auto Selected")).toBe("'Auto Selected'");
    expect(quote("it's")).toBe(`'it'\\''s'`);
    expect(quote("")).toBe("''");
    for (const word of ['$HOME `id` "x" \\ !', "a'b''c", "*?[x]", "~root", "ü\nnew line"]) {
      expect(execFileSync("/bin/sh", ["-c", `printf %s ${quote(word)}`], { encoding: "utf8" })).toBe(word);
    }
  });

  test("a pattern fits one name", () => {
    expect(pattern("/Drive/Pose")).toBe("/Drive/Pose");
    expect(pattern("/a[0]*?{x}\\")).toBe("/a[[]0][*][?][{]x[}][\\]");
    expect(pattern("re:x")).toBe("[r]e:x");
  });

  test("moments are on the log's own clock, to the nanosecond", () => {
    expect(moment(one, log(0, "x"), 12.5)).toBe("12.5");
    expect(moment(one, log(0, "x"), -0.25)).toBe("-0.25");
    expect(moment(one, log(0, "x"), 10.000000001)).toBe("10.000000001");
    expect(moment(one, log(0, "x", { offset_ns: "-1500000000" }), 2)).toBe("3.5");
    expect(moment(session([], "1774102953000000000"), log(0, "x"), 0.000000123)).toBe("1774102953.000000123");
  });
});

describe("lines", () => {
  test("name the file, the channels and the time", () => {
    const refs = [ref("/Drive/Pose", ".translation.x"), ref("/a[0]")];
    expect(texts(plotCommands(one, refs, { start: 10, end: 12.5 }))).toEqual([
      "logpose plot 'demo/a b.rlog' -y /Drive/Pose.translation.x -y '/a[[]0]' -S 10..12.5 -o 'a b.svg'",
    ]);
    expect(texts(catCommands(one, refs, { start: 0, end: 80 }))).toEqual([
      "logpose cat 'demo/a b.rlog' -y /Drive/Pose -y '/a[[]0]'",
    ]);
  });

  test("logs of which the same is chosen share a line, others have their own", () => {
    const both = [ref("/x"), ref("/x", "", 1)];
    expect(texts(plotCommands(two, both))).toEqual(["logpose plot a.rlog b.rlog -y /x -o a.svg"]);
    expect(catCommands(two, [ref("/x"), ref("/y", "", 1)])).toEqual([
      { label: "Samples (a.rlog)", text: "logpose cat a.rlog -y /x" },
      { label: "Samples (b.rlog)", text: "logpose cat b.rlog -y /y" },
    ]);
    const shifted = session([log(0, "a.rlog"), log(1, "b.rlog", { offset_ns: "1000000000" })]);
    expect(texts(statsCommands(shifted, both, { start: 10, end: 20 }))).toEqual([
      "logpose stats a.rlog -y /x -S 10..20",
      "logpose stats b.rlog -y /x -S 9..19",
    ]);
  });

  test("live sources and files that look like flags", () => {
    expect(plotCommands(session([log(0, "nt4://10.2.54.2", { state: "live" })]), [ref("/x")])).toEqual([]);
    expect(texts(catCommands(session([log(0, "-x.rlog")]), [ref("/x")]))).toEqual(["logpose cat ./-x.rlog -y /x"]);
    expect(texts(catCommands(session([log(0, "C:\\logs\\x.rlog")]), [ref("/x")]))).toEqual([
      "logpose cat 'C:\\logs\\x.rlog' -y /x",
    ]);
  });

  test("SQL names tables, parts and time", () => {
    expect(seriesSql(one, ref("/Pose", ".translation.x"), { start: 10, end: 11 })).toBe(
      `SELECT time, value['translation']['x'] AS "translation.x" FROM "/Pose" WHERE time_ns BETWEEN 10000000000 AND 11000000000 ORDER BY time`,
    );
    expect(seriesSql(two, ref(`/a"b`, "[0]", 1, "double[]"))).toBe(
      `SELECT time, value[1] AS "[0]" FROM "/a""b (double[])" WHERE log = 'b.rlog' ORDER BY time`,
    );
    expect(wideSql(one, [ref("/x"), ref("/it's")])).toEqual(["SELECT * FROM wide(NULL, '/x', '/it''s') ORDER BY time"]);
  });

  test("expressions and texts", () => {
    expect(texts(findCommands(one, [ref("/a b", ".x[1]")], `${term(ref("/a b", ".x[1]"))} < 3`))).toEqual([
      `logpose find '"/a b".x[1] < 3' 'demo/a b.rlog'`,
    ]);
    expect(texts(grepCommands(one, "a.b", []))).toEqual([`logpose grep -i 'a\\.b' 'demo/a b.rlog'`]);
    expect(texts(grepCommands(one, "/a|b/", [ref("console")]))).toEqual([
      `logpose grep -i -y console 'a|b' 'demo/a b.rlog'`,
    ]);
  });
});

// LOGPOSE_BIN=/path/to/logpose runs every kind of line.
const bin = process.env["LOGPOSE_BIN"];
if (!bin) console.warn('skipped: set LOGPOSE_BIN to run the lines of "copy as command"');

describe.skipIf(!bin)("every line runs", () => {
  let folder = "";
  let shown: Session;
  const pose = ref("/RealOutputs/Drive/Pose", ".translation.x");
  const battery = ref("/SystemStats/BatteryVoltage");
  const axes = ref("/DriverStation/Joystick0/AxisValues", "[1]");
  const speed = ref("/RealOutputs/Drive/ModuleStates", "[0].speed");
  const refs = [pose, battery, axes, speed];
  const window = { start: 30.1, end: 31.25 };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "logpose-commands-"));
    execFileSync(bin ?? "", ["demo", folder], { stdio: "ignore" });
    copyFileSync(join(folder, "demo_q12.rlog"), join(folder, "it's a log.rlog"));
    shown = session([log(0, "it's a log.rlog"), log(1, "demo_q12.rlog")]);
  }, 60_000);

  afterAll(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  /** What a line prints, run by a shell in the folder of the logs. */
  function run(line: string | undefined): string {
    const program = `logpose() { "$LOGPOSE_BIN" "$@"; }; ${line ?? "false"}`;
    return execFileSync("/bin/sh", ["-c", program], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  function made(line: string | undefined, name: string): number {
    const path = join(folder, name);
    if (existsSync(path)) rmSync(path);
    run(line);
    return statSync(path).size;
  }

  test("plot", () => {
    expect(made(plotCommands(shown, refs, window)[0]?.text, "it's a log.svg")).toBeGreaterThan(1000);
    const y = ref("/RealOutputs/Drive/Pose", ".translation.y");
    expect(made(xyCommands(shown, pose, y, window)[0]?.text, "it's a log.svg")).toBeGreaterThan(1000);
  });

  test("cat", () => {
    const text = run(catCommands(shown, [battery], window)[0]?.text);
    const rows = text.trim().split("\n");
    expect(rows.length).toBe(58);
    expect(rows[0]).toMatch(/^30\.100001 +\/SystemStats\/BatteryVoltage /);
  });

  test("stats", () => {
    const text = run(statsCommands(shown, refs, window)[0]?.text);
    for (const wanted of refs) expect(text).toContain(wanted.name + wanted.path);
  });

  test("convert", () => {
    for (const format of ["csv", "mcap", "parquet", "wpilog"] as const) {
      const [line] = convertCommands(shown, [battery], window, format);
      expect(made(line?.text, `it's a log.${format}`)).toBeGreaterThan(100);
    }
    expect(made(convertCommands(shown, refs, window, "csv", true)[0]?.text, "it's a log.csv")).toBeGreaterThan(1000);
  });

  test("find and grep", () => {
    for (const [wanted, condition] of [
      [battery, "< 99"],
      [pose, "> 0"],
      [axes, "> -2"],
      [speed, ">= 0"],
    ] as const) {
      const [line] = findCommands(shown, [wanted], `${term(wanted)} ${condition}`, window);
      expect(run(line?.text), line?.text).toMatch(/\d/);
    }
    expect(run(grepCommands(shown, "brownout", [])[0]?.text)).toContain("brownout");
    expect(run(grepCommands(shown, "/brown.ut$/", [ref("/RealOutputs/Console")])[0]?.text)).toContain("brownout");
  });

  test("SQL", () => {
    for (const wanted of refs) {
      const sql = seriesSql(shown, wanted, window);
      expect(sql).not.toBeNull();
      const text = run(`${sqlCommands(shown, sql ?? "")[0]?.text} --format csv`);
      expect(text.split("\r\n")[0]).toBe(`time,${wanted.path.replace(/^\./, "") || "value"}`);
      expect(text.trim().split("\n").length).toBeGreaterThan(40);
    }
    const length = seriesSql(shown, ref("/RealOutputs/Drive/ModuleStates", ".length")) ?? "";
    expect(run(`${sqlCommands(shown, length)[0]?.text} --format csv`)).toMatch(/,4\r\n/);
    const [wide] = wideSql(shown, refs, window);
    expect(run(`${sqlCommands(shown, wide ?? "")[0]?.text} --format csv`).split("\n").length).toBeGreaterThan(50);
  });
});

/** Tables, consoles, events, statistics and plots against answers that the server gave. */

import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { ApiError, postConsole, postRows, postStats, postTable } from "../../src/api";
import type { ConsoleRow, Events, Reference, Stats, TableRow, Window } from "../../src/api";
import { empty } from "../../src/views/events/config";
import { kindOf, ORDER } from "../../src/views/events/kinds";
import { allEvents, kindsOf, linesOf, passing } from "../../src/views/events/list";
import { everything, search } from "../../src/views/console/find";
import { joinAfter, upTo } from "../../src/lists/paging";
import { panelsOf } from "../../src/views/statistics/histogram";
import { add, empty as emptyTable, move, restore, WIDTH } from "../../src/views/table/config";
import { filtered } from "../../src/views/table/filter";
import { wholeOf } from "../../src/views/xy/plot";

const file = (name: string) => readFileSync(new URL(`../../../fixtures/api/${name}`, import.meta.url));
const json = <T>(name: string) => JSON.parse(file(name).toString()) as T;

interface Golden<Q, A> {
  query: Q;
  answer: A;
}

/** The next request is answered with these bytes; what was asked is kept. */
function answers(bytes: Uint8Array | string, status = 200): { path: string; body: unknown }[] {
  const asked: { path: string; body: unknown }[] = [];
  vi.stubGlobal("fetch", (path: string, init: { body: string }) => {
    asked.push({ path, body: JSON.parse(init.body) });
    return Promise.resolve(new Response(bytes as BodyInit, { status }));
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

test("rows of the table", async () => {
  type Query = Parameters<typeof postTable>[0];
  const { query, answer } = json<Golden<Query, { rows: TableRow[]; more: boolean }>>("frc-table.json");
  const asked = answers(JSON.stringify(answer));
  const page = await postTable(query);
  expect(asked).toEqual([{ path: "/api/table", body: query }]);
  expect(page).toEqual(answer);
  for (const row of page.rows) {
    expect(row.cells).toHaveLength(query.series.length);
    expect(row.fresh).toHaveLength(query.series.length);
    expect(row.fresh).toContain(true);
  }
  expect(upTo(page.rows, page.rows[1]?.time ?? NaN)).toBe(2);
  expect(joinAfter(page.rows, page.rows.slice(-1))).toEqual(page.rows);
});

test("rows are filtered by what is new in them", async () => {
  const { answer } = json<Golden<unknown, { rows: TableRow[]; more: boolean }>>("frc-table.json");
  const first = answer.rows[0];
  const text = first?.cells[first.fresh.indexOf(true)] ?? "";
  const pages = [answer, { rows: [], more: false }];
  const seen: number[] = [];
  const ask = (from: number) => {
    seen.push(from);
    return Promise.resolve(pages.shift() ?? { rows: [], more: false });
  };
  const page = await filtered(ask, 6, false, new RegExp(`^${text.replaceAll(".", "\\.")}$`, "g"), 1000);
  // The value also holds in rows behind, but it is new in one only.
  expect(page.rows).toEqual([first]);
  expect(page.more).toBe(false);
  expect(seen).toEqual([6, (answer.rows.at(-1)?.time ?? NaN) + 1e-9]);
});

test("columns are added once, moved, and read from what somebody wrote", () => {
  const config = emptyTable();
  const ref = (name: string) => ({ log: 0, name, path: "" });
  add(config, [ref("a"), ref("b"), ref("a")]);
  expect(config.columns.map((column) => column.ref.name)).toEqual(["a", "b"]);
  move(config, 0, 1);
  move(config, 0, 7);
  expect(config.columns.map((column) => column.ref.name)).toEqual(["b", "a"]);
  expect(restore(JSON.parse(JSON.stringify(config)))).toEqual(config);
  expect(restore({ columns: [{ ref: ref("a"), width: NaN }, null, 3] }).columns).toEqual([
    { ref: ref("a"), width: WIDTH },
  ]);
  for (const data of [null, 1, "x", [], { columns: 3, filter: 4 }]) expect(restore(data)).toEqual(emptyTable());
});

test("messages of the console", async () => {
  type Query = Parameters<typeof postConsole>[0];
  const { query, answer } = json<Golden<Query, { rows: ConsoleRow[]; more: boolean }>>("frc-console.json");
  answers(JSON.stringify(answer));
  const { rows } = await postConsole(query);
  expect(rows.map((row) => row.level)).toContain("warning");
  const ask = () => Promise.resolve({ ...answer, more: false });
  expect((await search(ask, -1, false, /brownout/gi))?.level).toBe("error");
  expect(await everything(ask, 0)).toEqual(answer.rows);
});

test("events of every dialect have kinds that look like something", () => {
  const all = allEvents(["frc", "ds", "carla", "refloat"].map((name) => json<Events>(`${name}-events.json`)));
  expect(all.length).toBeGreaterThan(4);
  for (const kind of kindsOf(all).keys()) {
    expect(ORDER).toContain(kind);
    expect(kindOf(kind).name).not.toBe("");
  }
  expect(passing(all, empty())).toHaveLength(all.length);
  const lines = linesOf(all, true, new Set());
  expect(lines.reduce((sum, line) => sum + line.events.length, 0)).toBe(all.length);
});

test("statistics become histograms", async () => {
  type Query = Window & { bins: number; series: Reference[] };
  const { query, answer } = json<Golden<Query, { series: Stats[] }>>("frc-stats.json");
  answers(JSON.stringify(answer));
  const stats = await postStats(query);
  expect(stats).toHaveLength(query.series.length);
  const panels = panelsOf(
    stats.map((one, place) => ({ name: String(place), unit: ["V", "m", ""][place] ?? "", stats: one, held: null })),
    false,
  );
  // A text has no numbers.
  expect(panels.map((panel) => panel.unit)).toEqual(["V", "m"]);
  const [volts] = panels;
  expect(volts?.across).toEqual({ low: stats[0]?.min, high: stats[0]?.max });
  expect(volts?.shapes[0]?.heights.reduce((sum, height) => sum + height, 0)).toBe(stats[0]?.count);
});

test("rows of series beside each other", async () => {
  const { rows: query } = json<{ rows: Window & { points: number; series: Reference[] } }>("frc-queries.json");
  answers(file("frc-rows.arrow"));
  const rows = await postRows(query);
  expect(rows.columns).toHaveLength(3);
  expect(rows.time.length).toBeLessThanOrEqual(query.points);
  expect(rows.downsampled).toBe(rows.samples > rows.time.length);
  for (const column of rows.columns) expect(column).toHaveLength(rows.time.length);
  const { x } = wholeOf(rows);
  expect(x.low).toBeLessThan(Math.min(...(rows.columns[0] ?? [])));
});

test("a refusal keeps the server's words", async () => {
  answers(file("refusal.json"), 404);
  const error = await postTable({ series: [], from: 0, limit: 1 }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).message).toBe("log 0 has no channel 999");
  expect((error as ApiError).help).toMatch(/lists the channels/);
});

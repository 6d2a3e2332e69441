import { expect, test } from "vitest";
import type { ConsoleRow } from "../../src/api";
import { empty, restore } from "../../src/views/console/config";
import { everything, search } from "../../src/views/console/find";
import { broken, columnsOf, linesOf, plain } from "../../src/views/console/lines";
import { expressionOf } from "../../src/lists/paging";

test("messages are without the codes of terminals", () => {
  expect(plain("\u001b[31mred\u001b[0m and \u001b[1;32mgreen\u001b[m")).toBe("red and green");
  expect(plain("\u001b]0;title\u0007text\u0000")).toBe("text");
  expect(plain("two\r\nlines\n\n")).toBe("two\nlines");
  expect(plain("a\tb")).toBe("a\tb");
});

test("lines are as long as they are on the screen", () => {
  expect(columnsOf("abc")).toBe(3);
  expect(columnsOf("a\tb")).toBe(9);
  expect(columnsOf("日本")).toBe(4);
  expect(linesOf("")).toBe(1);
  expect(linesOf("one\n\nthree")).toBe(3);
});

test("long lines are broken behind blanks, long words anywhere", () => {
  expect(broken("short", 10)).toBe("short");
  expect(broken("Warning at Intake.java:88: piece lost", 20)).toBe("Warning at\nIntake.java:88:\npiece lost");
  expect(broken("x".repeat(21), 10)).toBe(["x".repeat(10), "x".repeat(10), "x"].join("\n"));
  expect(broken("one two three   ", 8)).toBe("one two\nthree");
  expect(broken("日本日本日本", 8)).toBe("日本日本\n日本");
  expect(broken("x".repeat(500), Infinity)).toHaveLength(500);
});

const rows: ConsoleRow[] = Array.from({ length: 25 }, (_, place) => ({
  time: Math.floor(place / 2),
  log: 0,
  level: "info",
  source: "console",
  text: `message ${place}`,
}));

/** A server with pages of four rows. */
function ask(from: number, back = false): Promise<{ rows: ConsoleRow[]; more: boolean }> {
  const fits = rows.filter((row) => (back ? row.time < from : row.time >= from));
  const page = back ? fits.slice(-4) : fits.slice(0, 4);
  return Promise.resolve({ rows: page, more: fits.length > 4 });
}

test("a search goes on over pages, in both directions", async () => {
  expect((await search(ask, 0, false, expressionOf("message 21") ?? /x/))?.time).toBe(10);
  expect((await search(ask, 12, true, expressionOf("message 3") ?? /x/))?.time).toBe(1);
  expect(await search(ask, 0, false, expressionOf("nothing") ?? /x/)).toBeNull();
});

test("everything is everything, once", async () => {
  expect((await everything(ask, 0)).map((row) => row.text)).toEqual(rows.map((row) => row.text));
});

test("an invalid configuration becomes the default", () => {
  for (const data of [null, 3, "x", [], { levels: "x", include: 4, series: [{}] }]) {
    expect(restore(data)).toEqual(empty());
  }
  expect(restore({ levels: ["error", "odd"], wrap: false })).toEqual({ ...empty(), levels: ["error"], wrap: false });
});

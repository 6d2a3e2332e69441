import {
  Bool,
  DateMillisecond,
  Decimal,
  Float64,
  Int64,
  List,
  Field,
  Struct,
  Table,
  TimestampNanosecond,
  Utf8,
  vectorFromArray,
  type DataType,
} from "apache-arrow";
import { expect, test } from "vitest";
import type { LogInfo } from "../../src/api";
import { add, empty, remember, restore, REMEMBERED } from "../../src/views/sql/config";
import { examples } from "../../src/views/sql/examples";
import { columnsOf, drawable, exact, numbersOf, ordered, placeOf, short } from "../../src/views/sql/result";
import { grouped } from "../../src/views/sql/schema";

const pair = new Struct([new Field("x", new Float64(), true), new Field("name", new Utf8(), true)]);
const list = new List(new Field("item", new Float64(), true));

const table = new Table({
  time: vectorFromArray([0.5, 1, 1.5], new Float64()),
  value: vectorFromArray([0.1 + 0.2, null, -0], new Float64()),
  count: vectorFromArray([1n, 2n, 9007199254740993n], new Int64()),
  flag: vectorFromArray([true, false, null], new Bool()),
  pair: vectorFromArray([{ x: 1, name: "a" }, { x: NaN, name: null }, null], pair),
  list: vectorFromArray([[1, 2], [], null], list),
  day: vectorFromArray([new Date(0), null, null], new DateMillisecond()),
});

test("values are text by their types", () => {
  const [, value, count, flag, struct, numbers, day] = columnsOf(table);
  const texts = (column: typeof value, how: typeof exact) =>
    column ? Array.from({ length: 3 }, (_, row) => how(column.vector.get(row), column.field.type as DataType)) : [];
  expect(texts(value, exact)).toEqual(["0.30000000000000004", null, "-0"]);
  expect(texts(value, short)).toEqual(["0.3", null, "0"]);
  expect(texts(count, exact)).toEqual(["1", "2", "9007199254740993"]);
  expect(texts(flag, exact)).toEqual(["true", "false", null]);
  expect(texts(struct, exact)).toEqual(["{x: 1, name: a}", "{x: NaN, name: null}", null]);
  expect(texts(numbers, exact)).toEqual(["[1, 2]", "[]", null]);
  expect(texts(day, exact)).toEqual(["1970-01-01T00:00:00Z", null, null]);
  expect(columnsOf(table).map((column) => column.type)).toEqual([
    "float64",
    "float64",
    "int64",
    "boolean",
    "struct",
    "list of float64",
    "date64<millisecond>",
  ]);
});

test("decimals keep their digits", () => {
  const type = new Decimal(2, 10, 128);
  expect(exact(Uint32Array.of(12345, 0, 0, 0), type)).toBe("123.45");
  expect(exact(Uint32Array.of(2 ** 32 - 5, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1), type)).toBe("-0.05");
});

test("an answer over time can be drawn", () => {
  const found = drawable(columnsOf(table));
  expect(found?.x.name).toBe("time");
  expect(found?.y.map((column) => column.name)).toEqual(["value", "count"]);
  const value = found?.y[0];
  expect(value && [...numbersOf(value)]).toEqual([0.1 + 0.2, NaN, -0]);
  expect(drawable(columnsOf(table.select(["flag", "value"])))).toBeNull();
  expect(drawable(columnsOf(table.select(["time"])))).toBeNull();
  const down = new Table({
    a: vectorFromArray([3, 2, 1], new Float64()),
    b: vectorFromArray([1, 2, 3], new Float64()),
  });
  expect(drawable(columnsOf(down))).toBeNull();
  const wall = new Table({
    at: vectorFromArray([0, 1], new TimestampNanosecond()),
    b: vectorFromArray([1, 2], new Float64()),
  });
  expect(drawable(columnsOf(wall))?.x.name).toBe("at");
});

test("rows are put in order, nothing last", () => {
  const [, value, count] = columnsOf(table);
  expect(value && ordered(value, false)).toEqual([2, 0, 1]);
  expect(value && ordered(value, true)).toEqual([0, 2, 1]);
  expect(count && ordered(count, true)).toEqual([2, 1, 0]);
});

test("errors show their position", () => {
  expect(placeOf("line 1, column 1: expected an SQL statement", "SELEC 1")).toEqual({ start: 0, end: 5 });
  expect(placeOf("line 2, column 6: no such", 'SELECT 1\nFROM "a b"')).toEqual({ start: 14, end: 19 });
  expect(placeOf("there is no column", "SELECT x")).toBeNull();
  expect(placeOf("line 9, column 1: x", "SELECT x")).toBeNull();
});

test("questions are remembered, the newest first", () => {
  const config = empty();
  for (let count = 0; count < 40; count++) remember(config, `SELECT ${count % 35}`);
  expect(config.history).toHaveLength(REMEMBERED);
  expect(config.history[0]).toBe("SELECT 4");
  expect(restore(JSON.parse(JSON.stringify(config)))).toEqual(config);
  for (const data of [null, 1, [], { history: "x" }]) expect(restore(data)).toEqual(empty());
});

test("a channel becomes a question", () => {
  const config = empty();
  add(config, [{ log: 0, name: '/a"b', path: "" }]);
  expect(config.sql).toBe('SELECT * FROM "/a""b"');
});

test("tables of all logs come before channels", () => {
  const rows: [string, string, string][] = [
    ["/b", "time", "Float64"],
    ["samples", "channel", "Dictionary(Int32, Utf8)"],
    ["samples", "numbers", "List(Float64)"],
    ["/a (double)", "value", 'Struct("x": Float64)'],
  ];
  expect(grouped(rows, new Set(["/a", "/b"]))).toEqual([
    {
      name: "samples",
      channel: false,
      columns: [
        { name: "channel", type: "text" },
        { name: "numbers", type: "list of double" },
      ],
    },
    { name: "/a (double)", channel: true, columns: [{ name: "value", type: "struct" }] },
    { name: "/b", channel: true, columns: [{ name: "time", type: "double" }] },
  ]);
});

test("examples fit the logs", () => {
  const labels = (preset: string) => examples([{ preset } as LogInfo]).map((example) => example.label);
  expect(labels("frc")[0]).toBe("Modes");
  expect(labels("carla")[0]).toBe("Collisions");
  expect(labels("general")).toHaveLength(2);
});

import { expect, test } from "vitest";
import type { TableRow } from "../../src/api";
import { byLoop } from "../../src/views/table/loops";

const row = (time: number, cells: (string | null)[], ...fresh: number[]) => ({
  ...{ time, cells, fresh: cells.map((_, place) => fresh.includes(place)) },
});

test("what one loop logs is one row", () => {
  const rows = [
    row(6.200101, ["1", null, null], 0),
    row(6.200103, ["1", "2", null], 1),
    row(6.200104, ["1", "2", "3"], 2),
    row(6.220101, ["4", "2", "3"], 0),
    row(6.220102, ["4", "5", "3"], 1),
  ];
  expect(byLoop(rows, new WeakMap())).toEqual([
    row(6.200101, ["1", "2", "3"], 0, 1, 2),
    row(6.220101, ["4", "5", "3"], 0, 1),
  ]);
});

test("a channel that comes twice begins another row, and so does a pause", () => {
  const rows = [row(1, ["1", null], 0), row(1.001, ["2", null], 0), row(1.002, ["2", "3"], 1), row(1.2, ["2", "4"], 1)];
  expect(byLoop(rows, new WeakMap()).map(({ time, cells }) => [time, ...cells])).toEqual([
    [1, "1", null],
    [1.001, "2", "3"],
    [1.2, "2", "4"],
  ]);
});

test("rows that stay are the same objects", () => {
  const rows = [row(1, ["1", null], 0), row(1.001, ["1", "2"], 1), row(2, ["3", "2"], 0)];
  const known = new WeakMap<TableRow, TableRow>();
  const before = byLoop(rows, known);
  const after = byLoop([row(0.5, ["0", null], 0), ...rows], known);
  expect(after.slice(1)).toEqual(before);
  expect(after[1]).toBe(before[0]);
  expect(after[2]).toBe(before[1]);
});

import { describe, expect, it } from "vitest";
import type { Trace } from "../../src/api";
import { Tail } from "../../src/store/tail";

function samples(from: number, count: number): Trace {
  const t = Float64Array.from({ length: count }, (_, place) => from + place);
  return {
    start: t,
    end: t,
    first: t,
    min: t,
    max: t,
    last: t,
    samples: count,
    raw: true,
    series_min: null,
    series_max: null,
  };
}

describe("the tail of a live series", () => {
  it("is bounded and keeps the newest", () => {
    const tail = new Tail(100);
    for (let turn = 0; turn < 50; turn++) tail.push(samples(turn * 7, 7));
    expect(tail.length).toBeLessThanOrEqual(100);
    const piece = tail.behind(-Infinity, 0, 1000);
    expect(piece?.data.start.at(-1)).toBe(349);
    const t = [...(piece?.data.start ?? [])];
    expect(t.every((time, place) => place === 0 || time === (t[place - 1] ?? 0) + 1)).toBe(true);
    tail.push(samples(1000, 500));
    expect(tail.behind(-Infinity, 0, 2000)?.data.start.at(-1)).toBe(1499);
  });

  it("takes nothing twice", () => {
    const tail = new Tail(100);
    tail.push(samples(0, 10));
    tail.push(samples(5, 10));
    expect([...(tail.behind(-Infinity, 0, 100)?.data.start ?? [])]).toEqual(Array.from({ length: 15 }, (_, t) => t));
  });

  it("goes on where tiles end", () => {
    const tail = new Tail(100);
    tail.push(samples(0, 10));
    expect([...(tail.behind(6, 0, 100)?.data.start ?? [])]).toEqual([7, 8, 9]);
    expect(tail.behind(9, 0, 100)).toBeNull();
    expect(tail.behind(2, 20, 30)).toBeNull();
  });
});

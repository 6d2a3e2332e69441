import { describe, expect, it } from "vitest";
import type { Reference } from "../../src/api";
import { TILE, Tiles } from "../../src/store/tiles";
import type { Query } from "../../src/store/tiles";

interface Answer {
  query: Query;
  place: number;
}

/** A store whose server answers when the test says so. */
function setup(bounds = { first: 0, last: 1000, live: false }, most = 1e9) {
  const asked: { query: Query; answer: () => Promise<void>; fail: () => Promise<void> }[] = [];
  let flush: (() => void) | null = null;
  const state = { changes: 0, now: 0, bounds };
  const settle = async () => {
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  };
  const tiles = new Tiles<Answer>(
    {
      fetch: (query) =>
        new Promise((resolve, reject) => {
          asked.push({
            query,
            answer: () => {
              resolve(query.series.map((_, place) => ({ query, place })));
              return settle();
            },
            fail: () => {
              reject(new Error("no"));
              return settle();
            },
          });
        }),
      size: () => 100,
      limits: () => ({ series: 64, width: 8192 }),
      bounds: () => state.bounds,
      changed: () => state.changes++,
      schedule: (run) => (flush = run),
      now: () => state.now,
    },
    most,
  );
  const run = () => {
    const due = flush;
    flush = null;
    due?.();
  };
  return { tiles, asked, run, state };
}

const a: Reference = { log: 0, channel: 1 };
const b: Reference = { log: 0, channel: 2, path: ".x" };
const spans = (pieces: { from: number; to: number }[]) => pieces.map(({ from, to }) => [from, to]);

describe("tiles", () => {
  it("are at least as fine as the screen", () => {
    for (const [span, width] of [
      [10, 1000],
      [1e-5, 1920],
      [86400, 300],
    ] as const) {
      const length = 2 ** Tiles.level(span, width);
      expect(TILE / length).toBeGreaterThanOrEqual(width / span);
      expect(TILE / length).toBeLessThan((2 * width) / span);
    }
  });

  it("of several series and several who draw come with one request", async () => {
    const { tiles, asked, run } = setup();
    const [one, other] = [tiles.watch(), tiles.watch()];
    expect(one.ask([a], 0, 15, 1024)[0]?.pieces).toEqual([]);
    other.ask([a, b], 0, 15, 1024);
    run();
    expect(asked.length).toBe(1);
    expect(asked[0]?.query).toEqual({ start: 0, end: 16, width: 2048, series: [a, b] });
    await asked[0]?.answer();
    const view = other.ask([a, b], 0, 15, 1024)[1];
    expect(view?.exact).toBe(true);
    expect(spans(view?.pieces ?? [])).toEqual([[0, 16]]);
    expect(view?.pieces[0]?.data.place).toBe(1);
  });

  it("that are known are shown at once, coarser or finer than wanted", async () => {
    const { tiles, asked, run } = setup();
    const watch = tiles.watch();
    watch.ask([a], 0, 15, 1024);
    run();
    await asked[0]?.answer();
    const finer = watch.ask([a], 4, 6, 1024)[0];
    expect([finer?.exact, spans(finer?.pieces ?? [])]).toEqual([false, [[4, 8]]]);
    const coarser = watch.ask([a], 0, 31, 1024)[0];
    expect([coarser?.exact, spans(coarser?.pieces ?? [])]).toEqual([false, [[0, 16]]]);
  });

  it("beside what is seen are fetched ahead, and change no picture", async () => {
    const { tiles, asked, run, state } = setup();
    const watch = tiles.watch();
    watch.ask([a], 100, 110, 1024);
    run();
    await asked[0]?.answer();
    const before = state.changes;
    watch.ask([a], 100, 110, 1024);
    run();
    expect(asked.slice(1).map(({ query }) => [query.start, query.end])).toEqual([
      [88, 96],
      [112, 120],
    ]);
    await asked[1]?.answer();
    await asked[2]?.answer();
    expect(state.changes).toBe(before);
    run();
    expect(asked.slice(3).map(({ query }) => [query.start, query.end])).toEqual([[96, 112]]);
    expect(watch.ask([a], 104, 117, 1024)[0]?.exact).toBe(true);
  });

  it("do not flood the server, and only the newest wish is sent", async () => {
    const { tiles, asked, run } = setup();
    const watch = tiles.watch();
    for (let step = 0; step < 10; step++) {
      watch.ask([a], step * 50, step * 50 + 10, 1024);
      run();
    }
    expect(asked.length).toBe(2);
    await asked[0]?.answer();
    run();
    expect(asked[2]?.query.start).toBe(448);
  });

  it("are not asked for beyond the logs", () => {
    const { tiles, asked, run } = setup({ first: 0, last: 10, live: false });
    tiles.watch().ask([a], -1000, 2000, 1024);
    run();
    expect(asked[0]?.query).toMatchObject({ start: 0, end: 2048 });
  });

  it("that fail are asked for again later, not at once", async () => {
    const { tiles, asked, run, state } = setup();
    const watch = tiles.watch();
    watch.ask([a], 0, 15, 1024);
    run();
    await asked[0]?.fail();
    expect(tiles.trouble).toBe("no");
    run();
    watch.ask([a], 0, 15, 1024);
    run();
    expect(asked.length).toBe(1);
    state.now = 3000;
    watch.ask([a], 0, 15, 1024);
    run();
    expect(asked.length).toBe(2);
    await asked[1]?.answer();
    expect(tiles.trouble).toBeNull();
  });

  it("of a log that grows are renewed at its end only", async () => {
    const { tiles, asked, run, state } = setup({ first: 0, last: 12, live: true });
    const watch = tiles.watch();
    watch.ask([a], 0, 15, 1024);
    run();
    await asked[0]?.answer();
    state.now = 5000;
    state.bounds = { first: 0, last: 14, live: true };
    expect(watch.ask([a], 0, 15, 1024)[0]?.pieces.length).toBe(1);
    run();
    expect(asked[1]?.query).toMatchObject({ start: 8, end: 16 });
  });

  it("that were not drawn for long are dropped", async () => {
    const { tiles, asked, run } = setup({ first: 0, last: 1e6, live: false }, 1000);
    const watch = tiles.watch();
    for (let step = 0; step < 40; step++) {
      watch.ask([a], step * 100, step * 100 + 7, 1024);
      run();
      await asked.at(-1)?.answer();
    }
    expect(tiles.size).toBeLessThanOrEqual(1000);
    tiles.forget();
    expect(tiles.size).toBe(0);
  });
});

/** Which tiles of a recording are needed, and how fine. */

/** About so many rows are in a tile. */
const TILE_ROWS = 40_000;
/** About so many rows are kept. */
const KEPT_ROWS = 1_500_000;
/** The shortest and the longest tile, in seconds. */
const SHORTEST = 1;
const LONGEST = 64;
/** Seconds of the wall that are fetched ahead while it plays. */
const AHEAD = 4;

/** How long a tile is where there are so many rows per second: a power of two. */
export function lengthOf(rowsPerSecond: number): number {
  const seconds = TILE_ROWS / Math.max(rowsPerSecond, 1);
  return Math.min(Math.max(2 ** Math.floor(Math.log2(seconds)), SHORTEST), LONGEST);
}

/** How many tiles of so many rows are kept: enough for what is shown, and never endless. */
export function budget(rowsPerTile: number): number {
  return Math.min(Math.max(Math.floor(KEPT_ROWS / Math.max(rowsPerTile, 1)), 6), 64);
}

/** How far apart frames may be: every one up to four times the speed; beyond that not every frame is visible. */
export function stepOf(speed: number): number {
  return speed <= 4 ? 0 : speed / 80;
}

/** The places of tiles that are needed, the most urgent first: the cursor's own, what comes, the trails behind it. */
export function wanted(t: number, back: number, speed: number, length: number, playing: boolean): number[] {
  if (!(length > 0)) return [];
  const here = Math.floor(t / length);
  const last = Math.floor((t + (playing ? AHEAD * speed : 0)) / length);
  const first = Math.floor((t - back) / length);
  const places = [here];
  for (let place = here + 1; place <= Math.max(last, here + 1); place++) places.push(place);
  for (let place = here - 1; place >= Math.min(first, here - 1); place--) places.push(place);
  return places;
}

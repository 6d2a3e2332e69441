/** Where actors are: an answer of `/carla/motion` sorted by lives, and any moment in it. */

import type { Table } from "apache-arrow";
import type { ActorList } from "./cast";

/** The columns of an answer, in the order of time, then of actors. */
export interface Motion {
  t: Float64Array;
  actor: Uint32Array;
  x: Float32Array;
  y: Float32Array;
  z: Float32Array;
  roll: Float32Array;
  pitch: Float32Array;
  yaw: Float32Array;
  speed: Float32Array;
  lights: Uint32Array;
}

export function motionOf(table: Table): Motion {
  const column = <A>(name: string, none: A): A => (table.getChild(name)?.toArray() as A | undefined) ?? none;
  const [floats, ints] = [new Float32Array(), new Uint32Array()];
  return {
    t: column("time", new Float64Array()),
    actor: column("actor", ints),
    x: column("x", floats),
    y: column("y", floats),
    z: column("z", floats),
    roll: column("roll", floats),
    pitch: column("pitch", floats),
    yaw: column("yaw", floats),
    speed: column("speed", floats),
    lights: column("lights", ints),
  };
}

/** All actors at one moment: a place in all columns for each one present. Reused from frame to frame. */
export class Snapshot {
  count = 0;
  life = new Int32Array(64);
  x = new Float32Array(64);
  y = new Float32Array(64);
  z = new Float32Array(64);
  roll = new Float32Array(64);
  pitch = new Float32Array(64);
  yaw = new Float32Array(64);
  speed = new Float32Array(64);
  lights = new Uint32Array(64);

  /** Makes room for one more, and gives its place. */
  add(): number {
    if (this.count === this.life.length) {
      const grow = <A extends Int32Array | Float32Array | Uint32Array>(from: A): A => {
        const to = new (from.constructor as new (length: number) => A)(from.length * 2);
        to.set(from);
        return to;
      };
      this.life = grow(this.life);
      this.x = grow(this.x);
      this.y = grow(this.y);
      this.z = grow(this.z);
      this.roll = grow(this.roll);
      this.pitch = grow(this.pitch);
      this.yaw = grow(this.yaw);
      this.speed = grow(this.speed);
      this.lights = grow(this.lights);
    }
    return this.count++;
  }

  /** The place of a life; -1 if it is not there. */
  find(life: number): number {
    for (let place = 0; place < this.count; place++) if (this.life[place] === life) return place;
    return -1;
  }
}

/** The shorter way between two angles in degrees. */
export function shorterWay(degrees: number): number {
  const turn = degrees % 360;
  if (turn > 180) return turn - 360;
  return turn < -180 ? turn + 360 : turn;
}

/** The motion in one time range, actor by actor. */
export class Tile {
  /** The lives that are in it, and where the rows of each begin; one more at the end. */
  readonly lives: Int32Array;
  readonly starts: Int32Array;
  readonly rows: Motion;
  readonly #slots = new Map<number, number>();

  constructor(
    readonly start: number,
    readonly end: number,
    motion: Motion,
    private readonly cast: ActorList,
  ) {
    const count = motion.t.length;
    const owner = new Int32Array(count);
    const slots = this.#slots;
    const sizes: number[] = [];
    const lives: number[] = [];
    for (let row = 0; row < count; row++) {
      const life = cast.seen(motion.actor[row] ?? 0, motion.t[row] ?? 0);
      let slot = slots.get(life);
      if (slot === undefined) {
        slot = lives.length;
        slots.set(life, slot);
        lives.push(life);
        sizes.push(0);
      }
      owner[row] = slot;
      sizes[slot] = (sizes[slot] ?? 0) + 1;
    }
    this.lives = Int32Array.from(lives);
    this.starts = new Int32Array(lives.length + 1);
    for (let slot = 0; slot < lives.length; slot++) {
      this.starts[slot + 1] = (this.starts[slot] ?? 0) + (sizes[slot] ?? 0);
    }
    // Rows are in the order of time, and stay so within a life.
    const next = this.starts.slice();
    const order = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      const slot = owner[row] ?? 0;
      const to = next[slot] ?? 0;
      next[slot] = to + 1;
      order[to] = row;
    }
    this.rows = {
      t: pick(motion.t, order, new Float64Array(count)),
      actor: pick(motion.actor, order, new Uint32Array(count)),
      x: pick(motion.x, order, new Float32Array(count)),
      y: pick(motion.y, order, new Float32Array(count)),
      z: pick(motion.z, order, new Float32Array(count)),
      roll: pick(motion.roll, order, new Float32Array(count)),
      pitch: pick(motion.pitch, order, new Float32Array(count)),
      yaw: pick(motion.yaw, order, new Float32Array(count)),
      speed: pick(motion.speed, order, new Float32Array(count)),
      lights: pick(motion.lights, order, new Uint32Array(count)),
    };
  }

  /** The place of a life among those that are in it; -1 if it is not. */
  slotOf(life: number): number {
    return this.#slots.get(life) ?? -1;
  }

  /** The last row of a life's rows that is not behind `t`; -1 if all are. */
  rowAt(slot: number, t: number): number {
    let low = this.starts[slot] ?? 0;
    const first = low;
    let high = this.starts[slot + 1] ?? low;
    const { t: times } = this.rows;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[middle] ?? 0) <= t) low = middle + 1;
      else high = middle;
    }
    return low > first ? low - 1 : -1;
  }

  /** Everybody at a moment: between the frames around it, on a line, and angles along the shorter way. */
  sample(t: number, out: Snapshot): void {
    out.count = 0;
    for (let slot = 0; slot < this.lives.length; slot++) this.#put(slot, t, out);
  }

  /** One life at a moment; false if it is not there. */
  sampleOne(life: number, t: number, out: Snapshot): boolean {
    out.count = 0;
    const slot = this.slotOf(life);
    if (slot >= 0) this.#put(slot, t, out);
    return out.count > 0;
  }

  #put(slot: number, t: number, out: Snapshot): void {
    const { rows } = this;
    const place = this.lives[slot] ?? -1;
    const life = this.cast.lives[place];
    if (!life || (life.destroyed !== null && t >= life.destroyed)) return;
    const row = this.rowAt(slot, t);
    if (row < 0) return;
    const next = row + 1 < (this.starts[slot + 1] ?? 0) ? row + 1 : row;
    const from = rows.t[row] ?? 0;
    const span = (rows.t[next] ?? 0) - from;
    const part = span > 0 ? (t - from) / span : 0;
    const at = out.add();
    out.life[at] = place;
    out.x[at] = mix(rows.x, row, next, part);
    out.y[at] = mix(rows.y, row, next, part);
    out.z[at] = mix(rows.z, row, next, part);
    out.roll[at] = turn(rows.roll, row, next, part);
    out.pitch[at] = turn(rows.pitch, row, next, part);
    out.yaw[at] = turn(rows.yaw, row, next, part);
    // Speeds and lights are those of the frame, as `logpose carla state` has them.
    out.speed[at] = rows.speed[row] ?? NaN;
    out.lights[at] = rows.lights[row] ?? 0;
  }
}

function pick<A extends Float32Array | Float64Array | Uint32Array>(from: A, order: Int32Array, to: A): A {
  for (let place = 0; place < order.length; place++) to[place] = from[order[place] ?? 0] ?? 0;
  return to;
}

function mix(column: Float32Array, row: number, next: number, part: number): number {
  const from = column[row] ?? 0;
  return from + ((column[next] ?? from) - from) * part;
}

function turn(column: Float32Array, row: number, next: number, part: number): number {
  const from = column[row] ?? 0;
  return from + shorterWay((column[next] ?? from) - from) * part;
}

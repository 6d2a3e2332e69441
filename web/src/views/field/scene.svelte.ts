/** What a field shows at the cursor: where its sources are, where time was spent, and the picture of it all. */

import { ROLES } from "../../field/kinds";
import { allianceOf, allianceRef } from "../../field/alliance";
import { placeOf } from "../../field/places";
import { Backdrop, color, faded, seriesColor, type Context } from "../../draw/canvas";
import { decodePoses, poseText } from "../../poses/poses";
import { clock } from "../../store/clock.svelte";
import { valuesAtCursor } from "../../store/values.svelte";
import { motionOf } from "../../store/motion.svelte";
import { rowsOf } from "../../store/rows.svelte";
import { type FieldConfig } from "./config";
import { drawArrow, drawField, drawPoint, drawRobot, drawTrajectory } from "./draw";
import { Camera, fromField, type Viewport, type Spot } from "./geometry";
import { heatOf, heatPixels, ramp } from "./heat";
import { spotOf, spotsOf } from "./poser";

export interface Point {
  x: number;
  y: number;
}

/** To be made while a component is. */
export class Scene {
  readonly #config: () => FieldConfig;
  readonly config = $derived.by(() => this.#config());

  readonly places = $derived.by(() => this.config.sources.map((source) => placeOf(source.ref, source.reading)));
  readonly shown = $derived.by(() =>
    this.config.sources.map((source, at) => !source.hidden && this.places[at] !== null),
  );
  readonly mainLog = $derived.by(() => this.config.sources[0]?.ref.log ?? 0);

  readonly #motion = motionOf(
    () => this.places.map((place) => ({ refs: place?.single?.refs ?? [] })),
    () => this.config.trail,
  );
  readonly #held = valuesAtCursor(() => this.config.sources.map(({ ref }) => ref));
  readonly #many = $derived.by(() =>
    this.config.sources.map(({ reading }, at) => {
      const value = this.shown[at] ? this.#held.values[at] : null;
      return value ? spotsOf(decodePoses(value.value, reading), this.config.origin, this.config.size) : [];
    }),
  );
  readonly #station = valuesAtCursor(() => [allianceRef(this.mainLog)].filter((ref) => ref !== null));
  readonly #alliance = $derived.by(() =>
    this.config.alliance === "auto" ? allianceOf(this.#station.values[0]?.value) : this.config.alliance,
  );

  camera = new Camera(1, 1, { length: 1, width: 1 }, 0, null, 0);
  readonly #backdrop = new Backdrop();
  readonly #buffer = new Float64Array(16);
  readonly #spot: Spot = { x: 0, y: 0, yaw: 0 };

  constructor(config: () => FieldConfig) {
    this.#config = config;
  }

  /** Where a source is now, into `#spot`; between samples while it plays. */
  #find(at: number, smooth: boolean): boolean {
    const { origin, size } = this.config;
    const single = this.places[at]?.single;
    if (single && !clock.live) {
      const part = this.#motion.at(at, clock.cursor, this.#buffer);
      if (!Number.isNaN(part)) return spotOf(single, this.#buffer, smooth ? part : 0, origin, size, this.#spot);
    }
    // Lists, logs that grow, and what is still on its way: what was asked for at the cursor.
    const first = this.#many[at]?.[0];
    if (!first) return false;
    Object.assign(this.#spot, first);
    return true;
  }

  /** As the log has it: nothing between samples. */
  readonly readouts = $derived.by(() =>
    this.config.sources.map((source, at) => {
      if (!this.places[at]) return "not in this log";
      if (source.role === "heat") return this.heat ? `${this.heat.seconds.toFixed(1)} s` : "…";
      if (source.hidden) return "";
      const count = this.#many[at]?.length ?? 0;
      if (!this.places[at]?.single) return count === 1 ? "1 pose" : `${count} poses`;
      if (!this.#find(at, false)) return "no value yet";
      const { origin, size } = this.config;
      const { x, y, yaw } = this.#spot;
      const turned = origin === "red" ? yaw - Math.PI * Math.sign(yaw || 1) : yaw;
      return poseText({ ...fromField(x, y, origin, size), yaw: turned });
    }),
  );

  /** What is at a place of the field: its coordinates, and the robot that stands there. */
  at(point: Point): Point & { robot: string } {
    const { origin, size, robot, sources } = this.config;
    let near = Math.hypot(robot.length, robot.width) / 2;
    let found = "";
    for (const [at, { role }] of sources.entries()) {
      if (!this.shown[at] || (role !== "robot" && role !== "ghost") || !this.#find(at, false)) continue;
      const away = Math.hypot(this.#spot.x - point.x, this.#spot.y - point.y);
      if (away > near) continue;
      near = away;
      found = `${ROLES[role]} ${this.readouts[at] ?? ""}`;
    }
    return { ...fromField(point.x, point.y, origin, size), robot: found };
  }

  // Where time was spent.

  readonly heatAt = $derived.by(() =>
    this.config.sources.findIndex((source, at) => source.role === "heat" && this.shown[at]),
  );
  readonly #heatRange = $derived.by(() => {
    if (this.heatAt < 0) return null;
    if (this.config.heat === "all") return { start: clock.first, end: clock.last };
    if (this.config.heat === "selection" && clock.selection) return { ...clock.selection };
    return { start: clock.start, end: clock.end };
  });
  readonly #heatRows = rowsOf(
    () => this.places[this.heatAt]?.single?.refs ?? [],
    () => this.#heatRange,
    20000,
  );
  readonly heat = $derived.by(() => {
    const [rows, single, range] = [this.#heatRows.rows, this.places[this.heatAt]?.single, this.#heatRange];
    if (!rows || !single || !range) return null;
    const { origin, size } = this.config;
    const [x, y] = [new Float64Array(rows.time.length), new Float64Array(rows.time.length)];
    const values = new Float64Array(single.refs.length);
    const here: Spot = { x: 0, y: 0, yaw: 0 };
    for (let row = 0; row < rows.time.length; row++) {
      for (let column = 0; column < values.length; column++) values[column] = rows.columns[column]?.[row] ?? NaN;
      const known = spotOf(single, values, 0, origin, size, here);
      x[row] = known ? here.x : NaN;
      y[row] = known ? here.y : NaN;
    }
    return heatOf(rows.time, x, y, size, Math.min(range.end, clock.last), Math.max(size.length, size.width) / 165);
  });
  #heatsMade = 0;
  readonly #heatPicture = $derived.by(() => {
    const { heat } = this;
    if (!heat || heat.most <= 0) return null;
    const table = ramp(["--heat-0", "--heat-1", "--heat-2", "--heat-3"].map(color));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [heat.columns, heat.rows];
    canvas.getContext("2d")?.putImageData(new ImageData(heatPixels(heat, table), heat.columns), 0, 0);
    return { canvas, number: ++this.#heatsMade };
  });

  // The picture.

  paint(context: Context, width: number, height: number): void {
    const { sources, look, follow, size, turn } = this.config;
    const main = sources.findIndex((source, at) => source.role === "robot" && this.shown[at]);
    const robot = main >= 0 && this.#find(main, clock.playing) ? { ...this.#spot } : null;
    const seen: Viewport | null = follow && robot ? { zoom: look?.zoom ?? 2.5, x: robot.x, y: robot.y } : look;
    this.camera = new Camera(width, height, size, turn, seen, width < 420 || height < 260 ? 18 : 30);
    this.#paintBackdrop(context, width, height);
    for (const [at, { role, color: place }] of sources.entries()) {
      if (!this.shown[at]) continue;
      const hue = seriesColor(place);
      if (role === "trajectory") drawTrajectory(context, this.camera, this.#spots(at), hue);
      else if (role === "robot" || role === "ghost") this.#paintTrail(context, at, hue);
      else if (role !== "heat") this.#paintMarks(context, at, hue, robot);
    }
    for (const role of ["ghost", "robot"] as const) {
      for (const [at, source] of sources.entries()) {
        if (this.shown[at] && source.role === role) this.#paintRobots(context, at, role === "ghost");
      }
    }
  }

  #paintBackdrop(context: Context, width: number, height: number): void {
    const { camera } = this;
    const { field, origin, size, turn } = this.config;
    const heat = this.#heatPicture;
    const from = `${camera.px(0, 0)} ${camera.py(0, 0)} ${camera.scale} ${turn}`;
    const key = `${from} ${field} ${size.length} ${size.width} ${origin} ${heat?.number ?? 0}`;
    this.#backdrop.draw(context, width, height, key, (behind) => {
      drawField(behind, camera, field, size, origin);
      if (!heat) return;
      behind.save();
      behind.translate(camera.px(0, size.width), camera.py(0, size.width));
      behind.rotate(camera.angle(0));
      behind.imageSmoothingQuality = "high";
      behind.drawImage(heat.canvas, 0, 0, size.length * camera.scale, size.width * camera.scale);
      behind.restore();
    });
  }

  /** The places of a source, also if it is only one. */
  #spots(at: number): Spot[] {
    if (!this.places[at]?.single) return this.#many[at] ?? [];
    return this.#find(at, clock.playing) ? [{ ...this.#spot }] : [];
  }

  #paintRobots(context: Context, at: number, ghost: boolean): void {
    const mark = seriesColor(this.config.sources[at]?.color ?? 0);
    const bumper = this.#alliance ? color(this.#alliance === "red" ? "--red" : "--blue") : mark;
    const look = { size: this.config.robot, bumper, mark, ghost };
    for (const { x, y, yaw } of this.#spots(at)) drawRobot(context, this.camera, x, y, yaw, look);
  }

  #paintTrail(context: Context, at: number, hue: string): void {
    const { camera } = this;
    const { trail, origin, size } = this.config;
    const single = this.places[at]?.single;
    if (!single || trail <= 0) return;
    const end = clock.cursor;
    const here: Spot = { x: 0, y: 0, yaw: 0 };
    let [px, py, shade] = [NaN, NaN, -1];
    context.save();
    context.lineWidth = 2.5;
    context.lineJoin = "round";
    // Eight shades from faint to full: a stroke for each sample would cost more than all else.
    this.#motion.each(at, end - trail, end, (t, read) => {
      for (let column = 0; column < single.refs.length; column++) this.#buffer[column] = read(column);
      if (!spotOf(single, this.#buffer, 0, origin, size, here)) return;
      const [x, y] = [camera.px(here.x, here.y), camera.py(here.x, here.y)];
      const now = Math.min(Math.floor((1 - (end - t) / trail) * 8), 7);
      const jumps = Math.hypot(x - px, y - py) > 3 * camera.scale;
      if (now !== shade || jumps) {
        if (shade >= 0) context.stroke();
        shade = now;
        context.strokeStyle = faded(hue, 0.12 + 0.1 * now);
        context.beginPath();
        if (!Number.isNaN(px) && !jumps) context.moveTo(px, py);
      }
      context.lineTo(x, y);
      [px, py] = [x, y];
    });
    if (shade >= 0) {
      const near = this.#find(at, clock.playing) && Math.hypot(this.#spot.x - here.x, this.#spot.y - here.y) < 3;
      if (near) context.lineTo(camera.px(this.#spot.x, this.#spot.y), camera.py(this.#spot.x, this.#spot.y));
      context.stroke();
    }
    context.restore();
  }

  #paintMarks(context: Context, at: number, hue: string, robot: Point | null): void {
    const { camera } = this;
    const role = this.config.sources[at]?.role;
    context.save();
    context.strokeStyle = context.fillStyle = hue;
    for (const place of this.#spots(at)) {
      const [px, py] = [camera.px(place.x, place.y), camera.py(place.x, place.y)];
      if (role === "arrows") {
        context.lineWidth = 2.5;
        context.lineCap = context.lineJoin = "round";
        drawArrow(context, camera, place, 0.5);
        continue;
      }
      if (role === "targets" && robot) {
        context.lineWidth = 1.5;
        context.setLineDash([6, 4]);
        context.beginPath();
        context.moveTo(camera.px(robot.x, robot.y), camera.py(robot.x, robot.y));
        context.lineTo(px, py);
        context.stroke();
        context.setLineDash([]);
      }
      drawPoint(context, px, py, Math.max(0.09 * camera.scale, 3.5));
    }
    context.restore();
  }
}

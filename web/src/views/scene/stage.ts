/** The picture of a 3D view: what is in it, from where it is seen, and when it is drawn. */

import * as three from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Pose } from "../../poses/poses";
import type { Shape } from "./config";
import { Crowd } from "./crowd";
import { axes, ball, field, Floor, free, robot, type Colors } from "./models";
import { lookFrom, type Point } from "./world";

/** The angle of the camera, in degrees. */
const ANGLE = 45;

export type Ground = { kind: "grid" } | { kind: "field"; length: number; width: number };

export interface Body {
  shape: Exclude<Shape, "path">;
  color: string;
  poses: Pose[];
}

/** Ribbons: triangles, each point with a colour and how strong it is. */
export interface Ribbons {
  points: Float32Array;
  /** Red, green, blue and opacity, 0 to 1. */
  colors: Float32Array;
  /** How many of the points are meant. */
  count: number;
}

export class Stage {
  readonly crowd = new Crowd();
  readonly #renderer: three.WebGLRenderer;
  readonly #scene = new three.Scene();
  readonly #camera = new three.PerspectiveCamera(ANGLE, 1, 0.05, 20_000);
  readonly #controls: OrbitControls;
  readonly #sky = new three.HemisphereLight(0xffffff, 0x8a8a8a, 2.6);
  readonly #sun = new three.DirectionalLight(0xffffff, 2);
  readonly #bodies = new Map<string, three.Object3D[]>();
  readonly #ribbons: three.Mesh;
  #floor: Floor;
  #field: three.Object3D | null = null;
  #ground: Ground = { kind: "grid" };
  #colors: Colors;
  #frame = 0;
  #followed: Point | null = null;
  #size = { width: 0, height: 0 };

  /** Throws where the browser has no WebGL. `moved` is called when the user moved the camera. */
  constructor(canvas: HTMLCanvasElement, colors: Colors, moved: () => void) {
    this.#colors = colors;
    this.#floor = new Floor(colors);
    this.#renderer = new three.WebGLRenderer({ canvas, antialias: true });
    this.#camera.up.set(0, 0, 1);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.maxPolarAngle = Math.PI / 2 - 0.01;
    this.#controls.zoomToCursor = true;
    this.#controls.addEventListener("change", () => this.invalidate());
    this.#controls.addEventListener("end", moved);
    this.#sun.position.set(-40, -60, 100);
    this.#ribbons = new three.Mesh(
      new three.BufferGeometry(),
      new three.MeshBasicMaterial({
        vertexColors: true,
        transparent: true,
        depthWrite: false,
        side: three.DoubleSide,
      }),
    );
    this.#ribbons.frustumCulled = false;
    this.#scene.add(this.#sky, this.#sun, this.#ribbons, this.crowd.group);
    this.theme(colors);
  }

  /** Draws in the next frame, once, however often it is called. */
  invalidate(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw(): void {
    const distance = this.#camera.position.distanceTo(this.#controls.target);
    this.#camera.near = Math.max(distance / 500, 0.02);
    this.#camera.far = Math.max(distance * 60, 400);
    this.#camera.updateProjectionMatrix();
    const fog = this.#scene.fog as three.Fog;
    [fog.near, fog.far] = [distance * 1.3, Math.max(distance * 5, 40)];
    this.#floor.lay(this.#controls.target.x, this.#controls.target.y, distance);
    this.#renderer.render(this.#scene, this.#camera);
  }

  theme(colors: Colors): void {
    this.#colors = colors;
    this.#scene.background = new three.Color(colors.background);
    this.#scene.fog = new three.Fog(colors.background, 10, 1000);
    // What has colours of the theme is made again.
    for (const [key] of this.#bodies) this.#drop(key);
    free(this.#floor.mesh);
    this.#floor = new Floor(colors);
    this.#scene.add(this.#floor.mesh);
    this.ground(this.#ground);
  }

  resize(width: number, height: number, ratio: number): void {
    if (width === 0 || height === 0) return;
    this.#size = { width, height };
    this.#renderer.setPixelRatio(Math.min(ratio, 2));
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.invalidate();
  }

  ground(ground: Ground): void {
    this.#ground = ground;
    if (this.#field) free(this.#field);
    this.#field = ground.kind === "field" ? field(ground.length, ground.width, this.#colors) : null;
    if (this.#field) this.#scene.add(this.#field);
    this.invalidate();
  }

  /** Robots, axes and points; what is no longer named disappears. */
  bodies(bodies: Body[]): void {
    const used = new Set<string>();
    bodies.forEach((body, place) => {
      const key = `${place}:${body.shape}:${body.color}`;
      used.add(key);
      let things = this.#bodies.get(key);
      if (!things) this.#bodies.set(key, (things = []));
      body.poses.forEach((pose, at) => {
        let thing = things[at];
        if (!thing) {
          thing = this.#make(body);
          things.push(thing);
          this.#scene.add(thing);
        }
        thing.visible = true;
        thing.position.set(pose.x, pose.y, pose.z);
        thing.quaternion.set(pose.q.x, pose.q.y, pose.q.z, pose.q.w);
      });
      things.slice(body.poses.length).forEach((thing) => (thing.visible = false));
    });
    for (const key of [...this.#bodies.keys()]) if (!used.has(key)) this.#drop(key);
    this.invalidate();
  }

  #make({ shape, color }: Body): three.Object3D {
    if (shape === "axes") return axes(0.5, this.#colors);
    if (shape === "points") return ball(color, 0.1);
    return robot(color, shape === "ghost", this.#colors);
  }

  #drop(key: string): void {
    this.#bodies.get(key)?.forEach(free);
    this.#bodies.delete(key);
  }

  /** Trails and paths. */
  ribbons({ points, colors, count }: Ribbons): void {
    const geometry = this.#ribbons.geometry;
    const room = geometry.getAttribute("position")?.count ?? 0;
    if (room < count) {
      geometry.dispose();
      this.#ribbons.geometry = new three.BufferGeometry();
      this.#ribbons.geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(count * 6), 3));
      this.#ribbons.geometry.setAttribute("color", new three.BufferAttribute(new Float32Array(count * 8), 4));
    }
    const [position, color] = ["position", "color"].map(
      (name) => this.#ribbons.geometry.getAttribute(name) as three.BufferAttribute | undefined,
    );
    position?.array.set(points.subarray(0, count * 3));
    color?.array.set(colors.subarray(0, count * 4));
    if (position) position.needsUpdate = true;
    if (color) color.needsUpdate = true;
    this.#ribbons.geometry.setDrawRange(0, count);
    this.#ribbons.visible = count > 0;
    this.invalidate();
  }

  /** Keeps a place in sight: the camera goes with it. The first time it looks there. */
  follow(at: Point | null): void {
    if (at) {
      const from = this.#followed ?? this.#controls.target.toArray();
      const shift = new three.Vector3(at[0] - from[0], at[1] - from[1], at[2] - from[2]);
      this.#camera.position.add(shift);
      this.#controls.target.add(shift);
      this.#controls.update();
    }
    this.#followed = at;
  }

  get look(): { from: Point; to: Point } {
    return { from: this.#camera.position.toArray(), to: this.#controls.target.toArray() };
  }

  set look({ from, to }: { from: Point; to: Point }) {
    this.#camera.position.set(...from);
    this.#controls.target.set(...to);
    this.#controls.update();
    this.invalidate();
  }

  /** Looks at a sphere from a direction. */
  show(middle: Point, radius: number, direction: Point): void {
    const narrow = Math.min(this.#camera.aspect, 1);
    this.look = { from: lookFrom(middle, radius / narrow, direction, ANGLE), to: middle };
  }

  /** Turns about what is looked at, and comes nearer or goes farther. */
  orbit(angle: number, factor: number): void {
    const offset = this.#camera.position.clone().sub(this.#controls.target);
    offset.applyAxisAngle(new three.Vector3(0, 0, 1), angle).multiplyScalar(factor);
    this.#camera.position.copy(this.#controls.target).add(offset);
    this.#controls.update();
    this.invalidate();
  }

  /** Who is at a point of the screen: a life of the recording, or -1. */
  actorAt(x: number, y: number): number {
    const { width, height } = this.#size;
    const ray = new three.Raycaster();
    ray.setFromCamera(new three.Vector2((x / width) * 2 - 1, 1 - (y / height) * 2), this.#camera);
    return this.crowd.hit(ray);
  }

  /** The picture as a PNG, twice as fine as on a plain screen. */
  async picture(): Promise<Blob> {
    const { width, height } = this.#size;
    const before = this.#renderer.getPixelRatio();
    this.#renderer.setPixelRatio(2);
    this.#renderer.setSize(width, height, false);
    this.#draw();
    // What was drawn is there until the next frame, so it is taken at once.
    const blob = await new Promise<Blob | null>((done) => this.#renderer.domElement.toBlob(done, "image/png"));
    this.#renderer.setPixelRatio(before);
    this.#renderer.setSize(width, height, false);
    this.invalidate();
    if (!blob) throw new Error("the picture is too large");
    return blob;
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#controls.dispose();
    for (const key of [...this.#bodies.keys()]) this.#drop(key);
    if (this.#field) free(this.#field);
    free(this.#floor.mesh);
    free(this.#ribbons);
    this.crowd.dispose();
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }
}

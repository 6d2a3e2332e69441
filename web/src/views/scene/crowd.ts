/** CARLA actors in 3D: a few meshes, drawn many times each. */

import * as three from "three";
import type { ActorList, Kind } from "../../carla/cast";
import * as lamps from "../../carla/lights";
import type { Snapshot } from "../../carla/tracks";
import { free, type Colors } from "./models";
import { boxOf } from "./world";

/** What is drawn many times: a part of an actor. */
class Many {
  mesh: three.InstancedMesh;
  count = 0;
  /** Which life each belongs to. */
  readonly lives: number[] = [];

  constructor(
    private readonly geometry: three.BufferGeometry,
    private readonly material: three.Material,
    private readonly parent: three.Object3D,
  ) {
    this.mesh = this.#make(64);
  }

  #make(room: number): three.InstancedMesh {
    const mesh = new three.InstancedMesh(this.geometry, this.material, room);
    // Actors are all over the place: whether one is in sight costs more to find out than to draw it.
    mesh.frustumCulled = false;
    this.parent.add(mesh);
    return mesh;
  }

  begin(): void {
    this.count = 0;
    this.lives.length = 0;
  }

  add(life: number, matrix: three.Matrix4, color: three.Color): void {
    if (this.count === this.mesh.instanceMatrix.count) {
      const old = this.mesh;
      this.mesh = this.#make(this.count * 2);
      this.mesh.instanceMatrix.copyArray(old.instanceMatrix.array);
      if (old.instanceColor) {
        this.mesh.setColorAt(0, color);
        this.mesh.instanceColor?.copyArray(old.instanceColor.array);
      }
      old.removeFromParent();
      old.dispose();
    }
    this.mesh.setMatrixAt(this.count, matrix);
    this.mesh.setColorAt(this.count, color);
    this.lives.push(life);
    this.count++;
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    // Rays ask for it.
    this.mesh.boundingSphere = null;
  }
}

const solid = (roughness: number): three.Material => new three.MeshStandardMaterial({ roughness, metalness: 0.1 });

export class Crowd {
  readonly group = new three.Group();
  readonly #bodies: Many;
  readonly #cabins: Many;
  readonly #walkers: Many;
  readonly #poles: Many;
  /** Lamps shine by themselves. */
  readonly #lamps: Many;

  readonly #matrix = new three.Matrix4();
  readonly #place = new three.Vector3();
  readonly #turn = new three.Quaternion();
  readonly #scale = new three.Vector3();
  readonly #shift = new three.Vector3();
  readonly #color = new three.Color();

  constructor() {
    const box = new three.BoxGeometry(1, 1, 1);
    const capsule = new three.CapsuleGeometry(0.5, 1, 4, 12);
    capsule.rotateX(Math.PI / 2);
    const pole = new three.CylinderGeometry(0.5, 0.5, 1, 6);
    pole.rotateX(Math.PI / 2);
    this.#bodies = new Many(box, solid(0.5), this.group);
    this.#cabins = new Many(box.clone(), solid(0.25), this.group);
    this.#walkers = new Many(capsule, solid(0.8), this.group);
    this.#poles = new Many(pole, solid(0.8), this.group);
    this.#lamps = new Many(new three.SphereGeometry(0.5, 10, 6), new three.MeshBasicMaterial(), this.group);
  }

  get #all(): Many[] {
    return [this.#bodies, this.#cabins, this.#walkers, this.#poles, this.#lamps];
  }

  /** Puts everybody where they are. `colorOf` names the colour of a life. */
  update(
    now: Snapshot | null,
    cast: ActorList,
    hidden: ReadonlySet<Kind>,
    t: number,
    colors: Colors,
    colorOf: (life: number) => string,
  ): void {
    this.#all.forEach((many) => many.begin());
    for (let place = 0; now && place < now.count; place++) {
      const number = now.life[place] ?? -1;
      const life = cast.lives[number];
      if (!life || hidden.has(life.kind)) continue;
      const { size } = life;
      const { middle, q } = boxOf(
        size,
        now.x[place] ?? 0,
        now.y[place] ?? 0,
        now.z[place] ?? 0,
        now.roll[place] ?? 0,
        now.pitch[place] ?? 0,
        now.yaw[place] ?? 0,
      );
      this.#place.set(...middle);
      this.#turn.set(q.x, q.y, q.z, q.w);
      const flags = now.lights[place] ?? 0;
      const color = colorOf(number);
      const [l, w, h] = [size.ex * 2, size.ey * 2, size.ez * 2];
      switch (life.kind) {
        case "vehicle":
          this.#part(this.#bodies, number, color, [l, w, h * 0.58], [0, 0, -h * 0.16]);
          this.#part(this.#cabins, number, color, [l * 0.55, w * 0.86, h * 0.44], [-l * 0.06, 0, h * 0.28]);
          this.#lights(number, flags, t, colors, l, w, h);
          break;
        case "walker":
          this.#part(this.#walkers, number, color, [Math.max(l, 0.5), Math.max(w, 0.5), h / 2], [0, 0, 0]);
          break;
        case "traffic_light":
          this.#pole(number, colors, size.cz);
          this.#part(this.#lamps, number, this.#signal(flags, colors), [0.7, 0.7, 0.7], [0, 0, size.ez + 0.35]);
          break;
        case "traffic_sign":
          this.#pole(number, colors, size.cz);
          this.#part(this.#bodies, number, colors.faint, [0.08, 0.7, 0.7], [0, 0, size.ez]);
          break;
        default:
          this.#part(this.#bodies, number, color, [l, w, h], [0, 0, 0]);
          if (life.kind !== "sensor") this.#lights(number, flags, t, colors, l, w, h);
      }
    }
    this.#all.forEach((many) => many.end());
  }

  #pole(life: number, colors: Colors, middle: number): void {
    this.#part(this.#poles, life, colors.faint, [0.14, 0.14, middle * 2], [0, 0, 0]);
  }

  #signal(state: number, colors: Colors): string {
    const { red, yellow, green, faint } = colors;
    return { red, yellow, green, off: faint, unknown: faint }[lamps.trafficLight(state)];
  }

  /** Lamps that are on, at the corners. */
  #lights(life: number, flags: number, t: number, colors: Colors, l: number, w: number, h: number): void {
    if (flags === 0) return;
    const size: [number, number, number] = [0.16, 0.3, 0.16];
    const on = (flag: number) => (flags & flag) !== 0;
    const pair = (x: number, color: string) => {
      for (const side of [-1, 1]) this.#part(this.#lamps, life, color, size, [x, side * w * 0.4, -h * 0.12]);
    };
    if (on(lamps.LOW_BEAM | lamps.HIGH_BEAM | lamps.POSITION)) pair(l / 2, colors.front);
    if (on(lamps.BRAKE)) pair(-l / 2, colors.rear);
    if (!lamps.blinks(t)) return;
    // Left is where y grows.
    for (const [flag, side] of [
      [lamps.LEFT_BLINKER, 1],
      [lamps.RIGHT_BLINKER, -1],
    ] as const) {
      if (!on(flag)) continue;
      for (const x of [-l / 2, l / 2]) {
        this.#part(this.#lamps, life, colors.side, [0.2, 0.24, 0.2], [x, side * w * 0.46, -h * 0.02]);
      }
    }
  }

  /** One part at a place relative to the middle of the actor that is being put. */
  #part(many: Many, life: number, color: string, size: [number, number, number], at: [number, number, number]): void {
    this.#shift
      .set(...at)
      .applyQuaternion(this.#turn)
      .add(this.#place);
    this.#scale.set(...size);
    this.#matrix.compose(this.#shift, this.#turn, this.#scale);
    this.#color.set(color);
    // What is above the windows is darker, so that a vehicle has a shape.
    if (many === this.#cabins) this.#color.multiplyScalar(0.45);
    many.add(life, this.#matrix, this.#color);
  }

  /** The life that a ray meets first; -1 for none. */
  hit(ray: three.Raycaster): number {
    const found = ray.intersectObjects(
      this.#all.map((many) => many.mesh),
      false,
    )[0];
    const many = this.#all.find((one) => one.mesh === found?.object);
    return many?.lives[found?.instanceId ?? -1] ?? -1;
  }

  dispose(): void {
    free(this.group);
  }
}

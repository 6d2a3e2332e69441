/** Things made of triangles: robots, axes, the ground. Loaded only when a 3D view is shown. */

import * as three from "three";
import { cellAt } from "./world";

export interface Colors {
  background: string;
  floor: string;
  grid: string;
  gridStrong: string;
  text: string;
  field: string;
  fieldLine: string;
  red: string;
  blue: string;
  yellow: string;
  green: string;
  faint: string;
  accent: string;
  glass: string;
  /** Lamps of vehicles: to the front, to the rear, to the side. */
  front: string;
  rear: string;
  side: string;
}

/** Frees the GPU memory of an object. */
export function free(thing: three.Object3D): void {
  thing.traverse((part) => {
    if (part instanceof three.Mesh || part instanceof three.LineSegments || part instanceof three.Line) {
      (part.geometry as three.BufferGeometry).dispose();
      const material = part.material as three.Material | three.Material[];
      for (const one of Array.isArray(material) ? material : [material]) one.dispose();
    }
    if (part instanceof three.InstancedMesh) part.dispose();
  });
  thing.removeFromParent();
}

const matt = (color: three.ColorRepresentation, ghost: boolean): three.MeshStandardMaterial =>
  new three.MeshStandardMaterial({
    color,
    roughness: 0.75,
    metalness: 0.05,
    transparent: ghost,
    opacity: ghost ? 0.38 : 1,
    depthWrite: !ghost,
  });

/** A robot of the usual size: bumpers, a frame, and an arrow that shows its front. */
export function robot(color: string, ghost: boolean, colors: Colors): three.Object3D {
  const group = new three.Group();
  const add = (geometry: three.BufferGeometry, material: three.Material, z: number, x = 0) => {
    const mesh = new three.Mesh(geometry, material);
    mesh.position.set(x, 0, z);
    group.add(mesh);
    return mesh;
  };
  add(new three.BoxGeometry(0.92, 0.92, 0.13), matt(color, ghost), 0.12);
  add(new three.BoxGeometry(0.74, 0.74, 0.1), matt(colors.glass, ghost), 0.2);
  add(new three.BoxGeometry(0.12, 0.6, 0.42), matt(colors.faint, ghost), 0.45, -0.2);
  const arrow = new three.Shape([
    new three.Vector2(0.32, 0),
    new three.Vector2(-0.02, 0.24),
    new three.Vector2(-0.02, 0.09),
    new three.Vector2(-0.12, 0.09),
    new three.Vector2(-0.12, -0.09),
    new three.Vector2(-0.02, -0.09),
    new three.Vector2(-0.02, -0.24),
  ]);
  add(
    new three.ExtrudeGeometry(arrow, { depth: 0.03, bevelEnabled: false }),
    matt(ghost ? color : colors.text, ghost),
    0.25,
  );
  return group;
}

/** Three axes: x, y and z in red, green and blue. */
export function axes(size: number, colors: Colors): three.Object3D {
  const group = new three.Group();
  const along: [string, number, number, number][] = [
    [colors.red, 0, 0, -Math.PI / 2],
    [colors.green, 0, 0, 0],
    [colors.blue, Math.PI / 2, 0, 0],
  ];
  for (const [color, x, y, z] of along) {
    const arm = new three.Group();
    const rod = new three.Mesh(new three.CylinderGeometry(size * 0.03, size * 0.03, size, 10), matt(color, false));
    rod.position.y = size / 2;
    const tip = new three.Mesh(new three.ConeGeometry(size * 0.08, size * 0.2, 14), matt(color, false));
    tip.position.y = size;
    arm.add(rod, tip);
    arm.rotation.set(x, y, z);
    group.add(arm);
  }
  return group;
}

export function ball(color: string, radius: number): three.Object3D {
  return new three.Mesh(new three.SphereGeometry(radius, 18, 12), matt(color, false));
}

const LINE = 0.05;

/** A field between its walls; its origin is the corner right of the blue drivers. */
export function field(length: number, width: number, colors: Colors): three.Object3D {
  const group = new three.Group();
  const floor = new three.Mesh(
    new three.PlaneGeometry(length, width),
    new three.MeshStandardMaterial({ color: colors.field, roughness: 1 }),
  );
  floor.position.set(length / 2, width / 2, -0.01);
  group.add(floor);
  const stripe = (x: number, y: number, dx: number, dy: number, color: string, opacity = 0.7) => {
    const line = new three.Mesh(
      new three.PlaneGeometry(dx, dy),
      new three.MeshBasicMaterial({ color, transparent: true, opacity }),
    );
    line.position.set(x, y, 0.002);
    group.add(line);
  };
  stripe(length / 2, width / 2, LINE, width, colors.fieldLine);
  stripe(length / 2, LINE / 2, length, LINE, colors.fieldLine);
  stripe(length / 2, width - LINE / 2, length, LINE, colors.fieldLine);
  stripe(length * 0.26, width / 2, LINE, width, colors.blue);
  stripe(length * 0.74, width / 2, LINE, width, colors.red);
  for (const [x, color] of [
    [0, colors.blue],
    [length, colors.red],
  ] as const) {
    const wall = new three.Mesh(
      new three.BoxGeometry(0.06, width, 0.9),
      new three.MeshStandardMaterial({ color, transparent: true, opacity: 0.35, depthWrite: false }),
    );
    wall.position.set(x, width / 2, 0.45);
    group.add(wall);
  }
  for (const y of [0, width]) {
    const rail = new three.Mesh(
      new three.BoxGeometry(length, 0.05, 0.3),
      new three.MeshStandardMaterial({ color: colors.gridStrong, transparent: true, opacity: 0.6, depthWrite: false }),
    );
    rail.position.set(length / 2, y, 0.15);
    group.add(rail);
  }
  return group;
}

const VERTEX = `
varying vec2 place;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  place = world.xy;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const FRAGMENT = `
uniform vec3 floorColor;
uniform vec3 thinColor;
uniform vec3 strongColor;
uniform vec3 skyColor;
uniform vec2 middle;
uniform float cell;
uniform float reach;
varying vec2 place;

float lines(float size) {
  vec2 at = place / size;
  vec2 off = abs(fract(at - 0.5) - 0.5) / fwidth(at);
  return 1.0 - min(min(off.x, off.y), 1.0);
}

void main() {
  vec3 color = mix(floorColor, thinColor, lines(cell) * 0.75);
  color = mix(color, strongColor, lines(cell * 10.0));
  float far = smoothstep(reach * 0.25, reach, distance(place, middle));
  gl_FragColor = vec4(mix(color, skyColor, far), 1.0);
  #include <colorspace_fragment>
}`;

/** An endless floor with a grid: sharp at every distance, and gone where it ends. */
export class Floor {
  readonly mesh: three.Mesh<three.PlaneGeometry, three.ShaderMaterial>;

  constructor(colors: Colors) {
    const color = (name: string) => ({ value: new three.Color(name) });
    const material = new three.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        floorColor: color(colors.floor),
        thinColor: color(colors.grid),
        strongColor: color(colors.gridStrong),
        skyColor: color(colors.background),
        middle: { value: new three.Vector2() },
        cell: { value: 1 },
        reach: { value: 100 },
      },
    });
    this.mesh = new three.Mesh(new three.PlaneGeometry(2, 2), material);
    this.mesh.position.z = -0.03;
    this.mesh.frustumCulled = false;
  }

  /** Lies around what is looked at, with cells that fit the distance. */
  lay(x: number, y: number, distance: number): void {
    const { uniforms } = this.mesh.material;
    const reach = Math.max(distance * 6, 30);
    this.mesh.position.x = x;
    this.mesh.position.y = y;
    this.mesh.scale.set(reach, reach, 1);
    (uniforms["middle"]?.value as three.Vector2 | undefined)?.set(x, y);
    if (uniforms["cell"]) uniforms["cell"].value = cellAt(distance);
    if (uniforms["reach"]) uniforms["reach"].value = reach;
  }
}

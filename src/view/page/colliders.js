// Colliders: planes as a grid that fades away, meshes as a veil.
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  GLSL3,
  Group,
  Mesh,
  PlaneGeometry,
  Quaternion,
  RawShaderMaterial,
  Vector3,
} from "./three.module.min.js";
import { checkIndices, finite, isCount, need } from "./decode.js";

const GRID = `precision highp float;
uniform mat4 modelViewMatrix, projectionMatrix;
in vec3 position;
out vec2 at;
void main() {
  at = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

/** Lines every cell and, stronger, every fifth; all of it fades with the distance from the middle of the picture. */
const GRID_PIXEL = `precision highp float;
uniform float cell;
uniform float reach;
in vec2 at;
out vec4 pixel;
float lines(vec2 place, float width) {
  vec2 slope = fwidth(place);
  vec2 away = abs(fract(place - 0.5) - 0.5);
  vec2 line = 1.0 - smoothstep(vec2(0.0), slope * width, away);
  return max(line.x, line.y) * (1.0 - smoothstep(0.25, 0.6, max(slope.x, slope.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(at) / reach);
  float line = max(0.28 * lines(at / cell, 1.2), 0.5 * lines(at / (5.0 * cell), 1.4));
  pixel = vec4(vec3(0.72, 0.75, 0.8), fade * fade * (0.045 + 0.42 * line));
}`;

const VEIL = `precision highp float;
uniform mat4 modelViewMatrix, projectionMatrix;
in vec3 position, normal;
out vec3 upright;
void main() {
  upright = mat3(modelViewMatrix) * normal;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

const VEIL_PIXEL = `precision highp float;
in vec3 upright;
out vec4 pixel;
void main() {
  float facing = abs(normalize(upright).z);
  pixel = vec4(vec3(0.62, 0.67, 0.75) * (0.6 + 0.4 * facing), mix(0.5, 0.16, facing));
}`;

/** @typedef {import("./decode.js").Table} Table */

export class Colliders {
  constructor() {
    this.object = new Group();
    this.bytes = 0;
  }

  /**
   * @param {Table} table @param {number} size radius of the scene in metres
   */
  load(table, size) {
    const list = table.header.meshes;
    if (!Array.isArray(list)) throw new Error("the colliders' header lists no meshes");
    this.dispose();
    const place = need(table, "position", Float32Array, 3);
    const normal = need(table, "normal", Float32Array, 3, place.count);
    const triangles = need(table, "triangles", Uint32Array, 3);
    checkIndices(triangles.data, place.count, "triangles of the colliders");
    const shared = {
      position: new BufferAttribute(place.data, 3),
      normal: new BufferAttribute(normal.data, 3),
      index: new BufferAttribute(triangles.data, 1),
    };
    for (const entry of list) {
      const holder = new Group();
      if (entry?.plane) holder.add(grid(entry.plane, size));
      else if (isCount(entry?.first) && isCount(entry?.count) && entry.first + entry.count <= triangles.count)
        holder.add(veil(shared, entry));
      this.object.add(holder);
    }
    this.bytes = table.bytes;
  }

  /** Moves the colliders to where a frame has them. @param {unknown} poses */
  pose(poses) {
    if (!Array.isArray(poses)) return;
    this.object.children.forEach((holder, k) => {
      const { position, rotation } = poses[k] ?? {};
      const numbers = (/** @type {unknown} */ list, /** @type {number} */ count) =>
        Array.isArray(list) && list.length === count && list.every((value) => finite(value) !== null);
      if (numbers(position, 3)) holder.position.fromArray(position);
      if (numbers(rotation, 4)) holder.quaternion.fromArray(rotation).normalize();
    });
  }

  dispose() {
    this.object.traverse((/** @type {any} */ part) => {
      part.geometry?.dispose();
      part.material?.dispose();
    });
    this.object.clear();
  }
}

/** @param {any} plane @param {number} size @returns {Mesh} */
function grid(plane, size) {
  const vector = (/** @type {unknown} */ list, /** @type {Vector3} */ otherwise) =>
    Array.isArray(list) && list.length === 3 && list.every((value) => finite(value) !== null)
      ? new Vector3().fromArray(list)
      : otherwise;
  const reach = 7 * size;
  const cell = 10 ** Math.floor(Math.log10(size)) * (size / 10 ** Math.floor(Math.log10(size)) > 4 ? 1 : 0.5);
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: GRID,
    fragmentShader: GRID_PIXEL,
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    uniforms: { cell: { value: cell }, reach: { value: reach } },
  });
  const mesh = new Mesh(new PlaneGeometry(2 * reach, 2 * reach), material);
  const normal = vector(plane.normal, new Vector3(0, 1, 0));
  mesh.quaternion.copy(
    new Quaternion().setFromUnitVectors(
      new Vector3(0, 0, 1),
      normal.lengthSq() > 0 ? normal.normalize() : new Vector3(0, 1, 0),
    ),
  );
  mesh.position.copy(vector(plane.point, new Vector3()));
  mesh.frustumCulled = false;
  mesh.renderOrder = -1;
  return mesh;
}

/**
 * @param {{position: BufferAttribute, normal: BufferAttribute, index: BufferAttribute}} shared
 * @param {{first: number, count: number}} part
 * @returns {Mesh}
 */
function veil(shared, part) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", shared.position);
  geometry.setAttribute("normal", shared.normal);
  geometry.setIndex(shared.index);
  geometry.setDrawRange(3 * part.first, 3 * part.count);
  const material = new RawShaderMaterial({
    glslVersion: GLSL3,
    vertexShader: VEIL,
    fragmentShader: VEIL_PIXEL,
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  return mesh;
}

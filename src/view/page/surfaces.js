// Surfaces: skin and crack faces, coloured by a number, a label, or the frame's own colours.
import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  GLSL3,
  Group,
  Mesh,
  RawShaderMaterial,
  Vector3,
} from "./three.module.min.js";
import { COLOUR, CUT, LIGHT, SharedUniforms } from "./shading.js";

/** No fragment has this label. */
export const NO_FRAGMENT = 0xffffffff;

const VERTEX = `precision highp float;
precision highp int;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform uint chosen;
${COLOUR}
in vec3 position;
in vec4 normal;
in float value;
in uint fragment;
in vec4 colour;
out vec3 tint, place, upright;
flat out float mark;
void main() {
  vec4 view = modelViewMatrix * vec4(position, 1.0);
  place = view.xyz;
  upright = mat3(modelViewMatrix) * normal.xyz;
  tint = kind == 3 ? colour.rgb : colourOf(value);
  mark = fragment == chosen ? 1.0 : 0.0;
  gl_Position = projectionMatrix * view;
}`;

/** Back faces are seen only through a section or a hole: they are darker and flat. */
const FRAGMENT = `precision highp float;
precision highp int;
${LIGHT}
${CUT}
in vec3 tint, place, upright;
flat in float mark;
out vec4 pixel;
void main() {
  if (cutAway(place)) discard;
  vec3 n = normalize(upright);
  vec3 colour = gl_FrontFacing ? lit(tint, n) : tint * vec3(0.34, 0.33, 0.36);
  pixel = vec4(mix(colour, vec3(1.0, 0.72, 0.25), 0.38 * mark), 1.0);
}`;

/** @typedef {import("./decode.js").Table} Table */

/** Attributes: name, array type, numbers a vertex, whether normalised. */
const ATTRIBUTES = /** @type {const} */ ([
  ["position", Float32Array, 3, false],
  ["normal", Int8Array, 4, true],
  ["value", Float32Array, 1, false],
  ["fragment", Uint32Array, 1, false],
  ["colour", Uint8Array, 4, true],
]);

export class Surfaces {
  /** @param {SharedUniforms} shared */
  constructor(shared) {
    this.chosen = { value: NO_FRAGMENT };
    const material = () =>
      new RawShaderMaterial({
        glslVersion: GLSL3,
        side: DoubleSide,
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        uniforms: { ...shared.coloured(), chosen: this.chosen },
      });
    this.skin = material();
    this.cracks = material();
    this.geometries = [new BufferGeometry(), new BufferGeometry()];
    this.object = new Group();
    this.geometries.forEach((geometry, k) => {
      const mesh = new Mesh(geometry, k === 0 ? this.skin : this.cracks);
      mesh.frustumCulled = false;
      this.object.add(mesh);
    });
    this.object.visible = false;
    this.vertices = 0;
    this.triangles = 0;
  }

  /**
   * Shows the surfaces of one frame. `skin` is the number of skin triangles, which come first.
   * @param {Table} table @param {number} skin
   */
  setFrame(table, skin) {
    const column = (/** @type {string} */ name) => table.columns.get(name);
    const vertices = column("position")?.count ?? 0;
    const indices = /** @type {Uint32Array} */ (column("triangles")?.data ?? new Uint32Array(0));
    if (vertices > this.vertices || indices.length > 3 * this.triangles) this.#grow(vertices, indices.length / 3);
    for (const [name] of ATTRIBUTES) {
      const data = column(name)?.data;
      if (data && name !== "value") this.#write(name, data);
    }
    const index = /** @type {BufferAttribute} */ (this.geometries[0].index);
    upload(index, indices);
    this.geometries[0].setDrawRange(0, 3 * skin);
    this.geometries[1].setDrawRange(3 * skin, indices.length - 3 * skin);
  }

  /** @param {import("./decode.js").Numbers} values */
  setValues(values) {
    this.#write("value", values);
  }

  /**
   * Crack faces stand out by their own colour where the skin is plain.
   * @param {[number, number, number]} skin
   * @param {[number, number, number]} cracks
   */
  setBases(skin, cracks) {
    /** @type {Vector3} */ (this.skin.uniforms.base.value).fromArray(skin);
    /** @type {Vector3} */ (this.cracks.uniforms.base.value).fromArray(cracks);
  }

  /** @param {string} name @param {import("./decode.js").Numbers} numbers */
  #write(name, numbers) {
    upload(/** @type {BufferAttribute} */ (this.geometries[0].getAttribute(name)), numbers);
  }

  /**
   * Buffers with room to spare: frames of a clip differ a little in size.
   * @param {number} vertices
   * @param {number} triangles
   */
  #grow(vertices, triangles) {
    this.vertices = Math.max(this.vertices, Math.ceil(1.2 * vertices));
    this.triangles = Math.max(this.triangles, Math.ceil(1.2 * triangles));
    const index = new BufferAttribute(new Uint32Array(3 * this.triangles), 1);
    for (const geometry of this.geometries) geometry.dispose();
    for (const [name, Kind, components, normalised] of ATTRIBUTES) {
      const attribute = new BufferAttribute(new Kind(components * this.vertices), components, normalised);
      for (const geometry of this.geometries) geometry.setAttribute(name, attribute);
    }
    for (const geometry of this.geometries) geometry.setIndex(index);
  }

  /** Bytes in buffers of the GPU. */
  get bytes() {
    return 28 * this.vertices + 12 * this.triangles;
  }

  dispose() {
    for (const geometry of this.geometries) geometry.dispose();
    this.skin.dispose();
    this.cracks.dispose();
  }
}

/** @param {BufferAttribute} attribute @param {import("./decode.js").Numbers} numbers */
function upload(attribute, numbers) {
  /** @type {any} */ (attribute.array).set(numbers);
  attribute.clearUpdateRanges();
  attribute.addUpdateRange(0, numbers.length);
  attribute.needsUpdate = true;
}

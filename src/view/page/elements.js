// Elements as balls: a point each, shaded as the ball it stands for.
import { BufferAttribute, BufferGeometry, GLSL3, Points, RawShaderMaterial } from "./three.module.min.js";
import { Order } from "./order.js";
import { COLOUR, CUT, LIGHT, SharedUniforms } from "./shading.js";

/** Balls in view space, for the materials that draw them. A row with coordinates that are not numbers is not drawn. */
export const BALL = `
uniform mat4 modelViewMatrix, projectionMatrix;
uniform float pixels, ballSize;
bool present(float a, float b, float c) { return finite(a) && finite(b) && finite(c); }
float ballPixels(vec3 centre, float r) { return projectionMatrix[1][1] * r * pixels / max(-centre.z, 1e-9); }`;

const VERTEX = `precision highp float;
precision highp int;
${COLOUR}
${BALL}
${CUT}
in float position, y, z, radius, value;
flat out vec3 colour;
#ifdef EXACT
flat out vec4 ball;
#endif
void main() {
  float r = radius * ballSize;
  vec3 centre = (modelViewMatrix * vec4(position, y, z, 1.0)).xyz;
  float beyond = cutting == 0 ? -1.0 : dot(cut.xyz, centre) + cut.w - (cutting == 1 ? r : 0.0);
  colour = colourOf(value);
#ifdef EXACT
  ball = vec4(centre, r);
#endif
  gl_PointSize = max(ballPixels(centre, r), 1.5);
  gl_Position = projectionMatrix * vec4(centre.xy, centre.z, 1.0);
  if (!present(position, y, z) || beyond > 0.0 || centre.z > -1e-6) { gl_PointSize = 1.0; gl_Position = vec4(2.0, 2.0, 2.0, 1.0); }
}`;

/** With EXACT the depth is the ball's own, and a section shows its inside; without, balls are discs and cost less. */
const FRAGMENT = `precision highp float;
precision highp int;
${LIGHT}
${CUT}
uniform mat4 projectionMatrix;
flat in vec3 colour;
#ifdef EXACT
flat in vec4 ball;
#endif
out vec4 pixel;
void main() {
  vec2 p = vec2(2.0 * gl_PointCoord.x - 1.0, 1.0 - 2.0 * gl_PointCoord.y);
  float q = dot(p, p);
  if (q > 1.0) discard;
  vec3 n = vec3(p, sqrt(1.0 - q));
#ifdef EXACT
  float shade = 1.0;
  vec3 place = ball.xyz + ball.w * n;
  if (cutting == 1 && cutAway(place)) {
    vec3 back = vec3(place.xy, ball.z - ball.w * n.z);
    if (cutAway(back)) discard;
    place.z = -(dot(cut.xy, place.xy) + cut.w) / cut.z;
    n = normalize(cut.xyz);
    shade = 0.82;
  }
  gl_FragDepth = 0.5 - 0.5 * (projectionMatrix[2][2] * place.z + projectionMatrix[3][2]) / place.z;
  pixel = vec4(lit(colour * shade * mix(0.68, 1.0, n.z), n), 1.0);
#else
  // The same light without its tints.
  float light = 0.385 + 0.055 * n.y + 0.74 * max(dot(n, vec3(-0.397, 0.596, 0.698)), 0.0) + 0.14 * max(0.78 * n.x + 0.6 * n.z, 0.0);
  pixel = vec4(colour * (light * (0.65 + 0.35 * n.z)), 1.0);
#endif
}`;

/** From this many on, elements are sorted at rest, too. */
const MANY = 100_000;

export class Elements {
  /** @param {SharedUniforms} shared */
  constructor(shared) {
    this.uniforms = { ...shared.coloured(), pixels: shared.pixels, ballSize: shared.ballSize };
    const options = { glslVersion: GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms: this.uniforms };
    this.exact = new RawShaderMaterial({ ...options, defines: { EXACT: 1 } });
    this.quick = new RawShaderMaterial(options);
    this.geometry = new BufferGeometry();
    this.object = new Points(this.geometry, this.exact);
    this.object.frustumCulled = false;
    this.object.visible = false;
    this.count = 0;
    /** @type {Order | null} */
    this.order = null;
    this.index = new BufferAttribute(new Uint32Array(0), 1);
  }

  /** What does not change over time. @param {Float32Array} radii */
  setRadii(radii) {
    this.count = radii.length;
    this.geometry.dispose();
    this.geometry.setIndex(null);
    const attribute = (/** @type {Float32Array} */ numbers) => new BufferAttribute(numbers, 1);
    // Until a frame is shown, no element has a place.
    const absent = new Float32Array(this.count).fill(NaN);
    this.geometry.setAttribute("position", attribute(absent));
    this.geometry.setAttribute("y", attribute(absent));
    this.geometry.setAttribute("z", attribute(absent));
    this.geometry.setAttribute("radius", attribute(radii));
    this.geometry.setAttribute("value", attribute(new Float32Array(this.count)));
  }

  /** @param {Float32Array} x @param {Float32Array} y @param {Float32Array} z */
  setPlaces(x, y, z) {
    this.#replace("position", x);
    this.#replace("y", y);
    this.#replace("z", z);
  }

  /** @param {import("./decode.js").Numbers} values */
  setValues(values) {
    this.#replace("value", values instanceof Float32Array ? values : Float32Array.from(values));
  }

  /** The buffer stays, the answer's own array is uploaded to it. @param {string} name @param {Float32Array} numbers */
  #replace(name, numbers) {
    const attribute = /** @type {BufferAttribute} */ (this.geometry.getAttribute(name));
    attribute.array = numbers;
    attribute.needsUpdate = true;
  }

  /**
   * In motion, and where there are many, balls are drawn from the nearest on, as those behind cost little then.
   * @param {boolean} exact @param {import("./three.module.min.js").PerspectiveCamera} eye
   * @param {number} limit of elements that are sorted; a GPU draws more of them faster than they are sorted
   */
  prepare(exact, eye, limit) {
    this.object.material = exact ? this.exact : this.quick;
    this.geometry.setIndex(null);
    this.geometry.setDrawRange(0, Infinity);
    if ((exact && this.count < MANY) || this.count > limit || !this.object.visible) return;
    if (this.order?.count !== this.count) {
      this.order = new Order(this.count);
      this.index = new BufferAttribute(this.order.indices, 1);
    }
    const column = (/** @type {string} */ name) => this.geometry.getAttribute(name).array;
    const whole = this.uniforms.cutting.value === 0 && this.uniforms.ballSize.value > 0.95;
    const count = this.order.update(
      { x: column("position"), y: column("y"), z: column("z"), r: column("radius") },
      eye,
      whole,
    );
    this.index.clearUpdateRanges();
    this.index.addUpdateRange(0, count);
    this.index.needsUpdate = true;
    this.geometry.setIndex(this.index);
    this.geometry.setDrawRange(0, count);
  }

  /** Bytes in buffers of the GPU. */
  get bytes() {
    return 20 * this.count + 4 * this.index.count;
  }

  dispose() {
    this.geometry.dispose();
    this.exact.dispose();
    this.quick.dispose();
  }
}

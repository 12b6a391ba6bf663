// Elements as balls: a point each, shaded as the ball it stands for.
import { BufferAttribute, BufferGeometry, GLSL3, Points, RawShaderMaterial } from "./three.module.min.js";
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
flat out vec4 ball;
void main() {
  float r = radius * ballSize;
  vec3 centre = (modelViewMatrix * vec4(position, y, z, 1.0)).xyz;
  float beyond = cutting == 0 ? -1.0 : dot(cut.xyz, centre) + cut.w - (cutting == 1 ? r : 0.0);
  colour = colourOf(value);
  ball = vec4(centre, r);
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
flat in vec4 ball;
out vec4 pixel;
void main() {
  vec2 p = vec2(2.0 * gl_PointCoord.x - 1.0, 1.0 - 2.0 * gl_PointCoord.y);
  float q = dot(p, p);
  if (q > 1.0) discard;
  vec3 n = vec3(p, sqrt(1.0 - q));
  float shade = 1.0;
#ifdef EXACT
  vec3 place = ball.xyz + ball.w * n;
  if (cutting == 1 && cutAway(place)) {
    vec3 back = vec3(place.xy, ball.z - ball.w * n.z);
    if (cutAway(back)) discard;
    place.z = -(dot(cut.xy, place.xy) + cut.w) / cut.z;
    n = normalize(cut.xyz);
    shade = 0.82;
  }
  gl_FragDepth = 0.5 - 0.5 * (projectionMatrix[2][2] * place.z + projectionMatrix[3][2]) / place.z;
#endif
  pixel = vec4(lit(colour * shade * mix(0.68, 1.0, n.z), n), 1.0);
}`;

/** Up to this many elements are sorted by depth, into this many buckets, for each frame drawn in motion. */
const SORTED = 200_000, BUCKETS = 2048;

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
    this.order = new BufferAttribute(new Uint32Array(0), 1);
    this.depths = new Float32Array(0);
  }

  /** What does not change over time. @param {Float32Array} radii */
  setRadii(radii) {
    this.count = radii.length;
    this.geometry.dispose();
    this.geometry.setIndex(null);
    const sorted = this.count <= SORTED ? this.count : 0;
    this.order = new BufferAttribute(new Uint32Array(sorted), 1);
    this.depths = new Float32Array(sorted);
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
   * @param {boolean} exact
   * @param {import("./three.module.min.js").PerspectiveCamera} eye discs are drawn from the nearest on, as those behind cost little then
   */
  prepare(exact, eye) {
    this.object.material = exact ? this.exact : this.quick;
    if (exact || this.count > SORTED || !this.object.visible) this.geometry.setIndex(null);
    else this.#sort(eye.matrixWorldInverse.elements);
  }

  /** A bucket sort by depth. @param {number[]} view matrix of the view */
  #sort(view) {
    const [x, y, z] = ["position", "y", "z"].map((name) => this.geometry.getAttribute(name).array);
    const [a, b, c] = [view[2], view[6], view[10]];
    let [low, high] = [Infinity, -Infinity];
    for (let k = 0; k < this.count; k++) {
      const depth = -(a * x[k] + b * y[k] + c * z[k]);
      this.depths[k] = depth;
      if (depth < low) low = depth;
      if (depth > high) high = depth;
    }
    const scale = (BUCKETS - 1) / (high > low ? high - low : 1);
    const starts = new Uint32Array(BUCKETS + 2);
    const bucket = (/** @type {number} */ k) => (this.depths[k] >= low ? Math.floor((this.depths[k] - low) * scale) : BUCKETS);
    for (let k = 0; k < this.count; k++) starts[bucket(k) + 1]++;
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    for (let k = 0; k < this.count; k++) this.order.array[starts[bucket(k)]++] = k;
    this.order.needsUpdate = true;
    this.geometry.setIndex(this.order);
  }

  /** Bytes in buffers of the GPU. */
  get bytes() {
    return 20 * this.count + 4 * this.order.count;
  }

  dispose() {
    this.geometry.dispose();
    this.exact.dispose();
    this.quick.dispose();
  }
}

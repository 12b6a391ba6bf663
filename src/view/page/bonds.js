// Bonds as lines between the elements' centres, and the breaks of a frame as sparks.
import {
  BufferAttribute,
  BufferGeometry,
  GLSL3,
  LineSegments,
  Points,
  RawShaderMaterial,
  Vector4,
} from "./three.module.min.js";
import { BALL } from "./elements.js";
import { COLOUR, CUT, SharedUniforms } from "./shading.js";

const LINES = `precision highp float;
precision highp int;
${COLOUR}
${BALL}
in float position, y, z;
out vec3 place;
out float absent;
void main() {
  vec4 view = modelViewMatrix * vec4(position, y, z, 1.0);
  place = view.xyz;
  absent = 0.0;
  gl_Position = projectionMatrix * view;
  if (!present(position, y, z)) { absent = 1.0; place = vec3(0.0); gl_Position = vec4(2.0, 2.0, 2.0, 1.0); }
}`;

const LINE_PIXEL = `precision highp float;
precision highp int;
${CUT}
uniform vec4 ink;
in vec3 place;
in float absent;
out vec4 pixel;
void main() {
  if (absent > 0.0 || cutAway(place)) discard;
  pixel = ink;
}`;

const SPARKS = `precision highp float;
precision highp int;
${BALL.replace("bool present(float a, float b, float c) { return finite(a) && finite(b) && finite(c); }", "")}
in vec4 position;
out vec3 place;
void main() {
  vec4 view = modelViewMatrix * vec4(position.xyz, 1.0);
  place = view.xyz;
  gl_PointSize = clamp(ballPixels(view.xyz, position.w), pixels * 0.006, 40.0);
  gl_Position = projectionMatrix * view;
}`;

const SPARK_PIXEL = `precision highp float;
precision highp int;
${CUT}
in vec3 place;
out vec4 pixel;
void main() {
  float q = length(2.0 * gl_PointCoord - 1.0);
  if (q > 1.0 || cutAway(place)) discard;
  pixel = vec4(mix(vec3(1.0, 0.42, 0.1), vec3(1.0, 0.86, 0.5), 1.0 - smoothstep(0.0, 0.5, q)), 0.85 * (1.0 - q));
}`;

/**
 * A counting sort: there are few frames and many bonds.
 * @param {Uint32Array} i @param {Uint32Array} j @param {Uint32Array} frame
 */
function byFrame(i, j, frame) {
  const kinds = Uint32Array.from(new Set(frame)).sort();
  const rank = new Map(Array.from(kinds, (number, k) => [number, k]));
  const next = new Uint32Array(kinds.length + 1);
  const ranks = Uint32Array.from(frame, (number) => rank.get(number) ?? 0);
  for (const k of ranks) next[k + 1]++;
  for (let k = 1; k < next.length; k++) next[k] += next[k - 1];
  const frames = new Uint32Array(frame.length);
  const pairs = new Uint32Array(2 * frame.length);
  ranks.forEach((k, bond) => {
    const place = next[k]++;
    frames[place] = frame[bond];
    pairs[2 * place] = i[bond];
    pairs[2 * place + 1] = j[bond];
  });
  return { frames, pairs };
}

/** Bonds sorted by the frame in which they break: every state is then one range of them. */
export class Bonds {
  /** @param {SharedUniforms} shared @param {BufferGeometry} elements whose places are the lines' ends */
  constructor(shared, elements) {
    this.elements = elements;
    const common = { cut: shared.cut, cutting: shared.cutting, pixels: shared.pixels, ballSize: shared.ballSize };
    const lines = (/** @type {Vector4} */ ink) =>
      new RawShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: LINES,
        fragmentShader: LINE_PIXEL,
        transparent: true,
        depthWrite: false,
        uniforms: { ...common, ink: { value: ink } },
      });
    this.parts = [new Vector4(0.55, 0.75, 1, 0.35), new Vector4(1, 0.35, 0.25, 0.5), new Vector4(1, 0.62, 0.16, 1)].map(
      (ink) => {
        const object = new LineSegments(new BufferGeometry(), lines(ink));
        object.frustumCulled = false;
        object.visible = false;
        return object;
      },
    );
    this.sparks = new Points(
      new BufferGeometry(),
      new RawShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: SPARKS,
        fragmentShader: SPARK_PIXEL,
        uniforms: common,
        transparent: true,
        depthTest: false,
        depthWrite: false,
      }),
    );
    this.sparks.frustumCulled = false;
    this.sparks.visible = false;
    this.objects = [...this.parts, this.sparks];
    this.room = 0;
    this.loaded = false;
  }

  /** @param {Uint32Array} i @param {Uint32Array} j @param {Uint32Array} frame */
  load(i, j, frame) {
    const sorted = byFrame(i, j, frame);
    this.frames = sorted.frames;
    this.pairs = sorted.pairs;
    const index = new BufferAttribute(this.pairs, 1);
    for (const part of this.parts) {
      part.geometry.dispose();
      part.geometry.setIndex(index);
      for (const name of ["position", "y", "z"]) part.geometry.setAttribute(name, this.elements.getAttribute(name));
    }
    this.loaded = true;
  }

  /** The number of sorted bonds that break before `frame`. @param {number} frame @returns {number} */
  #before(frame) {
    const frames = this.frames ?? [];
    let low = 0,
      high = frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (frames[middle] < frame) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * @param {number} frame @param {{intact: boolean, broken: boolean, breaks: boolean}} wanted
   * @param {{x: Float32Array, y: Float32Array, z: Float32Array, r: Float32Array} | null} places
   */
  show(frame, wanted, places) {
    const ready = this.loaded && places !== null;
    const [past, now] = [this.#before(frame), this.#before(frame + 1)];
    const total = this.frames?.length ?? 0;
    const ranges = [
      [now, total],
      [0, past],
      [past, now],
    ];
    const shown = [wanted.intact, wanted.broken, wanted.broken || wanted.breaks];
    this.parts.forEach((part, k) => {
      part.visible = ready && shown[k] && ranges[k][1] > ranges[k][0];
      part.geometry.setDrawRange(2 * ranges[k][0], 2 * (ranges[k][1] - ranges[k][0]));
    });
    this.sparks.visible = ready && wanted.breaks && now > past;
    if (this.sparks.visible && places) this.#spark(past, now, places);
    return { intact: total - now, broken: now, now: now - past };
  }

  /**
   * @param {number} first
   * @param {number} end
   * @param {{x: Float32Array, y: Float32Array, z: Float32Array, r: Float32Array}} at
   */
  #spark(first, end, at) {
    if (end - first > this.room) {
      this.room = Math.ceil(1.5 * (end - first));
      this.sparks.geometry.dispose();
      this.sparks.geometry.setAttribute("position", new BufferAttribute(new Float32Array(4 * this.room), 4));
    }
    const attribute = /** @type {BufferAttribute} */ (this.sparks.geometry.getAttribute("position"));
    const pairs = /** @type {Uint32Array} */ (this.pairs);
    let count = 0;
    for (let k = first; k < end; k++) {
      const [i, j] = [pairs[2 * k], pairs[2 * k + 1]];
      const middle = [at.x[i] + at.x[j], at.y[i] + at.y[j], at.z[i] + at.z[j]].map((sum) => 0.5 * sum);
      if (!middle.every(Number.isFinite)) continue;
      attribute.array.set([...middle, 1.1 * Math.min(at.r[i], at.r[j])], 4 * count++);
    }
    attribute.needsUpdate = true;
    this.sparks.geometry.setDrawRange(0, count);
  }

  /** Bytes in buffers of the GPU. */
  get bytes() {
    return 4 * (this.pairs?.length ?? 0) + 16 * this.room;
  }

  dispose() {
    for (const object of this.objects) {
      object.geometry.dispose();
      object.material.dispose();
    }
  }
}

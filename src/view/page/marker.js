// A ring around the selected element, seen through what is in front of it.
import { BufferAttribute, BufferGeometry, GLSL3, Points, RawShaderMaterial } from "./three.module.min.js";

const VERTEX = `precision highp float;
uniform mat4 modelViewMatrix, projectionMatrix;
uniform float pixels;
in vec4 position;
out float size;
void main() {
  vec4 view = modelViewMatrix * vec4(position.xyz, 1.0);
  size = max(2.0 * projectionMatrix[1][1] * 0.5 * position.w * pixels / max(-view.z, 1e-9) + 8.0, 16.0);
  gl_PointSize = size;
  gl_Position = projectionMatrix * view;
}`;

const FRAGMENT = `precision highp float;
in float size;
out vec4 pixel;
void main() {
  float away = (1.0 - length(2.0 * gl_PointCoord - 1.0)) * 0.5 * size;
  float ink = smoothstep(0.0, 1.0, away) * (1.0 - smoothstep(2.2, 3.2, away));
  float edge = smoothstep(0.0, 0.6, away) * (1.0 - smoothstep(3.2, 4.6, away));
  pixel = vec4(vec3(1.0, 0.71, 0.25) * ink, max(ink, 0.5 * edge));
}`;

export class Marker {
  /** @param {import("./three.module.min.js").Scene} scene @param {import("./shading.js").SharedUniforms} shared */
  constructor(scene, shared) {
    this.place = new BufferAttribute(new Float32Array(4), 4);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.place);
    this.object = new Points(
      geometry,
      new RawShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        uniforms: { pixels: shared.pixels },
        transparent: true,
        premultipliedAlpha: true,
        depthTest: false,
        depthWrite: false,
      }),
    );
    this.object.frustumCulled = false;
    this.object.renderOrder = 2;
    this.object.visible = false;
    scene.add(this.object);
  }

  /**
   * @param {{x: Float32Array, y: Float32Array, z: Float32Array, r: Float32Array} | null} places
   * @param {number} element
   */
  show(places, element) {
    const at = places ? [places.x[element], places.y[element], places.z[element], places.r[element]] : [];
    this.object.visible = at.length === 4 && at.every(Number.isFinite);
    if (!this.object.visible) return;
    this.place.array.set(at);
    this.place.needsUpdate = true;
  }
}

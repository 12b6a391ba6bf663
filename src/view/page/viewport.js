// The picture: one canvas with a pane for each store, drawn only when something changed.
import {
  Camera as AnyCamera,
  GLSL3,
  MathUtils,
  Mesh,
  PlaneGeometry,
  RawShaderMaterial,
  Scene,
  Vector3,
  WebGLRenderer,
} from "./three.module.min.js";
import { Quality } from "./quality.js";

/** @typedef {import("./storeview.js").StoreView} StoreView */
/** @typedef {{left: number, top: number, width: number, height: number}} Pane in CSS pixels */

/** Up to this many elements are sorted by depth for frames drawn in motion; any number where software draws. */
const SORTED = 200_000;
/** Cells of the backdrop along each side. */
const CELLS = 24;

/**
 * The ground of a pane, a little lighter in its middle. Colours lie in the vertices: pixels cost little where
 * software draws.
 */
function backdrop() {
  const geometry = new PlaneGeometry(2, 2, CELLS, CELLS);
  const options = {
    glslVersion: GLSL3,
    depthTest: false,
    depthWrite: false,
    vertexShader: `in vec3 position; out vec3 colour;
      void main() {
        colour = mix(vec3(0.175, 0.18, 0.19), vec3(0.075, 0.077, 0.083), smoothstep(0.0, 1.5, length(position.xy - vec2(0.0, 0.15))));
        gl_Position = vec4(position.xy, 0.0, 1.0);
      }`,
    fragmentShader: `precision highp float; in vec3 colour; out vec4 pixel;
      void main() {
        float grain = 0.0;
      #ifdef GRAIN
        grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) - 0.5;
      #endif
        pixel = vec4(colour + grain / 255.0, 1.0);
      }`,
  };
  const mesh = new Mesh(geometry);
  mesh.frustumCulled = false;
  const scene = new Scene();
  scene.add(mesh);
  return {
    scene,
    mesh,
    fine: new RawShaderMaterial({ ...options, defines: { GRAIN: 1 } }),
    quick: new RawShaderMaterial(options),
  };
}

/** Whether the browser draws by software, where antialiasing and many pixels cost too much. */
function drawsBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const facts = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = facts ? String(gl?.getParameter(facts.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Viewport {
  /**
   * @param {HTMLCanvasElement} canvas @param {import("./shading.js").SharedUniforms} shared
   * @param {{prepare: () => void, drawn: () => void}} hooks
   */
  constructor(canvas, shared, hooks) {
    this.canvas = canvas;
    this.shared = shared;
    this.hooks = hooks;
    this.software = drawsBySoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.autoClear = false;
    // The order of what is transparent is that of the scene; sorting would ask for bounds of every geometry.
    this.renderer.sortObjects = false;
    this.quality = new Quality(this.renderer.getContext(), Math.min(devicePixelRatio, this.software ? 1 : 2), () =>
      this.invalidate(),
    );
    this.backdrop = backdrop();
    this.nobody = new AnyCamera();
    /** @type {StoreView[]} */
    this.views = [];
    /** @type {import("./camera.js").Camera | null} */
    this.camera = null;
    this.size = { width: 1, height: 1, ratio: 0 };
    this.pending = false;
    this.draws = 0;
    new ResizeObserver(() => this.invalidate()).observe(canvas.parentElement ?? canvas);
    canvas.addEventListener("webglcontextrestored", () => this.invalidate());
  }

  invalidate() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.#draw();
    });
  }

  /** Something moves: until it rests, speed matters more than sharpness. */
  busy() {
    this.quality.busy();
  }

  /**
   * Panes from left to right, in CSS pixels; one above the other where it is narrow.
   * @returns {{left: number, top: number, width: number, height: number}[]}
   */
  panes() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement ?? this.canvas;
    const count = Math.max(1, this.views.length);
    if (width < height)
      return Array.from({ length: count }, (_, k) => ({
        left: 0,
        top: (height / count) * k,
        width,
        height: height / count,
      }));
    return Array.from({ length: count }, (_, k) => ({
      left: (width / count) * k,
      top: 0,
      width: width / count,
      height,
    }));
  }

  /** @param {number} x @param {number} y @returns {number} the pane at a place of the canvas */
  paneAt(x, y) {
    return Math.max(
      0,
      this.panes().findIndex(
        (pane) => x >= pane.left && x < pane.left + pane.width && y >= pane.top && y < pane.top + pane.height,
      ),
    );
  }

  /** @param {{width: number, height: number}} pane */
  aim(pane) {
    if (!this.camera) return;
    const { eye, fov } = this.camera;
    eye.aspect = pane.width / Math.max(1, pane.height);
    const half = Math.tan(MathUtils.degToRad(fov) / 2) / Math.min(1, eye.aspect);
    eye.fov = 2 * MathUtils.radToDeg(Math.atan(half));
    eye.updateProjectionMatrix();
  }

  /** The ray through a place of the canvas. @param {number} x @param {number} y */
  ray(x, y) {
    const pane = this.panes()[this.paneAt(x, y)];
    this.aim(pane);
    const eye = /** @type {import("./camera.js").Camera} */ (this.camera).eye;
    const to = new Vector3(
      (2 * (x - pane.left)) / pane.width - 1,
      1 - (2 * (y - pane.top)) / pane.height,
      0.5,
    ).unproject(eye);
    return { origin: eye.position.clone(), direction: to.sub(eye.position).normalize() };
  }

  /** Where a place of pane `index` appears on the canvas. @param {number} index @param {Vector3} place */
  project(index, place) {
    const pane = this.panes()[index];
    this.aim(pane);
    const at = place.clone().project(/** @type {import("./camera.js").Camera} */ (this.camera).eye);
    return { x: pane.left + ((at.x + 1) / 2) * pane.width, y: pane.top + ((1 - at.y) / 2) * pane.height };
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement ?? this.canvas;
    const ratio = this.quality.ratio;
    if (this.size.width === width && this.size.height === height && this.size.ratio === ratio) return;
    this.size = { width, height, ratio };
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(Math.max(1, width), Math.max(1, height));
  }

  #draw() {
    const camera = this.camera;
    if (!camera) return;
    this.#resize();
    this.hooks.prepare();
    this.backdrop.mesh.material = this.quality.sharp ? this.backdrop.fine : this.backdrop.quick;
    this.renderer.setScissorTest(true);
    this.panes().forEach((pane, k) => {
      const bottom = this.size.height - pane.top - pane.height;
      this.renderer.setViewport(pane.left, bottom, pane.width, pane.height);
      this.renderer.setScissor(pane.left, bottom, pane.width, pane.height);
      this.renderer.clear();
      this.renderer.render(this.backdrop.scene, this.nobody);
      const view = this.views[k];
      if (!view) return;
      this.aim(pane);
      this.shared.pixels.value = pane.height * this.quality.ratio;
      view.elements.prepare(
        this.quality.sharp || this.shared.cutting.value === 1,
        camera.eye,
        this.software ? Infinity : SORTED,
      );
      this.renderer.render(view.scene, camera.eye);
    });
    this.draws++;
    this.quality.drawn();
    this.hooks.drawn();
  }
}

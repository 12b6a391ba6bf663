// The section plane: along an axis or the view, anywhere within the scene.
import { Vector3 } from "./three.module.min.js";

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

export class Section {
  /** @param {import("./settings.js").Settings} settings @param {import("./camera.js").Camera} camera */
  constructor(settings, camera) {
    this.settings = settings;
    this.camera = camera;
    this.view = new Vector3(0, 0, 1);
    this.box = { min: new Vector3(-1, -1, -1), max: new Vector3(1, 1, 1) };
    for (const button of document.querySelectorAll("[data-axis]")) {
      button.addEventListener("click", () => this.choose(/** @type {HTMLElement} */ (button).dataset.axis ?? "off"));
    }
    byId("cut-at").addEventListener("input", () => settings.set({ cutAt: Number(byId("cut-at").value) }));
    byId("cut-flip").addEventListener("change", () => settings.set({ flip: byId("cut-flip").checked }));
    byId("cut-whole").addEventListener("change", () => settings.set({ whole: byId("cut-whole").checked }));
    settings.watch(() => this.reflect());
  }

  /** @param {string} axis "off", "x", "y", "z" or "view": the direction of the view at this moment */
  choose(axis) {
    if (axis === "view") this.view.setFromMatrixColumn(this.camera.eye.matrix, 2);
    this.settings.set({ axis: /** @type {any} */ (axis) });
  }

  /** @param {number[]} min @param {number[]} max of what can be cut */
  setBox(min, max) {
    this.box = { min: new Vector3().fromArray(min), max: new Vector3().fromArray(max) };
  }

  /**
   * The plane: places with normal · place + offset > 0 are cut away.
   * @returns {{normal: Vector3, offset: number} | null}
   */
  plane() {
    const { axis, cutAt, flip } = this.settings.values;
    if (axis === "off") return null;
    const normal =
      axis === "view"
        ? this.view.clone()
        : new Vector3(Number(axis === "x"), Number(axis === "y"), Number(axis === "z"));
    const middle = this.box.min.clone().add(this.box.max).multiplyScalar(0.5);
    const half = this.box.max.clone().sub(middle);
    const reach = Math.abs(normal.x) * half.x + Math.abs(normal.y) * half.y + Math.abs(normal.z) * half.z;
    const at = normal.dot(middle) + (2 * cutAt - 1) * 1.02 * reach;
    return flip ? { normal: normal.negate(), offset: at } : { normal, offset: -at };
  }

  /** Sets the plane in view space. @param {import("./shading.js").SharedUniforms} shared */
  apply(shared) {
    const plane = this.plane();
    shared.cutting.value = plane ? (this.settings.values.whole ? 2 : 1) : 0;
    if (!plane) return;
    const eye = this.camera.eye;
    const normal = plane.normal.clone().transformDirection(eye.matrixWorldInverse);
    // The division by this component finds the cut of a ball; a plane along the view needs a small one.
    if (Math.abs(normal.z) < 1e-4) normal.z = normal.z < 0 ? -1e-4 : 1e-4;
    shared.cut.value.set(normal.x, normal.y, normal.z, plane.normal.dot(eye.position) + plane.offset);
  }

  reflect() {
    const { axis, cutAt, flip, whole } = this.settings.values;
    for (const button of document.querySelectorAll("[data-axis]"))
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.axis === axis));
    byId("cut-at").value = String(cutAt);
    byId("cut-flip").checked = flip;
    byId("cut-whole").checked = whole;
    byId("cut-options").hidden = axis === "off";
  }
}

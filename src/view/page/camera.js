// One camera for all panes, turned about a target by mouse, touch and keys. y is up.
import { MathUtils, PerspectiveCamera, Spherical, Vector3 } from "./three.module.min.js";

/** @typedef {{eye: number[], target: number[], fov: number}} Start */

/** Views by name: direction from the target to the eye. */
const VIEWS = {
  front: [0, 0, 1],
  back: [0, 0, -1],
  right: [1, 0, 0],
  left: [-1, 0, 0],
  top: [0, 1, 0],
  bottom: [0, -1, 0],
};

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Camera {
  /** @param {() => void} changed called whenever the picture must be drawn anew */
  constructor(changed) {
    this.changed = changed;
    this.eye = new PerspectiveCamera(40, 1, 0.01, 100);
    this.target = new Vector3();
    this.place = new Spherical(1, Math.PI / 2.4, 0.6);
    this.size = 1;
    /** Angle of view in degrees over the shorter side of a pane. */
    this.fov = 40;
    /** @type {Start | null} */
    this.start = null;
    this.motion = 0;
    this.apply();
  }

  /** @param {Start} start @param {number} size radius of the scene */
  reset(start, size) {
    this.start = start;
    this.size = size;
    this.fov = start.fov;
    const target = new Vector3().fromArray(start.target);
    const place = new Spherical().setFromVector3(new Vector3().fromArray(start.eye).sub(target)).makeSafe();
    this.#go(target, place);
  }

  home() {
    if (this.start) this.reset(this.start, this.size);
  }

  /** @param {string} name of a view, "front" and so on */
  look(name) {
    if (!Object.hasOwn(VIEWS, name)) return;
    const [x, y, z] = VIEWS[/** @type {keyof typeof VIEWS} */ (name)];
    const place = new Spherical().setFromVector3(new Vector3(x, y, z)).makeSafe();
    if (x === 0 && z === 0) place.theta = 0;
    place.radius = this.place.radius;
    this.#go(this.target.clone(), place);
  }

  /** @param {Vector3} target turned about from now on */
  centre(target) {
    this.#go(target.clone(), this.place.clone());
  }

  /** Shows a ball as large as the picture. @param {Vector3} target @param {number} radius */
  frame(target, radius) {
    const place = this.place.clone();
    place.radius = (1.25 * radius) / Math.sin(MathUtils.degToRad(this.fov) / 2);
    this.#go(target.clone(), place);
  }

  /**
   * Moves there within a fifth of a second, or at once for those who asked for less motion.
   * @param {Vector3} target
   * @param {Spherical} place
   */
  #go(target, place) {
    cancelAnimationFrame(this.motion);
    const from = { target: this.target.clone(), place: this.place.clone(), time: performance.now() };
    const turn = place.theta - from.place.theta;
    const shortest = turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    const step = (/** @type {number} */ now) => {
      const part = still.matches || this.fresh ? 1 : Math.min(1, Math.max(0, (now - from.time) / 200));
      const eased = part * part * (3 - 2 * part);
      this.target.lerpVectors(from.target, target, eased);
      this.place.radius = MathUtils.lerp(from.place.radius, place.radius, eased);
      this.place.phi = MathUtils.lerp(from.place.phi, place.phi, eased);
      this.place.theta = from.place.theta + shortest * eased;
      this.apply();
      if (part < 1) this.motion = requestAnimationFrame(step);
    };
    step(performance.now());
    this.fresh = false;
  }

  /** The first view is not travelled to. */
  fresh = true;

  /** @param {number} right @param {number} down in radians */
  orbit(right, down) {
    this.place.theta -= right;
    this.place.phi = MathUtils.clamp(this.place.phi - down, 0.001, Math.PI - 0.001);
    this.apply();
  }

  /** @param {number} right @param {number} down in heights of the picture */
  pan(right, down) {
    const height = 2 * this.place.radius * Math.tan(MathUtils.degToRad(this.eye.fov) / 2);
    const axis = (/** @type {number} */ k) => new Vector3().setFromMatrixColumn(this.eye.matrix, k);
    this.target.addScaledVector(axis(0), -right * height).addScaledVector(axis(1), down * height);
    this.apply();
  }

  /**
   * What lies under `at` stays there.
   * @param {number} factor of the distance
   * @param {{x: number, y: number}} [at] in heights of the picture from its middle, y up
   */
  zoom(factor, at = { x: 0, y: 0 }) {
    const radius = MathUtils.clamp(this.place.radius * factor, this.size * 1e-3, this.size * 200);
    const share = 1 - radius / this.place.radius;
    this.place.radius = radius;
    const height = ((2 * radius) / (1 - share)) * Math.tan(MathUtils.degToRad(this.eye.fov) / 2);
    const axis = (/** @type {number} */ k) => new Vector3().setFromMatrixColumn(this.eye.matrix, k);
    this.target.addScaledVector(axis(0), at.x * height * share).addScaledVector(axis(1), at.y * height * share);
    this.apply();
  }

  apply() {
    this.eye.position.setFromSpherical(this.place).add(this.target);
    this.eye.lookAt(this.target);
    this.eye.near = Math.max(this.place.radius - 4 * this.size, this.place.radius * 0.01);
    this.eye.far = this.place.radius + 24 * this.size;
    this.eye.updateMatrix();
    this.eye.updateMatrixWorld();
    this.changed();
  }
}

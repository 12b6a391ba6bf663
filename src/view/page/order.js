// The order in which elements are drawn in motion: from the nearest on, those that many others hide left out.

/** Buckets of depth. */
const BUCKETS = 2048;
/** Cells along the longer side of the picture at most. */
const CELLS = 512;
/** Side of a cell in diameters of a mean ball. */
const SIDE = 0.7;
/** Balls behind this many times a cell's area of nearer balls are taken for hidden. */
const COVERED = 5;

export class Order {
  /** @param {number} count of elements */
  constructor(count) {
    this.count = count;
    this.depths = new Float32Array(count);
    this.sorted = new Uint32Array(count);
    this.indices = new Uint32Array(count);
    this.cover = new Float32Array(CELLS * CELLS);
  }

  /**
   * Fills `indices` and returns their number.
   * @param {{x: ArrayLike<number>, y: ArrayLike<number>, z: ArrayLike<number>, r: ArrayLike<number>}} at
   * @param {import("./three.module.min.js").PerspectiveCamera} eye
   * @param {boolean} cull whether hidden ones may be left out
   */
  update(at, eye, cull) {
    const [low, high] = this.#measure(at, eye.matrixWorldInverse.elements);
    this.#sort(low, high);
    if (!cull || !(high > 0)) {
      this.indices.set(this.sorted);
      return this.count;
    }
    return this.#cull(at, eye, 0.5 * (Math.max(low, 0) + high));
  }

  /**
   * @param {{x: ArrayLike<number>, y: ArrayLike<number>, z: ArrayLike<number>}} at
   * @param {number[]} view
   * @returns {[number, number]} bounds of depth
   */
  #measure({ x, y, z }, view) {
    const [a, b, c, d] = [-view[2], -view[6], -view[10], -view[14]];
    let [low, high] = [Infinity, -Infinity];
    for (let k = 0; k < this.count; k++) {
      const depth = a * x[k] + b * y[k] + c * z[k] + d;
      this.depths[k] = depth;
      if (depth < low) low = depth;
      if (depth > high) high = depth;
    }
    return [low, high];
  }

  /** A bucket sort; elements without a place come last. @param {number} low @param {number} high */
  #sort(low, high) {
    const scale = (BUCKETS - 1) / (high > low ? high - low : 1);
    const starts = new Uint32Array(BUCKETS + 2);
    const { depths, sorted } = this;
    const bucket = (/** @type {number} */ k) => (depths[k] >= low ? Math.floor((depths[k] - low) * scale) : BUCKETS);
    for (let k = 0; k < this.count; k++) starts[bucket(k) + 1]++;
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    for (let k = 0; k < this.count; k++) sorted[starts[bucket(k)]++] = k;
  }

  /**
   * Counts the area of balls over cells of the picture.
   * @param {{x: ArrayLike<number>, y: ArrayLike<number>, z: ArrayLike<number>, r: ArrayLike<number>}} at
   * @param {import("./three.module.min.js").PerspectiveCamera} eye
   * @param {number} middle depth for which cells are sized
   */
  #cull({ x, y, z, r }, eye, middle) {
    const view = eye.matrixWorldInverse.elements;
    const [p, q] = [eye.projectionMatrix.elements[0], eye.projectionMatrix.elements[5]];
    let mean = 0;
    for (let k = 0; k < this.count; k += 16) mean += r[k];
    mean /= Math.ceil(this.count / 16);
    // Heights of the picture are 2 in these units.
    const side = Math.max((2 * SIDE * mean * q) / middle, (2 * Math.max(1, q / p)) / (CELLS - 2));
    const wide = (side * p) / q;
    this.cover.fill(0);
    let count = 0;
    for (let n = 0; n < this.count; n++) {
      const k = this.sorted[n];
      const depth = this.depths[k];
      if (!(depth > 0)) continue;
      const right = (p * (view[0] * x[k] + view[4] * y[k] + view[8] * z[k] + view[12])) / depth;
      const up = (q * (view[1] * x[k] + view[5] * y[k] + view[9] * z[k] + view[13])) / depth;
      if (!(Math.abs(right) < 1.05 && Math.abs(up) < 1.05)) continue;
      const cell = Math.floor((up + 1.05) / side) * CELLS + Math.floor((right + 1.05) / wide);
      const size = (q * r[k]) / depth;
      if (this.cover[cell] > COVERED && size < side) continue;
      this.cover[cell] += (Math.PI * size * size) / (side * side);
      this.indices[count++] = k;
    }
    return count;
  }
}

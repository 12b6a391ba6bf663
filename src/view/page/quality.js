// How many pixels are drawn: all of them at rest, fewer in motion where drawing is slow.

/** Milliseconds a frame may take to draw in motion, and the time without motion that counts as rest. */
const BUDGET = 26,
  REST = 220;
const LEAST = 0.5;

export class Quality {
  /**
   * @param {WebGL2RenderingContext | WebGLRenderingContext} gl
   * @param {number} full ratio of drawn to CSS pixels at rest
   * @param {() => void} redraw
   */
  constructor(gl, full, redraw) {
    this.gl = /** @type {WebGL2RenderingContext} */ (gl);
    this.full = full;
    this.redraw = redraw;
    /** Part of the pixels' width drawn in motion. */
    this.part = 1;
    this.moving = false;
    this.held = false;
    /** Smoothed milliseconds from submitting a frame to its end. */
    this.cost = 0;
    this.timer = 0;
    /** @type {{fence: WebGLSync, time: number, moving: boolean} | null} */
    this.probe = null;
  }

  get ratio() {
    return this.moving ? this.full * this.part : this.full;
  }

  get sharp() {
    return !this.moving;
  }

  busy() {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => {
        if (this.held) return;
        this.moving = false;
        this.redraw();
      },
      Math.max(REST, 3 * this.cost),
    );
    this.moving = true;
  }

  /** While something is held, as by a finger on the picture, it counts as moving. @param {boolean} held */
  hold(held) {
    this.held = held;
    if (!held && this.moving) this.busy();
  }

  /** A frame has been submitted: measures when the GPU is done with it. */
  drawn() {
    if (this.probe) return;
    const fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence) return;
    this.gl.flush();
    this.probe = { fence, time: performance.now(), moving: this.moving };
    this.#poll();
  }

  #poll = () => {
    const probe = this.probe;
    if (!probe) return;
    const state = this.gl.getSyncParameter(probe.fence, this.gl.SYNC_STATUS);
    if (state !== this.gl.SIGNALED && !this.gl.isContextLost()) {
      setTimeout(this.#poll, 8);
      return;
    }
    this.gl.deleteSync(probe.fence);
    this.probe = null;
    if (probe.moving) this.#adapt(performance.now() - probe.time);
  };

  /** @param {number} took milliseconds */
  #adapt(took) {
    this.cost = this.cost === 0 ? took : this.cost + 0.3 * (took - this.cost);
    const change = Math.sqrt(BUDGET / Math.max(this.cost, 1));
    // A new size costs new buffers: small changes are not worth one.
    if (change > 0.87 && change < 1.4) return;
    const part = Math.min(1, Math.max(LEAST, this.part * Math.max(0.6, Math.min(1.3, change))));
    if (Math.abs(part - this.part) < 0.04) return;
    this.part = part;
    this.cost = 0;
  }
}

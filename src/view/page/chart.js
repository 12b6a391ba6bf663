// A line chart on a canvas: a line at the current time, values under the pointer, seeking by click and drag.
import { make } from "./legend.js";
import { scaleFor, plain, tickText, ticks } from "./units.js";

/** @typedef {{label: string, colour: string, dashed: boolean, times: number[], values: number[]}} Series */

const EDGE = { left: 44, right: 8, top: 8, bottom: 17 };

export class Chart {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{seek: (time: number) => void, hover: (text: string[] | null) => void}} hooks
   */
  constructor(canvas, hooks) {
    this.canvas = canvas;
    this.hooks = hooks;
    /** @type {Series[]} */
    this.series = [];
    this.unit = "";
    this.time = 0;
    this.width = 0;
    this.span = [0, 1];
    this.bounds = [0, 1];
    /** @type {number | null} */
    this.pointer = null;
    this.pending = false;
    // The line at the current time moves with every frame; the chart itself is not drawn anew for it.
    this.cursor = make("i", "cursor", canvas.parentElement ?? undefined);
    new ResizeObserver(() => this.redraw()).observe(canvas);
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#seek(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) this.#seek(event);
      this.#hover(this.#timeAt(event));
    });
    canvas.addEventListener("pointerleave", () => this.#hover(null));
  }

  /** @param {Series[]} series @param {string} unit @param {[number, number]} span of time */
  set(series, unit, span) {
    this.series = series;
    this.unit = unit;
    this.span = span[1] > span[0] ? span : [span[0], span[0] + 1];
    let [low, high] = [0, 0];
    for (const { values } of series) {
      for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    this.bounds = high > low ? [low, high + 0.04 * (high - low)] : [0, 1];
    this.redraw();
  }

  /** @param {number} time */
  setTime(time) {
    this.time = time;
    this.#place();
  }

  #place() {
    const part = (this.time - this.span[0]) / (this.span[1] - this.span[0]);
    this.cursor.hidden = !(part >= 0 && part <= 1);
    const x = EDGE.left + part * (this.width - EDGE.left - EDGE.right);
    this.cursor.style.transform = `translateX(${Math.round(x)}px)`;
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.#draw();
    });
  }

  /** @param {PointerEvent} event @returns {number} */
  #timeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const part = (event.clientX - box.left - EDGE.left) / Math.max(1, box.width - EDGE.left - EDGE.right);
    return this.span[0] + Math.min(1, Math.max(0, part)) * (this.span[1] - this.span[0]);
  }

  /** @param {PointerEvent} event */
  #seek(event) {
    this.hooks.seek(this.#timeAt(event));
  }

  /** @param {number | null} time */
  #hover(time) {
    this.pointer = time;
    this.hooks.hover(time === null ? null : this.series.map((series) => this.#valueText(series, time)));
    this.redraw();
  }

  /** @param {Series} series @param {number} time @returns {string} */
  #valueText(series, time) {
    const value = series.values[nearest(series.times, time)];
    const scale = scaleFor(Math.max(...this.bounds.map(Math.abs)), this.unit);
    return value === undefined ? "–" : `${plain(value / scale.factor)} ${scale.unit}`.trim();
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context || width === 0) return;
    const ratio = Math.min(devicePixelRatio, 2);
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const x = (/** @type {number} */ time) =>
      EDGE.left + ((time - this.span[0]) / (this.span[1] - this.span[0])) * (width - EDGE.left - EDGE.right);
    const y = (/** @type {number} */ value) =>
      height -
      EDGE.bottom -
      ((value - this.bounds[0]) / (this.bounds[1] - this.bounds[0])) * (height - EDGE.top - EDGE.bottom);
    this.#axes(context, x, y, width, height);
    for (const series of this.series) line(context, series, x, y);
    const upright = (/** @type {number} */ time, /** @type {string} */ colour) => {
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(Math.round(x(time)) + 0.5, EDGE.top - 4);
      context.lineTo(Math.round(x(time)) + 0.5, height - EDGE.bottom);
      context.stroke();
    };
    if (this.pointer !== null) upright(this.pointer, "#8a8f98");
    this.width = width;
    this.#place();
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {(time: number) => number} x @param {(value: number) => number} y
   * @param {number} width @param {number} height
   */
  #axes(context, x, y, width, height) {
    const scale = scaleFor(Math.max(...this.bounds.map(Math.abs)), this.unit);
    const clock = scaleFor(Math.max(...this.span.map(Math.abs)), "s");
    context.font = "10px system-ui, sans-serif";
    context.fillStyle = "#8f959e";
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const levels = ticks(this.bounds[0] / scale.factor, this.bounds[1] / scale.factor, (height - 25) / 26);
    levels.forEach((value, k) => {
      const level = Math.round(y(value * scale.factor)) + 0.5;
      context.strokeStyle = value === 0 ? "#4b4f56" : "#2c2f34";
      context.beginPath();
      context.moveTo(EDGE.left, level);
      context.lineTo(width - EDGE.right, level);
      context.stroke();
      context.fillText(
        `${tickText(value)}${k === levels.length - 1 && scale.unit ? ` ${scale.unit}` : ""}`,
        EDGE.left - 5,
        level,
      );
    });
    context.textBaseline = "alphabetic";
    const moments = ticks(this.span[0] / clock.factor, this.span[1] / clock.factor, width / 75);
    moments.forEach((value, k) => {
      const last = k === moments.length - 1;
      context.textAlign = last ? "right" : "center";
      context.fillText(
        `${tickText(value)}${last ? ` ${clock.unit}` : ""}`,
        Math.min(x(value * clock.factor) + (last ? 10 : 0), width - 2),
        height - 4,
      );
    });
  }
}

/**
 * @param {CanvasRenderingContext2D} context @param {Series} series
 * @param {(time: number) => number} x @param {(value: number) => number} y
 */
function line(context, series, x, y) {
  context.strokeStyle = series.colour;
  context.lineWidth = 1.5;
  context.lineJoin = "round";
  context.setLineDash(series.dashed ? [4, 3] : []);
  context.beginPath();
  let open = false;
  series.times.forEach((time, k) => {
    const value = series.values[k];
    if (!Number.isFinite(value) || !Number.isFinite(time)) open = false;
    else if (open) context.lineTo(x(time), y(value));
    else {
      context.moveTo(x(time), y(value));
      open = true;
    }
  });
  context.stroke();
  context.setLineDash([]);
}

/** @param {number[]} times @param {number} time @returns {number} */
function nearest(times, time) {
  let best = 0;
  times.forEach((other, k) => {
    if (Math.abs(other - time) < Math.abs(times[best] - time)) best = k;
  });
  return best;
}

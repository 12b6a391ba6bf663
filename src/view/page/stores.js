// What the server says about its stores, checked: names are any text, numbers may be anything.
import { finite, isCount } from "./decode.js";

/**
 * @typedef {{name: string, unit: string, doc: string}} Quantity
 * @typedef {{running: boolean, stage: string, awake: number | null, elements: number, secondsLeft: number | null, framesLeft: number
 *   | null}} Live
 * @typedef {{name: string, stamp: string, frames: number[], times: number[], surfaces: Set<number>, elementsIn: Set<number>,
 *   elements: number,
 *   bonds: number, bodies: {name: string, material: string}[], materials: {name: string}[], columns: Quantity[],
 *   camera: import("./camera.js").Start | null, bounds: {min: number[], max: number[]} | null, end: number | null,
 *   colliders: {name: string, kind: string}[], live: Live, error: string | null}} Store
 */

/** @param {any} answer of /api/stores @returns {{version: string, stores: Store[]}} */
export function readStores(answer) {
  if (!Array.isArray(answer?.stores)) throw new Error("the server's answer lists no stores");
  return { version: text(answer.version), stores: answer.stores.slice(0, 2).map(readStore) };
}

/** @param {any} raw @returns {Store} */
function readStore(raw) {
  const times = list(raw?.times);
  const frames = list(raw?.frames).map((frame, k) => ({ frame, time: finite(times[k]) ?? k }));
  const sound = frames.filter((entry) => isCount(entry.frame)).sort((a, b) => a.time - b.time);
  return {
    name: text(raw?.name) || "store",
    stamp: text(raw?.stamp),
    frames: sound.map((entry) => entry.frame),
    times: sound.map((entry) => entry.time),
    surfaces: new Set(list(raw?.surfaces).filter(isCount)),
    elementsIn: new Set(list(raw?.elements_in).filter(isCount)),
    elements: isCount(raw?.elements) ? raw.elements : 0,
    bonds: isCount(raw?.bonds) ? raw.bonds : 0,
    bodies: list(raw?.bodies).map((body) => ({ name: text(body?.name), material: text(body?.material) })),
    materials: list(raw?.materials).map((material) => ({ name: text(material?.name) })),
    columns: list(raw?.columns)
      .map((column) => ({ name: text(column?.name), unit: text(column?.unit), doc: text(column?.doc) }))
      .filter((column) => column.name),
    camera: readCamera(raw?.camera),
    bounds: readBounds(raw?.bounds),
    end: finite(raw?.end),
    colliders: list(raw?.colliders).map((collider) => ({ name: text(collider?.name), kind: text(collider?.kind) })),
    live: readLive(raw?.live),
    error: typeof raw?.error === "string" ? raw.error : null,
  };
}

/** @param {any} raw @returns {Live} */
function readLive(raw) {
  return {
    running: raw?.running === true,
    stage: text(raw?.stage),
    awake: finite(raw?.awake),
    elements: finite(raw?.elements) ?? 0,
    secondsLeft: finite(raw?.seconds_left),
    framesLeft: finite(raw?.frames_left),
  };
}

/** @param {any} raw @returns {import("./camera.js").Start | null} */
function readCamera(raw) {
  const [eye, target] = [vector(raw?.eye), vector(raw?.target)];
  const apart = eye && target && Math.hypot(...eye.map((value, k) => value - target[k])) > 0;
  if (!eye || !target || !apart) return null;
  return { eye, target, fov: Math.min(120, Math.max(1, finite(raw.fov) ?? 40)) };
}

/** @param {any} raw */
function readBounds(raw) {
  const [min, max] = [vector(raw?.min), vector(raw?.max)];
  return min && max && min.every((value, k) => value <= max[k]) ? { min, max } : null;
}

/** @param {unknown} raw @returns {any[]} */
const list = (raw) => (Array.isArray(raw) ? raw : []);
/** @param {unknown} raw @returns {string} */
const text = (raw) => (typeof raw === "string" ? raw : "");
/** @param {unknown} raw @returns {number[] | null} */
const vector = (raw) =>
  Array.isArray(raw) && raw.length === 3 && raw.every((value) => finite(value) !== null) ? raw : null;

/**
 * The moments that the timeline shows, each with a frame of every store: those of the first store, then what others
 * have
 * outside of its time; a store without a frame at a moment shows its nearest.
 * @param {Store[]} stores @returns {{time: number, frames: (number | null)[]}[]}
 */
export function moments(stores) {
  /** @type {number[]} */
  let times = [];
  for (const store of stores) {
    const [first, last] = [times[0] ?? Infinity, times.at(-1) ?? -Infinity];
    times =
      times.length === 0
        ? [...store.times]
        : [...store.times.filter((time) => time < first), ...times, ...store.times.filter((time) => time > last)];
  }
  return times.map((time) => ({ time, frames: stores.map((store) => nearest(store, time)) }));
}

/** @param {Store} store @param {number} time @returns {number | null} */
function nearest(store, time) {
  let [low, high] = [0, store.times.length - 1];
  if (high < 0) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (store.times[middle] <= time) low = middle;
    else high = middle;
  }
  return store.frames[Math.abs(store.times[high] - time) < Math.abs(store.times[low] - time) ? high : low];
}

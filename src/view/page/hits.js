// What lies under a ray through the picture of a store, and how far its contents reach.
import { Vector3 } from "./three.module.min.js";
import { pickElement, pickTriangle } from "./pick.js";

/**
 * @typedef {import("./storeview.js").StoreView} StoreView
 * @typedef {{scale: number, whole: boolean, plane: {normal: Vector3, offset: number} | null}} Look
 * @typedef {{store: number, kind: "element" | "fragment", element: number, fragment: number, place: Vector3}} Hit
 */

/** @param {StoreView} view @param {import("./pick.js").Ray} ray @param {Look} look @returns {Hit | null} */
export function hitOf(view, ray, look) {
  const at = (/** @type {number} */ distance) => ray.origin.clone().addScaledVector(ray.direction, distance);
  const places = view.places();
  if (view.elements.object.visible && places) {
    const found = pickElement(ray, places.x, places.y, places.z, places.r, look);
    if (!found) return null;
    return { store: view.number, kind: "element", element: found.element, fragment: 0, place: at(found.distance) };
  }
  const columns = view.content?.surfaces?.columns;
  if (!columns) return null;
  const data = (/** @type {string} */ name) => /** @type {any} */ (columns.get(name)?.data);
  const { plane } = look;
  const hidden = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ z) =>
    plane !== null && plane.normal.x * x + plane.normal.y * y + plane.normal.z * z + plane.offset > 0;
  const found = pickTriangle(ray, data("position"), data("triangles"), hidden);
  if (!found) return null;
  const fragment = data("fragment")[found.vertex];
  return { store: view.number, kind: "fragment", element: 0, fragment, place: at(found.distance) };
}

/** A ball around all that the frame shows. @param {StoreView} view @returns {{middle: Vector3, radius: number} | null} */
export function extentOf(view) {
  const places = view.places();
  const data = view.content?.surfaces?.columns.get("position")?.data;
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = new Vector3(-Infinity, -Infinity, -Infinity);
  const add = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ z) => {
    if (!Number.isFinite(x + y + z)) return;
    low.set(Math.min(low.x, x), Math.min(low.y, y), Math.min(low.z, z));
    high.set(Math.max(high.x, x), Math.max(high.y, y), Math.max(high.z, z));
  };
  if (data) for (let k = 0; k < data.length; k += 3) add(data[k], data[k + 1], data[k + 2]);
  else if (places) places.x.forEach((x, k) => add(x, places.y[k], places.z[k]));
  if (!(low.x <= high.x)) return null;
  return { middle: low.clone().add(high).multiplyScalar(0.5), radius: Math.max(0.5 * low.distanceTo(high), 1e-9) };
}

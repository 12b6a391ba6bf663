// What a ray meets first: an element or a triangle.
import { Vector3 } from "./three.module.min.js";

/** @typedef {{origin: Vector3, direction: Vector3}} Ray */
/** @typedef {(x: number, y: number, z: number) => boolean} Hidden whether the section cuts a place away */

/**
 * The element whose ball the ray meets first; as drawn, a ball that the section cuts is met at the cut.
 * @param {Ray} ray @param {Float32Array} x @param {Float32Array} y @param {Float32Array} z @param {Float32Array} r
 * @param {{scale: number, plane: {normal: Vector3, offset: number} | null, whole: boolean}} look
 * @returns {{element: number, distance: number} | null}
 */
export function pickElement(ray, x, y, z, r, look) {
  const [ox, oy, oz] = ray.origin.toArray();
  const [dx, dy, dz] = ray.direction.toArray();
  const plane = look.plane;
  const along = plane ? plane.normal.dot(ray.direction) : 0;
  const above = plane ? plane.normal.dot(ray.origin) + plane.offset : 0;
  let element = -1;
  let distance = Infinity;
  for (let k = 0; k < x.length; k++) {
    const [cx, cy, cz] = [x[k] - ox, y[k] - oy, z[k] - oz];
    const middle = cx * dx + cy * dy + cz * dz;
    const size = r[k] * look.scale;
    const half = size * size - (cx * cx + cy * cy + cz * cz - middle * middle);
    if (!(half >= 0)) continue;
    let hit = middle - Math.sqrt(half);
    if (plane) {
      const centre = plane.normal.x * x[k] + plane.normal.y * y[k] + plane.normal.z * z[k] + plane.offset;
      if (look.whole ? centre > 0 : centre > size) continue;
      if (!look.whole && above + along * hit > 0) {
        const cut = -above / along;
        if (!(cut > hit && cut < middle + Math.sqrt(half))) continue;
        hit = cut;
      }
    }
    if (hit > 0 && hit < distance) [element, distance] = [k, hit];
  }
  return element < 0 ? null : { element, distance };
}

/**
 * The first vertex of the triangle that the ray meets first (Möller and Trumbore 1997).
 * @param {Ray} ray @param {Float32Array} place @param {Uint32Array} triangles @param {Hidden} hidden
 * @returns {{vertex: number, distance: number} | null}
 */
export function pickTriangle(ray, place, triangles, hidden) {
  const [ox, oy, oz] = ray.origin.toArray();
  const [dx, dy, dz] = ray.direction.toArray();
  let vertex = -1;
  let distance = Infinity;
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k], 3 * triangles[k + 1], 3 * triangles[k + 2]];
    const [ux, uy, uz] = [place[b] - place[a], place[b + 1] - place[a + 1], place[b + 2] - place[a + 2]];
    const [vx, vy, vz] = [place[c] - place[a], place[c + 1] - place[a + 1], place[c + 2] - place[a + 2]];
    const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
    const volume = ux * px + uy * py + uz * pz;
    if (volume === 0) continue;
    const [tx, ty, tz] = [ox - place[a], oy - place[a + 1], oz - place[a + 2]];
    const u = (tx * px + ty * py + tz * pz) / volume;
    if (!(u >= 0 && u <= 1)) continue;
    const [qx, qy, qz] = [ty * uz - tz * uy, tz * ux - tx * uz, tx * uy - ty * ux];
    const v = (dx * qx + dy * qy + dz * qz) / volume;
    if (!(v >= 0 && u + v <= 1)) continue;
    const hit = (vx * qx + vy * qy + vz * qz) / volume;
    if (hit > 0 && hit < distance && !hidden(ox + hit * dx, oy + hit * dy, oz + hit * dz))
      [vertex, distance] = [triangles[k], hit];
  }
  return vertex < 0 ? null : { vertex, distance };
}

// Binary answers of the server: a header in JSON, then arrays. Nothing in them is trusted.

/**
 * @typedef {Float32Array | Uint32Array | Uint8Array | Int8Array} Numbers
 * @typedef {{data: Numbers, components: number, count: number, min: number | null, max: number | null}} Column
 * @typedef {{frame: number, time: number, header: Record<string, any>, columns: Map<string, Column>, bytes: number}}
 *   Table
 */

const TYPES = { f32: Float32Array, u32: Uint32Array, u8: Uint8Array, i8: Int8Array };

/** @param {unknown} value @returns {value is number} */
export const isCount = (value) => Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0;

/** @param {unknown} value @returns {number | null} */
export const finite = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/**
 * The header and the arrays of one answer, as views into `buffer`.
 * @param {ArrayBuffer} buffer @returns {Table}
 */
export function decode(buffer) {
  if (buffer.byteLength < 8) throw new Error("the answer is too short");
  const length = new DataView(buffer).getUint32(0, true);
  const start = 4 + length;
  if (start > buffer.byteLength || start % 8 !== 0) throw new Error("the answer's header has a wrong length");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (!header || !Array.isArray(header.arrays)) throw new Error("the answer's header lists no arrays");
  const columns = new Map();
  for (const entry of header.arrays) columns.set(String(entry?.name), view(buffer, start, entry));
  return {
    frame: finite(header.frame) ?? 0,
    time: finite(header.time) ?? 0,
    header,
    columns,
    bytes: buffer.byteLength,
  };
}

/** @param {ArrayBuffer} buffer @param {number} start @param {any} entry @returns {Column} */
function view(buffer, start, entry) {
  const Kind = Object.hasOwn(TYPES, entry?.type) ? TYPES[/** @type {keyof typeof TYPES} */ (entry.type)] : null;
  const { components, offset, count } = entry ?? {};
  const sound = Kind && isCount(components) && components >= 1 && components <= 4 && isCount(offset) && isCount(count);
  if (!sound || offset % 8 !== 0) throw new Error(`array ${String(entry?.name)} is described wrongly`);
  if (start + offset + count * components * Kind.BYTES_PER_ELEMENT > buffer.byteLength) {
    throw new Error(`array ${String(entry.name)} is longer than the answer`);
  }
  const data = new Kind(buffer, start + offset, count * components);
  return { data, components, count, min: finite(entry.min), max: finite(entry.max) };
}

/**
 * The column `name` of `table`, if it has the type, width and, where given, number of rows that are needed.
 * @param {Table} table @param {string} name @param {Function} kind @param {number} components @param {number} [count]
 * @returns {Column}
 */
export function need(table, name, kind, components, count) {
  const column = table.columns.get(name);
  if (!column) throw new Error(`array ${name} is missing`);
  if (!(column.data instanceof kind) || column.components !== components) {
    throw new Error(`array ${name} has another type than expected`);
  }
  if (count !== undefined && column.count !== count) {
    throw new Error(`array ${name} has ${column.count} rows instead of ${count}`);
  }
  return column;
}

/**
 * Refuses indices at or above `limit`.
 * @param {Numbers} indices @param {number} limit @param {string} what
 */
export function checkIndices(indices, limit, what) {
  let largest = -1;
  for (let k = 0; k < indices.length; k++) if (indices[k] > largest) largest = indices[k];
  if (largest >= limit) throw new Error(`${what} refer to row ${largest} of ${limit}`);
}

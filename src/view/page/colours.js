// Colour maps for numbers and a palette for labels, as one small texture.
import { DataTexture, NearestFilter, RGBAFormat } from "./three.module.min.js";

/** Control points at equal steps, from matplotlib (viridis, cividis and inferno: CC0; coolwarm: K. Moreland 2009). */
const MAPS = {
  viridis: "44015448186a472d7b4240863b528b33638d2c728e26828e21918c1fa08828ae803fbc735ec96284d44baddc30d8e219fde725",
  cividis: "00224e002e6a1a386f32436d434e6c535a6d61656f6f70737d7c788c88789b9476aba072bcae6ccdbb63dec958f0d846fee838",
  inferno: "0000040b0724210c4a3d096557106e71196e8a226aa32c61bc3754d24644e45a31f1731df98e09fcac11f9cb35f2ea69fcffa4",
  coolwarm: "3b4cc04e68d86282ea779af78db0fea3c2feb9d0f9ccd9eddddcdcecd3c5f5c4acf7b093f4987aeb7d62dd5f4bca3b37b40426",
};

/** @typedef {keyof typeof MAPS} MapName */

/** The map whose middle stands for zero. */
export const DIVERGING = "coolwarm";

/** @param {string} name @returns {name is MapName} */
export const isMap = (name) => Object.hasOwn(MAPS, name);

/** @param {MapName} name @param {number} at from 0 to 1 @returns {[number, number, number]} 0 to 255 */
export function mapColour(name, at) {
  const text = MAPS[name];
  const last = text.length / 6 - 1;
  const place = Math.min(1, Math.max(0, at)) * last;
  const first = Math.min(last - 1, Math.floor(place));
  const channel = (/** @type {number} */ point, /** @type {number} */ k) =>
    parseInt(text.slice(6 * point + 2 * k, 6 * point + 2 * k + 2), 16);
  const mix = (/** @type {number} */ k) =>
    channel(first, k) + (place - first) * (channel(first + 1, k) - channel(first, k));
  return [mix(0), mix(1), mix(2)];
}

/** @param {number} label @returns {number} a place in the palette; `labelColour` of shading.js does the same */
export function paletteIndex(label) {
  let hash = Math.imul((label >>> 0) ^ ((label >>> 0) >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return ((hash ^ (hash >>> 16)) >>> 0) & 255;
}

/** @param {number} label @returns {[number, number, number]} 0 to 255 */
export function labelColour(label) {
  return paletteColour(paletteIndex(label));
}

/** @param {number} index @returns {[number, number, number]} */
function paletteColour(index) {
  const hue = 2 * Math.PI * ((index * 0.61803398875) % 1);
  const lightness = 0.58 + 0.07 * (index % 5);
  const chroma = 0.085 + 0.03 * (index % 3);
  return oklab(lightness, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

/**
 * Björn Ottosson's Oklab as sRGB.
 * @param {number} L
 * @param {number} a
 * @param {number} b
 * @returns {[number, number, number]}
 */
function oklab(L, a, b) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const encode = (/** @type {number} */ linear) => {
    const value = Math.min(1, Math.max(0, linear));
    return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
  };
  return [
    encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** A texture of two rows: the map, then the palette of labels. @returns {DataTexture} */
export function colourTexture() {
  const texture = new DataTexture(new Uint8Array(256 * 2 * 4).fill(255), 256, 2, RGBAFormat);
  texture.minFilter = NearestFilter;
  texture.magFilter = NearestFilter;
  fill(texture, 1, paletteColour);
  return texture;
}

/** @param {DataTexture} texture @param {MapName} name */
export function setMap(texture, name) {
  fill(texture, 0, (index) => mapColour(name, index / 255));
}

/** @param {DataTexture} texture @param {number} row @param {(index: number) => number[]} colour */
function fill(texture, row, colour) {
  const pixels = /** @type {Uint8Array} */ (texture.image.data);
  for (let index = 0; index < 256; index++) pixels.set(colour(index).map(Math.round), 4 * (256 * row + index));
  texture.needsUpdate = true;
}

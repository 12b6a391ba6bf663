// What the materials share: colours of values, light, the section plane; and the uniforms behind them.
import { Vector2, Vector3, Vector4 } from "./three.module.min.js";
import { colourTexture } from "./colours.js";

/** How a value becomes a colour. */
export const PLAIN = 0,
  NUMBER = 1,
  LABEL = 2,
  OWN = 3;

/** For vertex shaders: `colourOf(value)`. */
export const COLOUR = `
uniform sampler2D colours;
uniform vec2 range;
uniform int kind;
uniform vec3 base;
bool finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
vec3 labelColour(uint label) {
  uint hash = (label ^ (label >> 16)) * 0x7feb352du;
  hash = (hash ^ (hash >> 15)) * 0x846ca68bu;
  return texelFetch(colours, ivec2(int((hash ^ (hash >> 16)) & 255u), 1), 0).rgb;
}
vec3 colourOf(float value) {
  if (kind == ${PLAIN}) return base;
  if (!finite(value)) return vec3(0.42);
  if (kind == ${LABEL}) return labelColour(uint(max(value, 0.0)));
  float at = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
  return texelFetch(colours, ivec2(int(at * 255.0 + 0.5), 0), 0).rgb;
}`;

/** For fragment shaders: light that comes with the camera, from above its left shoulder, and a dim one from below. */
export const LIGHT = `
vec3 lit(vec3 colour, vec3 n) {
  float key = max(dot(n, vec3(-0.397, 0.596, 0.698)), 0.0);
  float fill = max(dot(n, vec3(0.78, -0.18, 0.6)), 0.0);
  float sky = 0.5 + 0.5 * n.y;
  float slant = 1.0 - clamp(n.z, 0.0, 1.0);
  float rim = slant * slant * slant;
  vec3 light = 0.43 * mix(vec3(0.74, 0.76, 0.82), vec3(1.02, 1.01, 1.0), sky) + 0.74 * key * vec3(1.0, 0.985, 0.96) + 0.15 * fill * vec3(0.85, 0.92, 1.0);
  return colour * light * (1.0 - 0.25 * rim) + 0.05 * rim;
}`;

/** For fragment shaders, in view space: what lies on the positive side is cut away. */
export const CUT = `
uniform vec4 cut;
uniform int cutting;
bool cutAway(vec3 place) { return cutting != 0 && dot(cut.xyz, place) + cut.w > 0.0; }`;

/** One value each for everything drawn; a store's own materials hold these same objects. */
export class SharedUniforms {
  constructor() {
    this.colours = { value: colourTexture() };
    this.cut = { value: new Vector4() };
    /** 0 no section, 1 through balls, 2 whole balls by their centres. */
    this.cutting = { value: 0 };
    /** Height of the picture in its pixels. */
    this.pixels = { value: 1 };
    this.ballSize = { value: 1 };
  }

  /** Uniforms of one coloured thing, for `COLOUR`. */
  coloured() {
    return {
      colours: this.colours,
      cut: this.cut,
      cutting: this.cutting,
      range: { value: new Vector2(0, 1) },
      kind: { value: PLAIN },
      base: { value: new Vector3(0.8, 0.78, 0.74) },
    };
  }
}

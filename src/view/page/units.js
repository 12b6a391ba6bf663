// Numbers as text: SI prefixes, ticks at round values.

const PREFIXES = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];
/** Units whose first letter may carry a prefix. A square or a cube would scale with it, so those stay as they are. */
const SCALED = new Set(["Pa", "N", "J", "W", "m", "s", "Hz", "m/s", "N m", "N·m", "J/m²", "m/s²"]);

/**
 * The factor and the unit's name that suit values up to `largest`: 2e6 Pa gives 1e6 and "MPa".
 * @param {number} largest @param {string} unit @returns {{factor: number, unit: string}}
 */
export function scaleFor(largest, unit) {
  if (unit === "1") return { factor: 1, unit: "" };
  if (unit.includes("^")) return scaleFor(largest, unit.replaceAll("^2", "²").replaceAll("^3", "³"));
  const grams = unit === "kg";
  if (!grams && !SCALED.has(unit)) return { factor: 1, unit };
  const value = Math.abs(largest) * (grams ? 1000 : 1);
  if (!(value > 0) || !Number.isFinite(value) || (grams && value >= 1000)) return { factor: 1, unit };
  const step = Math.min(4, Math.max(-4, Math.floor(Math.log10(value) / 3 + 1e-9)));
  return { factor: 1000 ** step / (grams ? 1000 : 1), unit: PREFIXES[step + 4] + (grams ? "g" : unit) };
}

/** @param {number} value @param {number} [digits] @returns {string} */
export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4)
    return value
      .toExponential(digits - 1)
      .replace("e+", "e")
      .replace("-", "−");
  const text =
    size >= 1000
      ? Math.round(value).toLocaleString("en-GB").replaceAll(",", "\u202f")
      : String(+value.toPrecision(digits));
  return text.replace("-", "−");
}

/** @param {number} value @param {string} unit @param {number} [digits] @returns {string} */
export function withUnit(value, unit, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const scale = scaleFor(value, unit);
  return [plain(value / scale.factor, digits), scale.unit].filter(Boolean).join("\u00a0");
}

/**
 * About `wanted` round values between `low` and `high`.
 * @param {number} low @param {number} high @param {number} wanted @returns {number[]}
 */
export function ticks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(low) ? [low] : [];
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(low / step - 1e-6);
  const last = Math.floor(high / step + 1e-6);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
}

/** @param {number} value @returns {string} the value of a tick, without the noise of its last digits */
export function tickText(value) {
  return plain(+value.toPrecision(6), 4);
}

/** @param {number} seconds @returns {string} */
export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

// The legend of a pane: the colour map with round values, or what its colours mean.
import { mapColour } from "./colours.js";
import { scaleFor, tickText, ticks } from "./units.js";

export class Legend {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = make("div", "legend", parent);
    this.title = make("div", "legend-title", this.root);
    this.body = make("div", "legend-body", this.root);
    this.bar = /** @type {HTMLCanvasElement} */ (make("canvas", "legend-bar", this.body));
    this.bar.width = 1;
    this.bar.height = 128;
    this.marks = make("div", "legend-ticks", this.body);
    this.key = "";
  }

  /**
   * @param {{title: string, unit: string, note: string, range: {min: number, max: number} | null, map:
   *   import("./colours.js").MapName}} what
   *   without a range only the title and the note show
   */
  show({ title, unit, note, range, map }) {
    const key = JSON.stringify([title, unit, note, range, map]);
    if (key === this.key) return;
    this.key = key;
    this.root.hidden = !title && !note;
    this.body.hidden = !range;
    const scale = range ? scaleFor(Math.max(Math.abs(range.min), Math.abs(range.max)), unit) : { factor: 1, unit: "" };
    this.title.textContent = [title, scale.unit && `(${scale.unit})`, note].filter(Boolean).join(" ");
    this.marks.replaceChildren();
    if (!range) return;
    this.#paint(map);
    const [low, high] = [range.min / scale.factor, range.max / scale.factor];
    for (const value of ticks(low, high, 5)) {
      const mark = make("span", "", this.marks);
      mark.textContent = tickText(value);
      mark.style.bottom = `${high > low ? (100 * (value - low)) / (high - low) : 50}%`;
    }
  }

  /** @param {import("./colours.js").MapName} map */
  #paint(map) {
    const context = this.bar.getContext("2d");
    if (!context) return;
    for (let row = 0; row < 128; row++) {
      context.fillStyle = `rgb(${mapColour(map, 1 - row / 127)
        .map(Math.round)
        .join(" ")})`;
      context.fillRect(0, row, 1, 1);
    }
  }
}

/**
 * @param {string} tag
 * @param {string} name of its class
 * @param {Element} [parent]
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function make(tag, name, parent, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

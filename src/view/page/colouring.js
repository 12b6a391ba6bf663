// The choice of colours: by which quantity, in which map and range.
import { DIVERGING, isMap, setMap } from "./colours.js";
import { make } from "./legend.js";
import { LABELS } from "./storeview.js";

/** @typedef {import("./storeview.js").StoreView} StoreView @typedef {import("./storeview.js").Range} Range */

const SURFACE_COLOURS = [
  ["", "Outside and cracks"],
  ["stress", "Stress"],
  ["speed", "Speed"],
  ["fragment", "Fragment"],
  ["body", "Body"],
];

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

export class Colouring {
  /** @param {import("./settings.js").Settings} settings @param {import("./shading.js").SharedUniforms} shared */
  constructor(settings, shared) {
    this.settings = settings;
    this.shared = shared;
    this.choice = /** @type {HTMLSelectElement} */ (byId("colour"));
    this.key = "";
    /** @type {Range | null} */
    this.range = null;
    this.surfaces = false;
    this.choice.addEventListener("change", () =>
      settings.set(this.surfaces ? { surfaceColour: this.choice.value } : { elementColour: this.choice.value }),
    );
    byId("map").addEventListener("change", () => settings.set({ map: byId("map").value }));
    byId("range").addEventListener("change", () => {
      const kind = byId("range").value;
      settings.set(
        kind === "fixed" && this.range
          ? { rangeKind: kind, rangeMin: this.range.min, rangeMax: this.range.max }
          : { rangeKind: kind },
      );
    });
    for (const id of ["range-min", "range-max"]) byId(id).addEventListener("change", () => this.#fix());
    setMap(shared.colours.value, "viridis");
  }

  /** Colours by the next quantity of the list. */
  next() {
    this.choice.selectedIndex = (this.choice.selectedIndex + 1) % this.choice.length;
    this.choice.dispatchEvent(new Event("change"));
  }

  /** Takes the range that was typed in; a number that cannot be read leaves the range as it is. */
  #fix() {
    const [min, max] = ["range-min", "range-max"].map((id) =>
      byId(id).value.trim() === "" ? NaN : Number(byId(id).value),
    );
    const sound = Number.isFinite(min) && Number.isFinite(max) && min < max;
    byId("range-note").textContent = sound ? "" : "Give two numbers, the smaller one first.";
    if (!sound) return;
    byId("range").value = "fixed";
    this.settings.set({ rangeKind: "fixed", rangeMin: min, rangeMax: max });
  }

  /**
   * Fits choices, range and legends to what is shown.
   * @param {StoreView[]} views
   * @param {import("./legend.js").Legend[]} legends
   */
  update(views, legends) {
    const { values } = this.settings;
    this.surfaces = views.some((view) => view.surfaces.object.visible);
    this.#options(views);
    const map = isMap(values.map) ? values.map : "viridis";
    setMap(this.shared.colours.value, map);
    this.range = this.#rangeOf(views, map);
    const quantities = views.map((view) => view.quantity(values)).filter((quantity) => quantity !== null);
    this.#fields(
      quantities.some(({ name }) => LABELS.has(name)),
      quantities[0]?.unit ?? "",
    );
    views.forEach((view, k) => {
      if (this.range) view.setRange(this.range);
      const quantity = view.quantity(values);
      const labels = quantity !== null && LABELS.has(quantity.name);
      const missing = quantity !== null && quantity.column === null;
      legends[k]?.show({
        title: quantity ? (labels ? `${quantity.name}: a colour for each` : quantity.name) : "",
        unit: quantity?.unit ?? "",
        note: missing ? "is not in this frame" : "",
        range: quantity && !labels && !missing ? this.range : null,
        map,
      });
    });
  }

  /** @param {StoreView[]} views */
  #options(views) {
    const { values } = this.settings;
    const columns = views[0]?.info.columns ?? [];
    const own = views.some((view) => view.content?.surfaces?.columns.has("colour"));
    const rest = [
      ["body", "body"],
      ["material", "material"],
      ["bonds", "bonds at rest"],
    ].filter(([name]) => !columns.some((column) => column.name === name));
    const options = this.surfaces
      ? [...SURFACE_COLOURS, ...(own ? [["colour", "Frame's own colours"]] : [])]
      : [["", "Plain"], ...columns.map(({ name, unit }) => [name, name, unit]), ...rest];
    const key = JSON.stringify([this.surfaces, options]);
    if (key !== this.key) {
      this.key = key;
      this.choice.replaceChildren(
        ...options.map(([name, label]) => {
          const option = /** @type {HTMLOptionElement} */ (make("option", "", undefined, label));
          option.value = name;
          option.title = columns.find((column) => column.name === name)?.doc ?? "";
          return option;
        }),
      );
    }
    this.choice.value = this.surfaces ? values.surfaceColour : values.elementColour;
    if (this.choice.selectedIndex < 0) this.choice.value = "";
  }

  /**
   * One range for all panes, so that they can be compared.
   * @param {StoreView[]} views
   * @param {string} map
   * @returns {Range | null}
   */
  #rangeOf(views, map) {
    const { values } = this.settings;
    if (values.rangeKind === "fixed") return { min: values.rangeMin, max: values.rangeMax };
    const found = views.map((view) => view.range(values)).filter((range) => range !== null);
    if (found.length === 0) return null;
    let [min, max] = [Math.min(...found.map((range) => range.min)), Math.max(...found.map((range) => range.max))];
    if (map === DIVERGING && min < 0) [min, max] = [-Math.max(-min, max), Math.max(-min, max)];
    return min < max ? { min, max } : { min, max: min + (Math.abs(min) || 1) };
  }

  /** @param {boolean} labels whether colours stand for labels, which have no range @param {string} unit */
  #fields(labels, unit) {
    const range = labels ? null : this.range;
    byId("range-fields").hidden = !range;
    byId("range-unit").textContent = range && unit !== "1" ? unit : "";
    const busy = document.activeElement === byId("range-min") || document.activeElement === byId("range-max");
    byId("range").value = this.settings.values.rangeKind;
    if (busy || !range) return;
    byId("range-min").value = numeral(range.min);
    byId("range-max").value = numeral(range.max);
  }
}

/** @param {number} value @returns {string} a number that an input field reads again */
const numeral = (value) => String(+value.toPrecision(5));

// The charts beside the picture: history and loads of each store.
import { Chart } from "./chart.js";
import { make } from "./legend.js";

/** @typedef {{unit: string, values: any[]}} Column @typedef {Map<string, Column>} Columns */

const INKS = ["#6ea8fe", "#ff9f6b", "#7bd389", "#d291ff", "#f2d15c", "#5cd6d0", "#ff7f9e", "#b5bac3"];

/** Charts of the history: title, columns with their names in the legend. A chart without a column is left out. */
const HISTORY = [
  {
    title: "Energy",
    columns: [
      ["kinetic", "kinetic"],
      ["rotational", "rotational"],
      ["gravity", "gravity"],
      ["bond", "bonds"],
      ["contact", "contacts"],
      ["damping", "damping"],
      ["friction", "friction"],
      ["breaking", "breaking"],
    ],
  },
  { title: "Broken bonds", columns: [["broken", "broken bonds"]] },
  { title: "Fragments", columns: [["fragments", "fragments"]] },
  { title: "Awake elements", columns: [["awake", "awake"]] },
];
const PARTS = { force: ["fx", "fy", "fz"], fx: ["fx"], fy: ["fy"], fz: ["fz"], torque: ["tx", "ty", "tz"] };

/** @param {any} answer @returns {Columns} */
export function readColumns(answer) {
  const columns = Array.isArray(answer?.columns) ? answer.columns : [];
  return new Map(
    columns
      .filter((/** @type {any} */ column) => Array.isArray(column?.values))
      .map((/** @type {any} */ column) => [
        String(column.name),
        { unit: typeof column.unit === "string" ? column.unit : "", values: column.values },
      ]),
  );
}

/** @param {Columns} columns @param {string} name @returns {number[]} */
const numbers = (columns, name) =>
  (columns.get(name)?.values ?? []).map((value) => (typeof value === "number" ? value : NaN));

export class Charts {
  /**
   * @param {HTMLElement} parent
   * @param {import("./settings.js").Settings} settings
   * @param {(time: number) => void} seek
   */
  constructor(parent, settings, seek) {
    this.parent = parent;
    this.settings = settings;
    this.seek = seek;
    /** @type {Map<string, {chart: Chart, labels: HTMLElement, root: HTMLElement, key: string}>} */
    this.charts = new Map();
    /** @type {{history: Columns, loads: Columns}[]} */
    this.stores = [];
    this.time = 0;
    this.legend = make("div", "chart-labels stores", parent);
    this.note = make("p", "note", parent);
    this.part = /** @type {HTMLSelectElement} */ (document.getElementById("load-part"));
    this.part.addEventListener("change", () => settings.set({ loadPart: this.part.value }));
    settings.watch((changed) => changed.has("loadPart") && this.draw());
  }

  /** @param {import("./api.js").Api} api @param {import("./storeview.js").StoreView[]} views */
  async load(api, views) {
    const table = async (/** @type {import("./storeview.js").StoreView} */ view, /** @type {string} */ name) => {
      try {
        return readColumns(await api.json(view.path(`tables/${name}`)));
      } catch {
        return new Map();
      }
    };
    this.stores = await Promise.all(
      views.map(async (view) => ({ history: await table(view, "history"), loads: await table(view, "loads") })),
    );
    this.#names(views);
    this.draw();
  }

  /** Which store has which lines. @param {import("./storeview.js").StoreView[]} views */
  #names(views) {
    this.legend.replaceChildren();
    if (views.length < 2) return;
    views.forEach((view, k) => {
      const chip = make("span", "chip", this.legend);
      make("i", k > 0 ? "dashed" : "", chip);
      make("span", "", chip, view.info.name);
    });
  }

  /** @param {number} time */
  setTime(time) {
    this.time = time;
    for (const { chart } of this.charts.values()) chart.setTime(time);
  }

  draw() {
    const times = this.stores
      .flatMap(({ history, loads }) => [...numbers(history, "time"), ...numbers(loads, "time")])
      .filter(Number.isFinite);
    const span = /** @type {[number, number]} */ ([
      times.reduce((a, b) => Math.min(a, b), Infinity),
      times.reduce((a, b) => Math.max(a, b), -Infinity),
    ]);
    const wanted = times.length > 0 ? [...this.#history(), ...this.#loads()] : [];
    for (const [title, entry] of this.charts) entry.root.hidden = !wanted.some((chart) => chart.title === title);
    for (const { title, series, unit } of wanted) {
      const entry = this.charts.get(title) ?? this.#add(title);
      entry.chart.set(series, unit, span);
      entry.chart.setTime(this.time);
      this.#label(entry, series);
    }
    this.note.textContent = wanted.length > 0 ? "" : "No history in this store.";
    this.part.hidden = !wanted.some((chart) => chart.title === "Loads");
    if (!this.part.hidden) this.charts.get("Loads")?.root.querySelector("h3")?.after(this.part);
  }

  #history() {
    return HISTORY.map(({ title, columns }) => {
      const series = this.stores.flatMap(({ history }, store) =>
        columns.flatMap(([name, label], k) => {
          if (!history.has(name)) return [];
          return [
            {
              label,
              colour: INKS[k],
              dashed: store > 0,
              times: numbers(history, "time"),
              values: numbers(history, name),
            },
          ];
        }),
      );
      const unit =
        this.stores.map(({ history }) => history.get(columns[0][0])?.unit).find(Boolean) ??
        (title === "Energy" ? "J" : "");
      return { title, series, unit };
    }).filter(({ series }) => series.length > 0);
  }

  /** A line for each collider or attachment. */
  #loads() {
    const parts = PARTS[/** @type {keyof typeof PARTS} */ (this.settings.values.loadPart)] ?? PARTS.force;
    const series = this.stores.flatMap(({ loads }, store) => {
      const names = loads.get("name")?.values ?? [];
      const columns = parts.map((name) => numbers(loads, name));
      const time = numbers(loads, "time");
      return [...new Set(names)].slice(0, 24).map((name, k) => {
        const rows = [...names.keys()].filter((row) => names[row] === name);
        const amount = (/** @type {number} */ row) =>
          parts.length === 1 ? columns[0][row] : Math.hypot(...columns.map((column) => column[row]));
        return {
          label: String(name),
          colour: INKS[k % INKS.length],
          dashed: store > 0,
          times: rows.map((row) => time[row]),
          values: rows.map(amount),
        };
      });
    });
    return series.length > 0 ? [{ title: "Loads", series, unit: parts[0].startsWith("t") ? "N m" : "N" }] : [];
  }

  /** @param {string} title */
  #add(title) {
    const root = make("section", "chart", this.parent);
    make("h3", "", root, title);
    const labels = make("div", "chart-labels", root);
    const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", "", make("div", "plot", root)));
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${title} over time; click to seek`);
    const entry = {
      root,
      labels,
      key: "",
      chart: new Chart(canvas, {
        seek: this.seek,
        hover: (/** @type {string[] | null} */ values) => {
          // A line of each store goes by one name.
          for (const [name, chip] of this.#chips(labels)) {
            const own = entry.chart.series.flatMap((series, k) => (series.label === name ? [values?.[k] ?? ""] : []));
            /** @type {HTMLElement} */ (chip.lastElementChild).textContent = own.filter(Boolean).join(" | ");
          }
        },
      }),
    };
    this.charts.set(title, entry);
    return entry;
  }

  /** @param {HTMLElement} labels @returns {[string, Element][]} chips by the label of their lines */
  #chips(labels) {
    return [...labels.children].map((chip) => [chip.children[1]?.textContent ?? "", chip]);
  }

  /** @param {{labels: HTMLElement, key: string}} entry @param {import("./chart.js").Series[]} series */
  #label(entry, series) {
    const names = new Map(series.map(({ label, colour }) => [label, colour]));
    const key = JSON.stringify([...names]);
    if (key === entry.key) return;
    entry.key = key;
    entry.labels.replaceChildren();
    for (const [label, colour] of names) {
      const chip = make("span", "chip", entry.labels);
      make("i", "", chip).style.borderColor = colour;
      make("span", "", chip, label);
      make("b", "", chip);
    }
  }
}

// The panel of what was picked: its numbers, from frame to frame.
import { readColumns } from "./charts.js";
import { labelColour } from "./colours.js";
import { make } from "./legend.js";
import { plain, scaleFor, withUnit } from "./units.js";

/** @typedef {import("./storeview.js").StoreView} StoreView @typedef {import("./settings.js").Selection} Selection */

/** Above this many elements, a look at all columns of one would load too much. */
const ALL_COLUMNS = 300_000;
/** Frames in which the last event of a sleep is looked for. */
const LOOK_BACK = 48;
/** Events of the table `sleep`, as states. */
const STATES = {
  asleep: "yes",
  judged: "yes",
  still: "yes, at rest",
  awake: "no",
  moving: "moves as one",
  removed: "removed",
};
/** After this many milliseconds without a new frame the tables are asked for. */
const CALM = 120;

export class Inspector {
  /**
   * @param {HTMLElement} parent @param {import("./api.js").Api} api @param {import("./settings.js").Settings} settings
   * @param {(store: number) => boolean} sleeps whether fragments of a store may sleep
   */
  constructor(parent, api, settings, sleeps) {
    this.parent = parent;
    this.sleeps = sleeps;
    this.api = api;
    this.settings = settings;
    this.timer = 0;
    this.epoch = 0;
    /** @type {[string, string][]} rows that came with tables */
    this.extra = [];
    /** @type {[string, string][]} */
    this.whole = [];
    this.extraFor = "";
  }

  /** Shows the selection as it is in the frame of `view`. @param {StoreView | undefined} view */
  update(view) {
    const { selection } = this.settings.values;
    this.epoch++;
    clearTimeout(this.timer);
    if (!selection || !view?.content) {
      if (!this.parent.querySelector(":scope > .note"))
        this.parent.replaceChildren(
          make("p", "note", undefined, "Click an element or a surface to see its numbers. Escape clears."),
        );
      return;
    }
    const frame = view.content.frame;
    const fragment = selection.kind === "element" ? this.fragmentOf(view, selection) : selection.fragment;
    this.#draw(view, selection, fragment);
    const epoch = this.epoch;
    this.timer = setTimeout(() => this.#look(view, selection, fragment, frame, epoch), CALM);
  }

  /**
   * @param {StoreView} view
   * @param {Selection} selection
   * @returns {number | null} label of the fragment that an element is part of
   */
  fragmentOf(view, selection) {
    const label = view.content?.elements?.columns.get("fragment")?.data[selection.element];
    return label === undefined || label === 0xffffffff ? null : label;
  }

  /** @param {StoreView} view @param {Selection} selection @param {number | null} fragment */
  #draw(view, selection, fragment) {
    const rows = selection.kind === "element" ? elementRows(view, selection.element) : [];
    const title = make("h3", "picked");
    const dot = make("i", "dot", title);
    if (fragment !== null) dot.style.background = `rgb(${labelColour(fragment).map(Math.round).join(" ")})`;
    make(
      "span",
      "",
      title,
      selection.kind === "element" ? `Element ${selection.element}` : `Fragment ${selection.fragment}`,
    );
    const place = `${view.number}:${selection.kind}:${selection.kind === "element" ? selection.element : selection.fragment}`;
    if (this.extraFor !== place) [this.extra, this.whole] = [[], []];
    this.extraFor = place;
    const known = new Set([...rows.map(([name]) => name), "fragment"]);
    const parts = [title];
    if (selection.kind === "element") {
      parts.push(numbers([...rows, ...this.extra.filter(([name]) => !known.has(name))]));
      if (fragment !== null) parts.push(make("h4", "", undefined, `Its fragment, ${fragment}`));
    }
    if (fragment !== null) parts.push(numbers(this.whole));
    this.parent.replaceChildren(...parts);
  }

  /**
   * @param {StoreView} view
   * @param {Selection} selection
   * @param {number | null} fragment
   * @param {number} frame
   * @param {number} epoch
   */
  async #look(view, selection, fragment, frame, epoch) {
    const [fragments, sleep, columns] = await Promise.all([
      this.#table(view, `tables/fragments/${frame}`),
      this.#sleep(view, fragment, frame, epoch),
      selection.kind === "element"
        ? this.#columns(view, selection.element, frame)
        : /** @type {[string, string][]} */ ([]),
    ]);
    if (epoch !== this.epoch) return;
    this.extra = columns;
    this.whole = [...fragmentRows(view, fragments, fragment), ...sleep];
    this.#draw(view, selection, fragment);
  }

  /** @param {StoreView} view @param {string} path */
  async #table(view, path) {
    try {
      return readColumns(await this.api.json(view.path(path)));
    } catch {
      return new Map();
    }
  }

  /**
   * What happened last to a fragment that may sleep: the last event under its label.
   * @param {StoreView} view
   * @param {number | null} fragment
   * @param {number} frame
   * @param {number} epoch
   * @returns {Promise<[string, string][]>}
   */
  async #sleep(view, fragment, frame, epoch) {
    if (fragment === null || !this.sleeps(view.number)) return [];
    const frames = view.info.frames
      .filter((number) => number <= frame)
      .slice(-LOOK_BACK)
      .reverse();
    for (const number of frames) {
      const table = await this.#table(view, `tables/sleep/${number}`);
      const row = (table.get("fragment")?.values ?? []).lastIndexOf(fragment);
      const what = table.get("what")?.values[row];
      if (typeof what === "string") return [["asleep", STATES[/** @type {keyof typeof STATES} */ (what)] ?? what]];
      if (epoch !== this.epoch) break;
    }
    return [];
  }

  /**
   * All quantities of one element.
   * @param {StoreView} view
   * @param {number} element
   * @param {number} frame
   * @returns {Promise<[string, string][]>}
   */
  async #columns(view, element, frame) {
    if (view.info.elements > ALL_COLUMNS || !view.info.elementsIn.has(frame)) return [];
    try {
      const names = view.info.columns.map((column) => encodeURIComponent(column.name)).join(",");
      const table = await this.api.table(view.path(`frames/${frame}?columns=${names}`));
      return view.info.columns.flatMap(({ name, unit }) => {
        const value = table.columns.get(name)?.data[element];
        return value === undefined ? [] : [/** @type {[string, string]} */ ([name, withUnit(value, unit, 4)])];
      });
    } catch {
      return [];
    }
  }
}

/** @param {[string, string][]} rows @returns {HTMLElement} */
function numbers(rows) {
  const list = make("dl", "numbers");
  for (const [name, value] of rows) {
    make("dt", "", list, name);
    make("dd", "", list, value);
  }
  return list;
}

/** @param {StoreView} view @param {number} element @returns {[string, string][]} */
function elementRows(view, element) {
  const { rest, info } = view;
  const places = view.places();
  if (!rest || !places) return [];
  const named = (/** @type {{name: string}[]} */ list, /** @type {number} */ k) => list[k]?.name || String(k);
  const place = [places.x, places.y, places.z].map((axis) => axis[element]);
  /** @type {[string, string][]} */
  const rows = [
    ["body", named(info.bodies, rest.body[element])],
    ["material", rest.material ? named(info.materials, rest.material[element]) : "–"],
    ["radius", withUnit(rest.r[element], "m")],
    ["bonds at rest", String(rest.bonds[element])],
    ["position", place.every(Number.isFinite) ? lengths(place) : "not drawn any more"],
  ];
  for (const { name, unit } of info.columns) {
    const value = view.content?.elements?.columns.get(name)?.data[element];
    if (value !== undefined && name !== "fragment" && !rows.some(([known]) => known === name))
      rows.push([name, withUnit(value, unit, 4)]);
  }
  return rows;
}

/** @param {number[]} place in metres @returns {string} */
function lengths(place) {
  const scale = scaleFor(Math.max(...place.map(Math.abs)), "m");
  return `${place.map((value) => plain(value / scale.factor, 4)).join(", ")} ${scale.unit}`;
}

/**
 * @param {StoreView} view
 * @param {import("./charts.js").Columns} table
 * @param {number | null} fragment
 * @returns {[string, string][]}
 */
function fragmentRows(view, table, fragment) {
  const labels = table.get("fragment")?.values ?? [];
  const row = labels.indexOf(fragment);
  if (fragment === null || labels.length === 0) return [];
  if (row < 0) return [["in this frame", "no"]];
  const value = (/** @type {string} */ name) => {
    const number = table.get(name)?.values[row];
    return typeof number === "number" ? number : NaN;
  };
  const body = value("body");
  return [
    ["body", view.info.bodies[body]?.name || plain(body)],
    ["material", view.info.bodies[body]?.material || "–"],
    ["elements", plain(value("elements"))],
    ["mass", withUnit(value("mass"), "kg")],
    ["volume", `${plain(value("volume"))} m³`],
    ["centre", lengths([value("x"), value("y"), value("z")])],
    ["speed", withUnit(Math.hypot(value("vx"), value("vy"), value("vz")), "m/s")],
  ];
}

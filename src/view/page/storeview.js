// One store in the picture: its data of the frame shown, and the objects that draw it.
import { Scene } from "./three.module.min.js";
import { ConnectionError } from "./api.js";
import { Bonds } from "./bonds.js";
import { Colliders } from "./colliders.js";
import { checkIndices, isCount, need } from "./decode.js";
import { Elements } from "./elements.js";
import { LABEL, NUMBER, OWN, PLAIN } from "./shading.js";
import { NO_FRAGMENT, Surfaces } from "./surfaces.js";

/**
 * @typedef {import("./decode.js").Table} Table
 * @typedef {{frame: number, elements: Table | null, surfaces: Table | null, errors: string[]}} Content
 * @typedef {{min: number, max: number}} Range
 */

/** Columns that hold labels, not amounts. */
export const LABELS = new Set(["fragment", "body", "material"]);
/** Colours that come with the elements at rest, not with a frame. */
const AT_REST = new Set(["body", "material", "bonds"]);
const SURFACE_NUMBERS = new Set(["stress", "speed", "fragment", "body"]);
const CLAY = /** @type {[number, number, number]} */ ([0.8, 0.785, 0.755]);
const CRACK = /** @type {[number, number, number]} */ ([0.86, 0.47, 0.33]);

export class StoreView {
  /**
   * @param {import("./api.js").Api} api @param {number} number @param {import("./stores.js").Store} info
   * @param {import("./shading.js").SharedUniforms} shared
   */
  constructor(api, number, info, shared) {
    this.api = api;
    this.number = number;
    this.info = info;
    this.elements = new Elements(shared);
    this.surfaces = new Surfaces(shared);
    this.bonds = new Bonds(shared, this.elements.geometry);
    this.colliders = new Colliders();
    this.scene = new Scene();
    this.scene.add(this.elements.object, this.surfaces.object, this.colliders.object, ...this.bonds.objects);
    /** @type {Content | null} */
    this.content = null;
    /** @type {{r: Float32Array, body: Uint32Array, material: Uint32Array | null, bonds: Uint32Array} | null} */
    this.rest = null;
    /** @type {Map<string, Range>} */
    this.seen = new Map();
    /** @type {Map<string, Range>} */
    this.most = new Map();
    /** @type {Map<string, string>} what could not be read, by subject */
    this.errors = new Map();
    this.counts = { intact: 0, broken: 0, now: 0 };
    /** @type {Map<string, Promise<void>>} */
    this.once = new Map();
  }

  /** @param {string} path below the store's own */
  path(path) {
    return `/api/stores/${this.number}/${path}`;
  }

  /** Loads colliders; elements and bonds come when they are first shown. @param {number} size of the scene */
  async open(size) {
    if (this.info.colliders.length > 0) {
      await this.#guard("colliders", async () =>
        this.colliders.load(await this.api.table(this.path("colliders")), size),
      );
    }
  }

  /** Reads everything again. @param {number} size of the scene */
  reopen(size) {
    this.once.clear();
    this.rest = null;
    this.content = null;
    return this.open(size);
  }

  /** @param {string} subject @param {() => Promise<void>} work */
  async #guard(subject, work) {
    try {
      await work();
      this.errors.delete(subject);
    } catch (error) {
      this.errors.set(subject, messageOf(error));
      throw error;
    }
  }

  /**
   * Loads what is the same in all frames, once.
   * @param {string} subject
   * @param {() => Promise<void>} work
   * @returns {Promise<void>}
   */
  #first(subject, work) {
    const known = this.once.get(subject);
    if (known) return known;
    const task = this.#guard(subject, work);
    this.once.set(subject, task);
    task.catch(() => this.once.delete(subject));
    return task;
  }

  #loadRest() {
    return this.#first("elements", async () => {
      const table = await this.api.table(this.path("elements"));
      const r = need(table, "r", Float32Array, 1);
      const column = (/** @type {string} */ name) =>
        /** @type {Uint32Array} */ (need(table, name, Uint32Array, 1, r.count).data);
      this.rest = {
        r: /** @type {Float32Array} */ (r.data),
        body: column("body"),
        material: table.columns.has("material") ? column("material") : null,
        bonds: column("bonds"),
      };
      this.elements.setRadii(this.rest.r);
    });
  }

  #loadBonds() {
    return this.#first("bonds", async () => {
      const table = await this.api.table(this.path("bonds"));
      const i = need(table, "i", Uint32Array, 1);
      const [first, second, frame] = ["i", "j", "frame"].map(
        (name) => /** @type {Uint32Array} */ (need(table, name, Uint32Array, 1, i.count).data),
      );
      const count = this.rest?.r.length ?? 0;
      for (const ends of [first, second]) checkIndices(ends, count, "bonds");
      this.bonds.load(first, second, frame);
    });
  }

  /**
   * Which kind of picture a frame gets.
   * @param {number} frame
   * @param {import("./settings.js").Values} values
   * @returns {"elements" | "surfaces"}
   */
  kind(frame, values) {
    if (values.mode !== "auto") return values.mode;
    return this.info.surfaces.has(frame) ? "surfaces" : "elements";
  }

  /** @param {number | null} frame @param {import("./settings.js").Values} values @returns {Promise<Content | null>} */
  async load(frame, values) {
    if (frame === null) return null;
    const kind = this.kind(frame, values);
    const bonds = values.intact || values.broken || values.breaks;
    const followed = values.selection?.store === this.number && values.selection.kind === "element";
    /** @type {string[]} */
    const errors = [];
    const attempt = async (/** @type {Promise<Table | null>} */ task) =>
      task.catch((error) => {
        if (error instanceof ConnectionError) throw error;
        errors.push(messageOf(error));
        return null;
      });
    const wantsElements = (kind === "elements" || bonds || followed) && this.info.elementsIn.has(frame);
    const colour =
      kind === "elements" && this.info.columns.some((column) => column.name === values.elementColour)
        ? [values.elementColour]
        : [];
    const columns = [
      ...new Set([
        ...colour.filter((name) => !AT_REST.has(name)),
        ...(followed ? this.#known(["fragment", "speed"]) : []),
      ]),
    ];
    const [elements, surfaces] = await Promise.all([
      wantsElements ? attempt(this.#elements(frame, columns, bonds)) : null,
      kind === "surfaces" && this.info.surfaces.has(frame) ? attempt(this.#surfaces(frame)) : null,
    ]);
    return { frame, elements, surfaces, errors };
  }

  /** @param {string[]} names */
  #known(names) {
    return names.filter((name) => this.info.columns.some((column) => column.name === name));
  }

  /** @param {number} frame @param {string[]} columns @param {boolean} bonds @returns {Promise<Table>} */
  async #elements(frame, columns, bonds) {
    await this.#loadRest();
    if (bonds) await this.#loadBonds().catch(() => {});
    const kept = this.content?.elements;
    if (kept && this.content?.frame === frame && columns.every((name) => kept.columns.has(name))) return kept;
    const query = columns.length > 0 ? `?columns=${columns.map(encodeURIComponent).join(",")}` : "";
    const table = await this.api.table(this.path(`frames/${frame}${query}`));
    const count = this.rest?.r.length ?? 0;
    for (const name of ["x", "y", "z"]) need(table, name, Float32Array, 1, count);
    for (const name of columns) {
      const column = table.columns.get(name);
      if (column && (column.components !== 1 || column.count !== count))
        throw new Error(`column ${name} of frame ${frame} has another shape than expected`);
    }
    return table;
  }

  /** @param {number} frame @returns {Promise<Table>} */
  async #surfaces(frame) {
    const kept = this.content?.surfaces;
    if (kept && this.content?.frame === frame) return kept;
    const table = await this.api.table(this.path(`surfaces/${frame}`));
    const vertices = need(table, "position", Float32Array, 3).count;
    need(table, "normal", Int8Array, 4, vertices);
    for (const name of ["stress", "speed"]) need(table, name, Float32Array, 1, vertices);
    for (const name of ["fragment", "body"]) need(table, name, Uint32Array, 1, vertices);
    if (table.columns.has("colour")) need(table, "colour", Uint8Array, 4, vertices);
    const triangles = need(table, "triangles", Uint32Array, 3);
    checkIndices(triangles.data, vertices, "triangles");
    const skin = table.header.skin;
    if (!isCount(skin) || skin > triangles.count)
      throw new Error(`frame ${frame} has a wrong number of skin triangles`);
    return table;
  }

  /** Puts the frame into the picture. @param {Content | null} content @param {import("./settings.js").Values} values */
  show(content, values) {
    this.content = content;
    if (content)
      content.errors.length > 0 ? this.errors.set("frame", content.errors.join("; ")) : this.errors.delete("frame");
    const kind = content ? this.kind(content.frame, values) : "elements";
    const { elements, surfaces } = content ?? {};
    this.elements.object.visible = kind === "elements" && Boolean(elements);
    this.surfaces.object.visible = Boolean(surfaces);
    if (elements) {
      const places = this.places();
      if (places) this.elements.setPlaces(places.x, places.y, places.z);
    }
    if (surfaces) this.surfaces.setFrame(surfaces, surfaces.header.skin);
    this.colliders.pose((elements ?? surfaces)?.header.colliders);
    this.colour(values);
    this.lines(values);
  }

  /** Coordinates and radii of the frame shown. */
  places() {
    const table = this.content?.elements;
    if (!table || !this.rest) return null;
    const column = (/** @type {string} */ name) => /** @type {Float32Array} */ (table.columns.get(name)?.data);
    return { x: column("x"), y: column("y"), z: column("z"), r: this.rest.r };
  }

  /** @param {import("./settings.js").Values} values */
  lines(values) {
    this.counts = this.bonds.show(this.content?.frame ?? 0, values, this.places());
    this.colliders.object.visible = values.colliders;
  }

  /** The quantity that colours the picture now, or null. @param {import("./settings.js").Values} values */
  quantity(values) {
    if (this.surfaces.object.visible) {
      const name = values.surfaceColour;
      if (!SURFACE_NUMBERS.has(name)) return null;
      return {
        name,
        unit: { stress: "Pa", speed: "m/s" }[name] ?? "",
        column: this.content?.surfaces?.columns.get(name) ?? null,
      };
    }
    const name = values.elementColour;
    if (!this.elements.object.visible || !name) return null;
    if (AT_REST.has(name) && this.rest) {
      const data = this.rest[/** @type {"body"} */ (name)];
      let max = 0;
      for (const value of data) if (value > max) max = value;
      return { name, unit: "", column: { data, components: 1, count: data.length, min: 0, max } };
    }
    const column = this.content?.elements?.columns.get(name);
    return column ? { name, unit: this.info.columns.find((entry) => entry.name === name)?.unit ?? "", column } : null;
  }

  /**
   * Uploads the values that colour the picture; the range they are shown in comes later.
   * @param {import("./settings.js").Values} values
   */
  colour(values) {
    const quantity = this.quantity(values);
    const column = quantity?.column ?? null;
    const kind = !column ? PLAIN : LABELS.has(quantity?.name ?? "") ? LABEL : NUMBER;
    if (quantity && column && column.min !== null && column.max !== null) {
      const key = this.#key(quantity.name);
      this.seen.set(key, union(this.seen.get(key), { min: column.min, max: column.max }));
      this.most.set(key, union(this.most.get(key), bulk(column.data)));
    }
    if (this.surfaces.object.visible) {
      if (column) this.surfaces.setValues(column.data);
      const own = values.surfaceColour === "colour" && this.content?.surfaces?.columns.has("colour");
      this.surfaces.skin.uniforms.kind.value = own ? OWN : kind;
      this.surfaces.cracks.uniforms.kind.value = own ? OWN : kind;
      this.surfaces.setBases(CLAY, CRACK);
    } else {
      if (column) this.elements.setValues(column.data);
      this.elements.uniforms.kind.value = kind;
      this.elements.uniforms.base.value.fromArray(CLAY);
    }
  }

  /**
   * Name of what colours the picture; the same quantity may differ between elements and surfaces.
   * @param {string} quantity
   */
  #key(quantity) {
    return `${this.surfaces.object.visible ? "surfaces" : "elements"} ${quantity}`;
  }

  /**
   * The range of values that the user asks for, if there are any.
   * @param {import("./settings.js").Values} values
   * @returns {Range | null}
   */
  range(values) {
    const quantity = this.quantity(values);
    const { min = null, max = null } = quantity?.column ?? {};
    if (!quantity || min === null || max === null) return null;
    if (values.rangeKind === "frame") return { min, max };
    return (values.rangeKind === "most" ? this.most : this.seen).get(this.#key(quantity.name)) ?? null;
  }

  /** @param {Range} range */
  setRange(range) {
    for (const material of [this.elements, this.surfaces.skin, this.surfaces.cracks])
      material.uniforms.range.value.set(range.min, range.max);
  }

  /** @param {number | null} fragment to be marked */
  mark(fragment) {
    this.surfaces.chosen.value = fragment ?? NO_FRAGMENT;
  }

  /** Bytes held: answers kept, and buffers of the GPU. */
  get bytes() {
    const rest = this.rest ? 16 * this.rest.r.length : 0;
    const bonds = (this.bonds.pairs?.byteLength ?? 0) + (this.bonds.frames?.byteLength ?? 0);
    return (
      (this.content?.elements?.bytes ?? 0) +
      (this.content?.surfaces?.bytes ?? 0) +
      rest +
      bonds +
      this.colliders.bytes +
      this.elements.bytes +
      2 * this.surfaces.bytes +
      this.bonds.bytes
    );
  }

  dispose() {
    for (const part of [this.elements, this.surfaces, this.bonds, this.colliders]) part.dispose();
  }
}

/** @param {Range | undefined} one @param {Range} other @returns {Range} */
function union(one, other) {
  return one ? { min: Math.min(one.min, other.min), max: Math.max(one.max, other.max) } : other;
}

/**
 * The range of all values but the lowest and the highest hundredth, from a sample.
 * @param {import("./decode.js").Numbers} data
 * @returns {Range}
 */
function bulk(data) {
  const step = Math.max(1, Math.floor(data.length / 4000));
  const sample = Float64Array.from({ length: Math.ceil(data.length / step) }, (_, k) => data[k * step])
    .filter(Number.isFinite)
    .sort();
  const last = sample.length - 1;
  return last < 0
    ? { min: Infinity, max: -Infinity }
    : { min: sample[Math.floor(0.01 * last)], max: sample[Math.ceil(0.99 * last)] };
}

/** @param {unknown} error @returns {string} */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

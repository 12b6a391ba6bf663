// What the user chose. Whoever shows something of it listens.

/**
 * @typedef {{store: number, kind: "element" | "fragment", element: number, fragment: number}} Selection
 * @typedef {{mode: "auto" | "elements" | "surfaces", elementColour: string, surfaceColour: string, map: string,
 *   rangeKind: "seen" | "most" | "frame" | "fixed", rangeMin: number, rangeMax: number, ballSize: number,
 *   axis: "off" | "x" | "y" | "z" | "view", cutAt: number, flip: boolean, whole: boolean,
 *   intact: boolean, broken: boolean, breaks: boolean, colliders: boolean,
 *   speed: number, loop: boolean, follow: boolean, selection: Selection | null, loadPart: string}} Values
 */

export class Settings {
  constructor() {
    /** @type {Values} */
    this.values = {
      mode: "auto",
      elementColour: "",
      surfaceColour: "",
      map: "viridis",
      rangeKind: "seen",
      rangeMin: 0,
      rangeMax: 1,
      ballSize: 1,
      axis: "off",
      cutAt: 0.5,
      flip: false,
      whole: false,
      intact: false,
      broken: false,
      breaks: false,
      colliders: true,
      speed: 1,
      loop: true,
      follow: true,
      selection: null,
      loadPart: "force",
    };
    /** @type {((changed: Set<string>) => void)[]} */
    this.listeners = [];
  }

  /** @param {Partial<Values>} patch */
  set(patch) {
    /** @type {Set<string>} */
    const changed = new Set();
    for (const [key, value] of Object.entries(patch)) {
      if (/** @type {any} */ (this.values)[key] === value) continue;
      /** @type {any} */ (this.values)[key] = value;
      changed.add(key);
    }
    if (changed.size > 0) for (const listener of this.listeners) listener(changed);
  }

  /** @param {(changed: Set<string>) => void} listener */
  watch(listener) {
    this.listeners.push(listener);
  }
}

/** Changes that need other data of a frame, and so a new look at what is loaded. */
export const RELOADS = new Set(["mode", "elementColour", "surfaceColour", "intact", "broken", "breaks", "selection"]);

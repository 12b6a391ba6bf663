// Puts the page together: what changes where, and what follows from it.
import { Api } from "./api.js";
import { Camera } from "./camera.js";
import { Charts } from "./charts.js";
import { Colouring } from "./colouring.js";
import { watchGestures } from "./gestures.js";
import { extentOf, hitOf } from "./hits.js";
import { Inspector } from "./inspector.js";
import { bindings } from "./bindings.js";
import { watchKeys } from "./keys.js";
import { Legend, make } from "./legend.js";
import { Live, liveText } from "./live.js";
import { Marker } from "./marker.js";
import { Player } from "./player.js";
import { Section } from "./section.js";
import { RELOADS, Settings } from "./settings.js";
import { SharedUniforms } from "./shading.js";
import { moments, readStores } from "./stores.js";
import { messageOf, StoreView } from "./storeview.js";
import { Timeline } from "./timeline.js";
import { plain } from "./units.js";
import { Viewport } from "./viewport.js";

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

/** Size of balls, as a part of the real one, between which bonds can be seen. */
const SMALL = 0.4;

class Page {
  constructor() {
    this.api = new Api();
    this.settings = new Settings();
    this.shared = new SharedUniforms();
    /** @type {StoreView[]} */
    this.views = [];
    /** @type {Legend[]} */
    this.legends = [];
    /** @type {HTMLElement[]} */
    this.panes = [];
    this.lost = false;
    this.failure = "";
    this.knowsColours = false;
    this.viewport = new Viewport(byId("picture"), this.shared, {
      prepare: () => this.section.apply(this.shared),
      drawn: () => this.drawn(),
    });
    this.camera = new Camera(() => this.viewport.invalidate());
    this.viewport.camera = this.camera;
    this.section = new Section(this.settings, this.camera);
    this.colouring = new Colouring(this.settings, this.shared);
    this.player = new Player({
      settings: this.settings,
      load: (moment) => Promise.all(this.views.map((view, k) => view.load(moment.frames[k], this.settings.values))),
      show: (contents) => this.show(contents),
      fail: (error) => this.fail(error),
      changed: () => this.timeline?.update(),
    });
    this.timeline = new Timeline(this.player, this.settings);
    this.charts = new Charts(byId("charts"), this.settings, (time) => this.timeline.seekTime(time));
    this.inspector = new Inspector(
      byId("selection"),
      this.api,
      this.settings,
      (store) => this.charts.stores[store]?.history.has("awake") ?? false,
    );
    this.live = new Live(this.api, {
      news: (stores) => this.news(stores),
      connection: (lost) => this.connection(lost),
    });
    /** Half the diagonal of a box around the elements at the start. */
    this.size = 1;
    /** Frames shown since the page was opened; for tests. */
    this.framesShown = 0;
    /** @type {{index: number, done: () => void}[]} */
    this.waiting = [];
  }

  async start() {
    this.#wire();
    const { stores } = readStores(await this.#untilReached(() => this.api.json("/api/stores")));
    this.views = stores.map((store, k) => new StoreView(this.api, k, store, this.shared));
    this.viewport.views = this.views;
    this.markers = this.views.map((view) => new Marker(view.scene, this.shared));
    this.#panes(stores);
    this.#firstColour(stores);
    this.tell(stores);
    await this.#place(stores);
    this.player.setMoments(moments(stores));
    if (this.player.moments.length === 0) byId("loading").textContent = "No frames yet.";
    this.live.start(stores);
    if (stores.some((store) => store.live.running) && this.settings.values.follow)
      this.player.seek(this.player.moments.length - 1);
    this.charts.load(this.api, this.views);
    this.inspector.update(undefined);
    this.viewport.invalidate();
  }

  /** Sets camera, section and colliders to the size of what there is. @param {import("./stores.js").Store[]} stores */
  async #place(stores) {
    const boxes = stores.map((store) => store.bounds).filter((box) => box !== null);
    this.placed = boxes.length > 0;
    const min = [0, 1, 2].map((k) => (this.placed ? Math.min(...boxes.map((box) => box.min[k])) : -1));
    const max = [0, 1, 2].map((k) => (this.placed ? Math.max(...boxes.map((box) => box.max[k])) : 1));
    const size = Math.max(0.5 * Math.hypot(...min.map((value, k) => max[k] - value)), 1e-9);
    this.size = size;
    this.section.setBox(min, max);
    this.camera.reset(stores.find((store) => store.camera)?.camera ?? fallback(min, max, size), size);
    await Promise.all(this.views.map((view) => view.open(size).catch(() => {})));
  }

  /** @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
  async #untilReached(ask) {
    for (;;) {
      try {
        const answer = await ask();
        this.connection(false);
        return answer;
      } catch (error) {
        this.fail(error);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  /** @param {import("./stores.js").Store[]} stores */
  #panes(stores) {
    byId("title").textContent = stores.map((store) => store.name).join("  |  ");
    document.title = `${stores.map((store) => store.name).join(" | ")} – cullet view`;
    this.panes = stores.map(() => make("div", "pane", byId("panes")));
    this.labels = this.panes.map((pane, k) => {
      const label = make("div", "label", pane);
      make("span", "", label, stores.length > 1 ? stores[k].name : "");
      return make("small", "", label);
    });
    this.legends = this.panes.map((pane) => new Legend(pane));
  }

  /** Fragments are what a store without surfaces is looked at for. @param {import("./stores.js").Store[]} stores */
  #firstColour(stores) {
    const known = stores.some((store) => store.columns.some((column) => column.name === "fragment"));
    if (known && !stores.some((store) => store.surfaces.size > 0)) this.settings.set({ elementColour: "fragment" });
  }

  /** Colours of a frame's own show from the first such frame on, until another choice. */
  #ownColours() {
    if (this.knowsColours || !this.views.some((view) => view.content?.surfaces?.columns.has("colour"))) return;
    this.knowsColours = true;
    if (this.settings.values.surfaceColour === "") this.settings.set({ surfaceColour: "colour" });
  }

  #wire() {
    const { settings } = this;
    settings.watch((changed) => this.changed(changed));
    for (const button of document.querySelectorAll("[data-mode]")) {
      button.addEventListener("click", () => settings.set({ mode: /** @type {any} */ (button).dataset.mode }));
    }
    for (const name of ["colliders", "intact", "broken", "breaks"]) {
      byId(name).addEventListener("change", () => this.toggle(/** @type {any} */ (name), byId(name).checked));
    }
    byId("ball-size").addEventListener("input", () => settings.set({ ballSize: Number(byId("ball-size").value) }));
    byId("home").addEventListener("click", () => this.camera.home());
    byId("help-open").addEventListener("click", () => byId("help").showModal());
    byId("side-toggle").addEventListener("click", () => this.toggleSide());
    if (matchMedia("(max-width: 760px)").matches) this.toggleSide();
    watchKeys(bindings(this));
    watchGestures(byId("picture"), this.camera, {
      click: (x, y, twice) => (twice ? this.turnAbout(x, y) : this.pick(x, y)),
      busy: () => this.viewport.busy(),
      hold: (held) => this.viewport.quality.hold(held),
      pane: (x, y) => this.viewport.panes()[this.viewport.paneAt(x, y)],
    });
  }

  toggleSide() {
    const hidden = document.body.classList.toggle("narrowed");
    byId("side-toggle").setAttribute("aria-expanded", String(!hidden));
  }

  /** @param {"colliders" | "intact" | "broken" | "breaks"} name @param {boolean} on */
  toggle(name, on) {
    const first =
      on &&
      name !== "colliders" &&
      !["intact", "broken", "breaks"].some((key) => this.settings.values[/** @type {"intact"} */ (key)]);
    // Whole balls would hide the lines between their centres.
    const { ballSize } = this.settings.values;
    this.settings.set({ [name]: on, ...(first && ballSize === 1 ? { ballSize: SMALL } : {}) });
    const bonds = ["intact", "broken", "breaks"].some((key) => this.settings.values[/** @type {"intact"} */ (key)]);
    if (!bonds && name !== "colliders" && ballSize === SMALL) this.settings.set({ ballSize: 1 });
  }

  /** @param {Set<string>} changed */
  changed(changed) {
    const { values } = this.settings;
    this.shared.ballSize.value = values.ballSize;
    byId("ball-size").value = String(values.ballSize);
    for (const name of /** @type {const} */ (["colliders", "intact", "broken", "breaks"]))
      byId(name).checked = values[name];
    for (const button of document.querySelectorAll("[data-mode]")) {
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.mode === values.mode));
    }
    if ([...changed].some((key) => RELOADS.has(key))) this.player.refresh();
    if (changed.has("follow") && values.follow && this.views.some((view) => view.info.live.running))
      this.player.seek(this.player.moments.length - 1);
    if (changed.has("colliders")) for (const view of this.views) view.lines(values);
    this.colouring.update(this.views, this.legends);
    this.viewport.invalidate();
  }

  /** @param {any[]} contents of the stores in order */
  show(contents) {
    const { values } = this.settings;
    this.views.forEach((view, k) => view.show(contents[k], values));
    this.colouring.update(this.views, this.legends);
    if (this.player.playing) this.viewport.busy();
    byId("loading").hidden = true;
    this.#mark();
    this.#count();
    this.charts.setTime(this.player.moments[this.player.shown]?.time ?? 0);
    this.framesShown++;
    this.failure = "";
    this.complain();
    this.#ownColours();
    this.viewport.invalidate();
  }

  #mark() {
    const { selection } = this.settings.values;
    const view = selection ? this.views[selection.store] : undefined;
    this.inspector.update(view);
    this.views.forEach((other, k) => {
      const here = selection?.store === k ? selection : null;
      other.mark(here && (here.kind === "fragment" ? here.fragment : this.inspector.fragmentOf(other, here)));
      this.markers?.[k].show(here?.kind === "element" ? other.places() : null, here?.element ?? 0);
    });
  }

  #count() {
    const loaded = this.views.some((view) => view.bonds.loaded);
    const sum = (/** @type {"intact" | "broken" | "now"} */ key) =>
      loaded ? plain(this.views.reduce((total, view) => total + view.counts[key], 0)) : "";
    byId("n-intact").textContent = sum("intact");
    byId("n-broken").textContent = sum("broken");
    byId("n-now").textContent = sum("now");
    this.panes.forEach((pane, k) => {
      const box = this.viewport.panes()[k];
      Object.assign(pane.style, {
        left: `${box.left}px`,
        top: `${box.top}px`,
        width: `${box.width}px`,
        height: `${box.height}px`,
      });
      const view = this.views[k];
      const frame = view.content?.frame;
      const missing =
        frame !== undefined && !view.elements.object.visible && !view.surfaces.object.visible
          ? `no ${view.kind(frame, this.settings.values)} in this frame`
          : "";
      const shown = this.views.length > 1 && frame !== undefined ? `frame ${frame}` : "";
      if (this.labels) this.labels[k].textContent = [shown, missing].filter(Boolean).join(" · ");
    });
  }

  /** What lies under a place of the canvas. @param {number} x @param {number} y */
  hit(x, y) {
    const view = this.views[this.viewport.paneAt(x, y)];
    const { ballSize: scale, whole } = this.settings.values;
    return view ? hitOf(view, this.viewport.ray(x, y), { scale, whole, plane: this.section.plane() }) : null;
  }

  /** @param {number} x @param {number} y */
  pick(x, y) {
    const found = this.hit(x, y);
    this.settings.set({
      selection: found && { store: found.store, kind: found.kind, element: found.element, fragment: found.fragment },
    });
  }

  /** @param {number} x @param {number} y */
  turnAbout(x, y) {
    const found = this.hit(x, y);
    if (found) this.camera.centre(found.place);
  }

  /** Shows all that is there now. */
  frameAll() {
    const extent = this.views[0] ? extentOf(this.views[0]) : null;
    if (extent) this.camera.frame(extent.middle, extent.radius);
  }

  /** @param {import("./stores.js").Store[]} stores */
  news(stores) {
    const grown = stores.some((store, k) => {
      const known = this.views[k]?.info;
      return (
        known &&
        (store.frames.length !== known.frames.length ||
          store.frames.at(-1) !== known.frames.at(-1) ||
          store.surfaces.size !== known.surfaces.size ||
          store.elementsIn.size !== known.elementsIn.size)
      );
    });
    // A stage has begun or ended: what was read before may be of another packing or run.
    const replaced = stores.filter((store, k) => this.views[k] && this.views[k].info.stamp !== store.stamp);
    stores.forEach((store, k) => {
      const view = this.views[k];
      if (!view) return;
      view.info = store;
      if (replaced.includes(store)) view.reopen(this.size).catch(() => {});
    });
    this.tell(stores);
    // A store that was empty at first has a place now.
    if (!this.placed && stores.some((store) => store.bounds)) this.#place(stores);
    if (!grown && replaced.length === 0) return;
    const newest = this.settings.values.follow && !this.player.playing && stores.some((store) => store.live.running);
    this.player.setMoments(moments(stores));
    if (newest) this.player.seek(this.player.moments.length - 1);
    else if (!this.player.playing) this.player.refresh();
    this.charts.load(this.api, this.views);
  }

  /** @param {import("./stores.js").Store[]} stores */
  tell(stores) {
    const text = stores
      .map((store) =>
        [stores.length > 1 && liveText(store) ? `${store.name}:` : "", liveText(store)].filter(Boolean).join(" "),
      )
      .filter(Boolean)
      .join("   ");
    byId("live").textContent = text;
    byId("live").hidden = text === "";
    byId("live").title = text;
    byId("follow").hidden = text === "";
    this.complain();
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof Error && error.name === "TypeError") console.error(error);
    this.failure = messageOf(error);
    this.complain();
  }

  /** @param {boolean} lost */
  connection(lost) {
    if (lost === this.lost && !this.failure) return;
    this.lost = lost;
    if (!lost) this.failure = "";
    this.complain();
  }

  /** The bar that says what is wrong. */
  complain() {
    const lines =
      this.lost || this.failure === "connection lost"
        ? ["Connection lost, retrying…"]
        : this.failure
          ? [this.failure]
          : [];
    for (const view of this.views) {
      const name = this.views.length > 1 ? `${view.info.name}: ` : "";
      for (const text of new Set([...(view.info.error ? [view.info.error] : []), ...view.errors.values()]))
        lines.push(name + text);
    }
    byId("message").textContent = lines.join("\n");
    byId("message").hidden = lines.length === 0;
  }

  drawn() {
    this.waiting = this.waiting.filter(({ index, done }) => {
      if (index !== this.player.shown || this.player.stale) return true;
      done();
      return false;
    });
  }
}

/** @param {number[]} min @param {number[]} max @param {number} size */
function fallback(min, max, size) {
  const target = min.map((value, k) => 0.5 * (value + max[k]));
  return { eye: [target[0] + 1.2 * size, target[1] + 0.9 * size, target[2] + 2.2 * size], target, fov: 40 };
}

const page = new Page();
/** For tests: what is drawn, and how much is held. */
Object.assign(window, {
  culletView: {
    page,
    started: page.start(),
    /** Resolves when the moment `index` is in the picture. @param {number} index */
    drawn: (index = page.player.wanted) =>
      new Promise((done) => {
        page.waiting.push({ index, done: () => done(undefined) });
        page.viewport.invalidate();
      }),
    /** Resolves when nothing is loading, moving or being drawn. */
    rested: async () => {
      const { player, viewport } = page;
      while (
        player.busy ||
        player.stale ||
        player.shown !== player.wanted ||
        viewport.pending ||
        viewport.quality.moving ||
        viewport.quality.probe
      ) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    counters: () => ({
      shown: page.player.shown,
      framesShown: page.framesShown,
      draws: page.viewport.draws,
      received: page.api.bytes,
      held: page.views.reduce((sum, view) => sum + view.bytes, 0),
      cost: page.viewport.quality.cost,
      part: page.viewport.quality.part,
      memory: { ...page.viewport.renderer.info.memory },
    }),
  },
});

// The bar below: play, step, scrub, speed, frame and time.
import { withUnit } from "./units.js";

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

export class Timeline {
  /** @param {import("./player.js").Player} player @param {import("./settings.js").Settings} settings */
  constructor(player, settings) {
    this.player = player;
    this.settings = settings;
    this.slider = /** @type {HTMLInputElement} */ (byId("scrub"));
    this.slider.addEventListener("input", () => {
      this.settings.set({ follow: false });
      player.seek(Number(this.slider.value));
    });
    const on = (/** @type {string} */ id, /** @type {() => void} */ action) =>
      byId(id).addEventListener("click", action);
    on("play", () => player.toggle());
    on("back", () => this.step(-1));
    on("forward", () => this.step(1));
    on("first", () => this.seek(0));
    on("last", () => this.seek(player.moments.length - 1));
    on("loop", () => settings.set({ loop: !settings.values.loop }));
    on("follow", () => settings.set({ follow: !settings.values.follow }));
    byId("speed").addEventListener("change", () => settings.set({ speed: Number(byId("speed").value) }));
    settings.watch((changed) => {
      if (changed.has("speed")) player.respeed();
      this.update();
    });
  }

  /** @param {number} count */
  step(count) {
    this.settings.set({ follow: false });
    this.player.step(count);
  }

  /** @param {number} index */
  seek(index) {
    this.settings.set({ follow: false });
    this.player.seek(index);
  }

  /** The moment nearest to a time. @param {number} time */
  seekTime(time) {
    const { moments } = this.player;
    let best = 0;
    moments.forEach((moment, k) => {
      if (Math.abs(moment.time - time) < Math.abs(moments[best].time - time)) best = k;
    });
    this.seek(best);
  }

  /** @param {number} factor */
  scaleSpeed(factor) {
    const speed = Math.min(8, Math.max(1 / 8, this.settings.values.speed * factor));
    this.settings.set({ speed });
  }

  update() {
    const { player, settings } = this;
    const count = player.moments.length;
    const moment = player.moments[player.shown];
    this.slider.max = String(Math.max(0, count - 1));
    if (!player.playing) this.slider.value = String(player.wanted);
    else this.slider.value = String(Math.max(0, player.shown));
    this.slider.disabled = count < 2;
    this.slider.style.setProperty("--part", `${count > 1 ? (100 * Number(this.slider.value)) / (count - 1) : 0}%`);
    const numbers = moment
      ? [...new Set(moment.frames.map((frame) => (frame === null ? "–" : String(frame))))].join(" | ")
      : "–";
    byId("frame").textContent = `${numbers}`;
    byId("frames").textContent = ` / ${count > 0 ? (player.moments[count - 1].frames[0] ?? count - 1) : 0}`;
    byId("time").textContent = moment ? withUnit(moment.time, "s", 4) : "no frames";
    this.slider.setAttribute(
      "aria-valuetext",
      moment ? `frame ${numbers}, ${withUnit(moment.time, "s", 4)}` : "no frames",
    );
    byId("play").setAttribute("aria-pressed", String(player.playing));
    byId("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
    byId("play-icon").setAttribute("href", player.playing ? "#i-pause" : "#i-play");
    byId("loop").setAttribute("aria-pressed", String(settings.values.loop));
    byId("follow").setAttribute("aria-pressed", String(settings.values.follow));
    byId("speed").value = String(settings.values.speed);
  }
}

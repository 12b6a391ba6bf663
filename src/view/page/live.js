// News of the stores: new frames while they are written, and what is wrong.
import { ConnectionError } from "./api.js";
import { readStores } from "./stores.js";
import { duration, plain } from "./units.js";

const RUNNING = 1000,
  RESTING = 3000;

export class Live {
  /**
   * @param {import("./api.js").Api} api
   * @param {{news: (stores: import("./stores.js").Store[]) => void, connection: (lost: boolean) => void}} hooks
   */
  constructor(api, hooks) {
    this.api = api;
    this.hooks = hooks;
    this.running = false;
  }

  /** @param {import("./stores.js").Store[]} stores */
  start(stores) {
    this.running = stores.some((store) => store.live.running);
    if (!this.api.recorded) this.#wait();
  }

  #wait() {
    setTimeout(() => this.#ask(), this.running ? RUNNING : RESTING);
  }

  async #ask() {
    let stores;
    try {
      ({ stores } = readStores(await this.api.json("/api/stores")));
      this.hooks.connection(false);
    } catch (error) {
      this.hooks.connection(error instanceof ConnectionError);
    }
    try {
      if (stores) {
        this.running = stores.some((store) => store.live.running);
        this.hooks.news(stores);
      }
    } finally {
      this.#wait();
    }
  }
}

/** @param {import("./stores.js").Store} store @returns {string} what a run in progress does; empty if there is none */
export function liveText({ live, elements }) {
  if (!live.running) return "";
  if (!["", "simulate", "run"].includes(live.stage)) return `${live.stage} runs`;
  if (live.framesLeft === 0) return "all frames are simulated";
  const parts = ["simulating"];
  if (live.awake !== null) parts.push(`${plain(live.awake)} of ${plain(live.elements || elements)} elements awake`);
  if (live.framesLeft !== null) parts.push(`${plain(live.framesLeft)} frames left`);
  if (live.secondsLeft !== null) parts.push(`about ${duration(live.secondsLeft)} left`);
  return parts.join(" · ");
}

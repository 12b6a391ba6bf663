// Which moment is shown: seeking, and playing at a speed that drops frames rather than lags.

/**
 * @typedef {{time: number, frames: (number | null)[]}} Moment
 * @typedef {{at: number, contents: any[]}} Slot a loaded moment; `at` counts on through repeats
 */

/** Frames a second at speed 1. */
const RATE = 24;
/** Loaded moments that wait to be shown while playing, and from how many bytes a moment on there is one only. */
const AHEAD = 2;
const HEAVY = 32e6;

export class Player {
  /**
   * @param {{load: (moment: Moment) => Promise<any[]>, show: (contents: any[], moment: Moment) => void,
   *   fail: (error: unknown) => void, changed: () => void, settings: import("./settings.js").Settings}} hooks
   */
  constructor(hooks) {
    this.hooks = hooks;
    /** @type {Moment[]} */
    this.moments = [];
    /** Index shown; -1 before the first. */
    this.shown = -1;
    this.wanted = 0;
    this.playing = false;
    /** Raised when data loaded so far no longer suits. */
    this.epoch = 0;
    this.stale = false;
    this.busy = false;
    /** @type {Slot[]} */
    this.queue = [];
    this.latency = 20;
    /** Size in bytes of the moment loaded last. */
    this.size = 0;
    /** Position while playing: that of `start` plus the time since. */
    this.start = { at: 0, time: 0 };
    this.last = 0;
  }

  /** @param {Moment[]} moments */
  setMoments(moments) {
    this.moments = moments;
    this.wanted = Math.min(this.wanted, Math.max(0, moments.length - 1));
    this.hooks.changed();
    this.#pump();
  }

  /** @param {number} index */
  seek(index) {
    this.wanted = Math.max(0, Math.min(this.moments.length - 1, Math.round(index)));
    this.queue = [];
    this.epoch += this.playing ? 1 : 0;
    this.#restart(this.wanted);
    this.hooks.changed();
    this.#pump();
  }

  /** @param {number} count of frames, back if negative */
  step(count) {
    this.pause();
    this.seek(this.wanted + count);
  }

  /** Shows the moment anew, with other data. */
  refresh() {
    this.epoch++;
    this.queue = [];
    this.stale = true;
    this.#pump();
  }

  play() {
    if (this.playing || this.moments.length < 2) return;
    this.playing = true;
    this.#restart(this.wanted >= this.moments.length - 1 ? 0 : this.wanted);
    this.hooks.changed();
    requestAnimationFrame(this.#tick);
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.queue = [];
    this.epoch++;
    this.wanted = Math.max(0, this.shown);
    this.hooks.changed();
  }

  toggle() {
    this.playing ? this.pause() : this.play();
  }

  /** Goes on from where it is, at a speed just changed. */
  respeed() {
    this.#restart(Math.max(0, this.shown));
  }

  /** @param {number} at */
  #restart(at) {
    this.start = { at, time: performance.now() };
    this.last = at - 1;
    this.queue = [];
  }

  get rate() {
    return RATE * this.hooks.settings.values.speed;
  }

  /** @param {number} now @returns {number} */
  #position(now) {
    return this.start.at + ((now - this.start.time) / 1000) * this.rate;
  }

  #tick = (/** @type {number} */ now) => {
    if (!this.playing) return;
    const count = this.moments.length;
    const position = this.#position(now);
    const due = this.queue.findLastIndex((slot) => slot.at <= position + 0.2);
    if (due >= 0) {
      const slot = this.queue[due];
      this.queue.splice(0, due + 1);
      this.#show(slot);
      this.wanted = this.shown;
      if (!this.hooks.settings.values.loop && slot.at >= count - 1) this.pause();
    }
    this.#pump();
    requestAnimationFrame(this.#tick);
  };

  /** @param {Slot} slot */
  #show(slot) {
    this.shown = slot.at % this.moments.length;
    this.last = Math.max(this.last, slot.at);
    this.stale = false;
    this.hooks.show(slot.contents, this.moments[this.shown]);
    this.hooks.changed();
  }

  /** The moment to load next, or null. @returns {number | null} */
  #next() {
    if (!this.playing) return this.wanted !== this.shown || this.stale ? this.wanted : null;
    if (this.queue.length >= (this.size > HEAVY ? 1 : AHEAD)) return null;
    const newest = this.queue.at(-1)?.at ?? this.last;
    const arrival = Math.floor(this.#position(performance.now()) + (this.latency / 1000) * this.rate);
    const at = Math.max(newest + 1, arrival);
    const end = this.moments.length - 1;
    if (this.hooks.settings.values.loop) return at;
    return newest >= end ? null : Math.min(at, end);
  }

  /** One request at a time. */
  async #pump() {
    if (this.busy || this.moments.length === 0) return;
    const at = this.#next();
    if (at === null) return;
    this.busy = true;
    const [epoch, begun, playing] = [this.epoch, performance.now(), this.playing];
    try {
      const contents = await this.hooks.load(this.moments[at % this.moments.length]);
      this.latency += 0.2 * (performance.now() - begun - this.latency);
      this.size = contents.reduce((sum, one) => sum + (one?.elements?.bytes ?? 0) + (one?.surfaces?.bytes ?? 0), 0);
      if (epoch === this.epoch && playing === this.playing) {
        const slot = { at, contents };
        if (playing) this.queue.push(slot);
        else this.#show(slot);
      }
      this.busy = false;
    } catch (error) {
      this.hooks.fail(error);
      // The server may come back; asking at once would only spin.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      this.busy = false;
    }
    this.#pump();
  }
}

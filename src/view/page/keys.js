// Keys: the list that is shown is the list that works.
import { make } from "./legend.js";

/** @typedef {{keys: string[], shown: string, does: string, action: (event: KeyboardEvent) => void}} Binding */

/** @param {Binding[]} bindings */
export function watchKeys(bindings) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const field = target.matches("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (field && event.key !== "Escape") return;
    if (event.key === " " && target.matches("button, summary, [type=checkbox]")) return;
    // A slider of its own keeps its arrows; that of the timeline means the same as the keys.
    if (target.matches("[type=range]:not(#scrub)") && /^(Arrow|Home|End)/.test(event.key)) return;
    const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "") + event.key;
    const binding = bindings.find(({ keys }) => keys.includes(name));
    if (!binding) return;
    event.preventDefault();
    binding.action(event);
  });
  // A choice made with the pointer gives the keys back to the page.
  let pointed = false;
  document.addEventListener("pointerdown", () => (pointed = true), true);
  document.addEventListener("keydown", () => (pointed = false), true);
  document.addEventListener("change", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (pointed && target.matches("select, [type=range], [type=checkbox]")) target.blur();
  });
  const list = /** @type {HTMLElement} */ (document.getElementById("keys"));
  for (const { shown, does } of bindings.filter((binding) => binding.shown)) {
    const row = make("div", "", list);
    const term = make("dt", "", row);
    for (const key of shown.split(" ")) make("kbd", "", term, key);
    make("dd", "", row, does);
  }
}

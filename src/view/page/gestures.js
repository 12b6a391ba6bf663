// Mouse, pen and touch on the picture: turn, shift, zoom, pick.

/** A press that moves less than this many pixels is a click. */
const SLACK = 5;

/**
 * @param {HTMLElement} element
 * @param {import("./camera.js").Camera} camera
 * @param {{click: (x: number, y: number, twice: boolean) => void, busy: () => void, hold: (held: boolean) => void,
 *   pane: (x: number, y: number) => import("./viewport.js").Pane}} hooks
 */
export function watchGestures(element, camera, hooks) {
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  let travelled = 0;
  const local = (/** @type {MouseEvent} */ event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const toPane = (/** @type {{x: number, y: number}} */ at) => {
    const pane = hooks.pane(at.x, at.y);
    return {
      x: (at.x - pane.left - pane.width / 2) / pane.height,
      y: (pane.top + pane.height / 2 - at.y) / pane.height,
    };
  };

  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, local(event));
    travelled = fingers.size > 1 ? Infinity : 0;
    hooks.hold(true);
  });
  element.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = local(event);
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    travelled += Math.hypot(dx, dy);
    const { height } = hooks.pane(now.x, now.y);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1] ?? before;
      const spread =
        Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      camera.zoom(1 / Math.max(spread, 0.1), toPane({ x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 }));
      camera.pan(dx / 2 / height, dy / 2 / height);
    } else if (travelled > SLACK) {
      if (event.buttons & 6 || event.shiftKey || event.ctrlKey) camera.pan(dx / height, dy / height);
      else camera.orbit((dx * Math.PI) / height, (dy * Math.PI) / height);
    }
    fingers.set(event.pointerId, now);
    hooks.busy();
  });
  const lift = (/** @type {PointerEvent} */ event) => {
    const known = fingers.delete(event.pointerId);
    if (fingers.size === 0) hooks.hold(false);
    if (!known || event.type === "pointercancel") return;
    const at = local(event);
    if (travelled <= SLACK && event.button === 0) hooks.click(at.x, at.y, false);
  };
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("dblclick", (event) => {
    const at = local(event);
    hooks.click(at.x, at.y, true);
  });
  element.addEventListener("contextmenu", (event) => event.preventDefault());
  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      camera.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0016), toPane(local(event)));
      hooks.busy();
    },
    { passive: false },
  );
}

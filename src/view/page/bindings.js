// What each key does.

/** @param {any} page @returns {import("./keys.js").Binding[]} */
export function bindings(page) {
  const { timeline, player, settings, camera } = page;
  const turn = (/** @type {number} */ right, /** @type {number} */ down) => {
    page.viewport.busy();
    camera.orbit(right, down);
  };
  const zoom = (/** @type {number} */ factor) => {
    page.viewport.busy();
    camera.zoom(factor);
  };
  const look = (/** @type {string} */ name, /** @type {string} */ other) => (/** @type {KeyboardEvent} */ event) =>
    camera.look(event.shiftKey ? other : name);
  return [
    { keys: [" "], shown: "Space", does: "play or pause", action: () => player.toggle() },
    { keys: ["ArrowLeft"], shown: "←", does: "frame before", action: () => timeline.step(-1) },
    { keys: ["ArrowRight"], shown: "→", does: "next frame", action: () => timeline.step(1) },
    { keys: ["PageUp"], shown: "PgUp", does: "ten frames back", action: () => timeline.step(-10) },
    { keys: ["PageDown"], shown: "PgDn", does: "ten frames on", action: () => timeline.step(10) },
    { keys: ["Home"], shown: "Home", does: "first frame", action: () => timeline.seek(0) },
    { keys: ["End"], shown: "End", does: "last frame", action: () => timeline.seek(player.moments.length - 1) },
    { keys: [",", "<"], shown: ",", does: "half the speed", action: () => timeline.scaleSpeed(0.5) },
    { keys: [".", ">"], shown: ".", does: "twice the speed", action: () => timeline.scaleSpeed(2) },
    { keys: ["l", "L"], shown: "L", does: "repeat", action: () => settings.set({ loop: !settings.values.loop }) },
    {
      keys: ["f", "F"],
      shown: "F",
      does: "keep the newest frame shown",
      action: () => settings.set({ follow: !settings.values.follow }),
    },
    {
      keys: ["a", "A"],
      shown: "A",
      does: "surfaces where a frame has them",
      action: () => settings.set({ mode: "auto" }),
    },
    { keys: ["e", "E"], shown: "E", does: "elements", action: () => settings.set({ mode: "elements" }) },
    { keys: ["s", "S"], shown: "S", does: "surfaces", action: () => settings.set({ mode: "surfaces" }) },
    { keys: ["c", "C"], shown: "C", does: "next colour", action: () => page.colouring.next() },
    {
      keys: ["x", "y", "z", "X", "Y", "Z"],
      shown: "X Y Z",
      does: "section across an axis, or none",
      action: (event) => cut(page, event.key.toLowerCase()),
    },
    { keys: ["v", "V"], shown: "V", does: "section across the view, or none", action: () => cut(page, "view") },
    {
      keys: ["b", "B"],
      shown: "B",
      does: "breaks of this frame",
      action: () => page.toggle("breaks", !settings.values.breaks),
    },
    {
      keys: ["g", "G"],
      shown: "G",
      does: "colliders",
      action: () => page.toggle("colliders", !settings.values.colliders),
    },
    { keys: ["0"], shown: "0", does: "first view", action: () => camera.home() },
    {
      keys: ["1", "!"],
      shown: "1",
      does: "view from the front, with shift from behind",
      action: look("front", "back"),
    },
    {
      keys: ["2", '"'],
      shown: "2",
      does: "view from the right, with shift from the left",
      action: look("right", "left"),
    },
    { keys: ["3", "#"], shown: "3", does: "view from above, with shift from below", action: look("top", "bottom") },
    { keys: ["r", "R"], shown: "R", does: "show all of it", action: () => page.frameAll() },
    { keys: ["Shift+ArrowLeft"], shown: "Shift ←", does: "turn left; likewise →, ↑, ↓", action: () => turn(-0.12, 0) },
    { keys: ["Shift+ArrowRight"], shown: "", does: "", action: () => turn(0.12, 0) },
    { keys: ["Shift+ArrowUp"], shown: "", does: "", action: () => turn(0, -0.12) },
    { keys: ["Shift+ArrowDown"], shown: "", does: "", action: () => turn(0, 0.12) },
    { keys: ["+", "="], shown: "+", does: "nearer", action: () => zoom(0.85) },
    { keys: ["-", "_"], shown: "−", does: "farther", action: () => zoom(1 / 0.85) },
    { keys: ["p", "P"], shown: "P", does: "panels", action: () => page.toggleSide() },
    { keys: ["Escape"], shown: "Esc", does: "clear the selection", action: () => settings.set({ selection: null }) },
    {
      keys: ["?"],
      shown: "?",
      does: "these keys",
      action: () => /** @type {any} */ (document.getElementById("help")).showModal(),
    },
  ];
}

/** @param {any} page @param {string} axis */
function cut(page, axis) {
  page.section.choose(page.settings.values.axis === axis ? "off" : axis);
}

// Drives the page of `cullet view` in Chromium and compares what it shows with what the server answers.
// Usage: NODE_PATH=DIR/node_modules node check_view.js URL OUT_DIR [--store2] [--recorded]
// URL is the server's address, of a store with elements; with --recorded the file:// address of an exported page.
// Pictures are left in OUT_DIR. CHROMIUM names the browser if it is not /usr/bin/chromium.
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const { need, SKIPPED } = require("./common.js");

const [puppeteer] = need("puppeteer-core");
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";
if (!fs.existsSync(BROWSER)) {
  console.log(`skipped: there is no browser ${BROWSER}`);
  process.exit(SKIPPED);
}
const HOSTILE = `<img src=x onerror="window.hit=1">'"&`;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function must(holds, what) {
  if (!holds) throw new Error(what);
}

/** Waits until `holds` of the page is true. */
async function until(page, holds, what, ms = 20000) {
  const end = Date.now() + ms;
  while (!(await page.evaluate(holds))) {
    must(Date.now() < end, `${what} did not happen within ${ms / 1000} s`);
    await wait(40);
  }
}

// Answers: from the server, or from the file as recorded.

function answers(url, recorded) {
  if (!recorded) return async (where) => Buffer.from(await (await fetch(new URL(where, url))).arrayBuffer());
  const text = fs.readFileSync(new URL(url), "utf8");
  const records = JSON.parse(text.match(/<script[^>]* id="recorded"[^>]*>([^]*?)<\/script>/)[1]);
  return async (where) => zlib.gunzipSync(Buffer.from(records[where.split("?")[0]], "base64"));
}

function unpack(buffer) {
  const start = 4 + buffer.readUInt32LE(0);
  const header = JSON.parse(buffer.subarray(4, start).toString());
  const kinds = { f32: Float32Array, u32: Uint32Array, u8: Uint8Array, i8: Int8Array };
  const arrays = {};
  for (const { name, type, components, offset, count } of header.arrays) {
    const bytes = Uint8Array.from(
      buffer.subarray(start + offset, start + offset + count * components * kinds[type].BYTES_PER_ELEMENT),
    );
    arrays[name] = new kinds[type](bytes.buffer);
  }
  return { header, arrays };
}

// Pictures: RGBA of the first pane, and masks of what should be covered.

class Eyes {
  constructor(tool, out) {
    this.tool = tool;
    this.out = out;
  }

  /** The picture as shown, with its panels out of the way. */
  async look(page, name) {
    await page.evaluate(() => culletView.rested());
    const clip = await page.evaluate(() => {
      const box = document.getElementById("picture").getBoundingClientRect();
      const pane = culletView.page.viewport.panes()[0];
      return {
        x: box.x + pane.left,
        y: box.y + pane.top,
        width: Math.floor(pane.width),
        height: Math.floor(pane.height),
      };
    });
    const png = await page.screenshot({ clip });
    fs.writeFileSync(path.join(this.out, `${name}.png`), png);
    const text = await this.tool.evaluate(async (base64) => {
      const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context.drawImage(bitmap, 0, 0);
      const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      let letters = "";
      for (let k = 0; k < data.length; k += 32768) letters += String.fromCharCode(...data.subarray(k, k + 32768));
      return { width: bitmap.width, height: bitmap.height, data: btoa(letters) };
    }, Buffer.from(png).toString("base64"));
    return { width: text.width, height: text.height, data: Buffer.from(text.data, "base64"), ...clip };
  }
}

/** The share of pixels that differ clearly. */
function difference(a, b) {
  must(a.width === b.width && a.height === b.height, "pictures differ in size");
  let count = 0;
  for (let k = 0; k < a.data.length; k += 4) {
    if (Math.max(...[0, 1, 2].map((c) => Math.abs(a.data[k + c] - b.data[k + c]))) > 12) count++;
  }
  return count / (a.width * a.height);
}

/** Whether pixel k is clear of the legend. */
const besideLegend = (k, width, height) => k % width > 130 || k < width * (height - 260);

/** Pixels with a colour: the ground and the grid are grey. */
function colourMask(picture) {
  const mask = new Uint8Array(picture.width * picture.height);
  for (let k = 0; k < mask.length; k++) {
    const pixel = picture.data.subarray(4 * k, 4 * k + 3);
    if (besideLegend(k, picture.width, picture.height) && Math.max(...pixel) - Math.min(...pixel) > 16) mask[k] = 1;
  }
  return mask;
}

async function cameraOf(page) {
  return page.evaluate(() => {
    const { camera, viewport, section } = culletView.page;
    const pane = viewport.panes()[0];
    viewport.aim(pane);
    const plane = section.plane();
    return {
      view: camera.eye.matrixWorldInverse.toArray(),
      fov: camera.eye.fov,
      width: Math.floor(pane.width),
      height: Math.floor(pane.height),
      plane: plane && { normal: plane.normal.toArray(), offset: plane.offset },
    };
  });
}

/** Element k in view space. */
function inView({ view }, { x, y, z }, k) {
  return [0, 1, 2].map((row) => view[row] * x[k] + view[4 + row] * y[k] + view[8 + row] * z[k] + view[12 + row]);
}

/** Pixels that the balls cover, those beyond the section's plane left out. */
function ballMask(camera, places, r) {
  const { width, height } = camera;
  const mask = new Uint8Array(width * height);
  const focal = height / 2 / Math.tan((camera.fov * Math.PI) / 360);
  for (let k = 0; k < r.length; k++) {
    const [vx, vy, vz] = inView(camera, places, k);
    if (!Number.isFinite(vx)) continue;
    const { normal, offset } = camera.plane ?? { normal: [0, 0, 0], offset: -1 };
    if (normal[0] * places.x[k] + normal[1] * places.y[k] + normal[2] * places.z[k] + offset > 0) continue;
    const [cx, cy, size] = [width / 2 - (focal * vx) / vz, height / 2 + (focal * vy) / vz, (focal * r[k]) / -vz];
    for (let row = Math.max(0, Math.ceil(cy - size)); row <= Math.min(height - 1, cy + size); row++) {
      const half = Math.sqrt(Math.max(0, size * size - (row + 0.5 - cy) ** 2));
      for (let column = Math.max(0, Math.round(cx - half)); column < Math.min(width, cx + half); column++)
        mask[row * width + column] = 1;
    }
  }
  return mask.map((covered, k) => (besideLegend(k, width, height) ? covered : 0));
}

/** Overlap over union, and the centres. */
function compare(a, b, width) {
  let [both, either] = [0, 0];
  const sums = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (let k = 0; k < a.length; k++) {
    both += a[k] & b[k];
    either += a[k] | b[k];
    [a, b].forEach(
      (mask, side) => mask[k] && [1, k % width, Math.floor(k / width)].forEach((value, c) => (sums[side][c] += value)),
    );
  }
  const centres = sums.map(([count, x, y]) => [x / count, y / count]);
  return {
    overlap: both / either,
    apart: Math.hypot(centres[0][0] - centres[1][0], centres[0][1] - centres[1][1]),
    centre: centres[1],
    area: sums[1][0],
  };
}

/** The middle of the pixel next to `centre` whose neighbours are covered, too. */
function nearestCovered(mask, width, centre) {
  let best = { distance: Infinity, at: centre };
  mask.forEach((_, k) => {
    const [x, y] = [k % width, Math.floor(k / width)];
    const distance = Math.hypot(x - centre[0], y - centre[1]);
    if (distance >= best.distance) return;
    const inside = [-1, 0, 1].every((row) => [-1, 0, 1].every((column) => mask[k + row * width + column]));
    if (inside) best = { distance, at: [x + 0.5, y + 0.5] };
  });
  return best.at;
}

/** The element that a ray through a pixel meets first, by brute force in view space. */
function firstBall(camera, places, r, at) {
  const focal = camera.height / 2 / Math.tan((camera.fov * Math.PI) / 360);
  const direction = [(at[0] - camera.width / 2) / focal, (camera.height / 2 - at[1]) / focal, -1];
  const length = Math.hypot(...direction);
  let best = { element: -1, distance: Infinity };
  for (let k = 0; k < r.length; k++) {
    const centre = inView(camera, places, k);
    const along = centre.reduce((sum, value, c) => sum + value * (direction[c] / length), 0);
    const under = r[k] ** 2 - (centre.reduce((sum, value) => sum + value * value, 0) - along * along);
    const distance = along - Math.sqrt(under);
    if (under > 0 && distance > 0 && distance < best.distance) best = { element: k, distance };
  }
  return best.element;
}

// The checks, each of one subject.

async function checkBalls(page, eyes, ask, store, figures) {
  await page.keyboard.press("e");
  const frame = store.frames[Math.floor(store.frames.length / 2)];
  await page.evaluate((index) => culletView.page.timeline.seek(index), store.frames.indexOf(frame));
  // The list of quantities is that of what is shown: until then those of surfaces.
  await page.evaluate(() => culletView.rested());
  const { r } = unpack(await ask("/api/stores/0/elements")).arrays;
  const quantity =
    ["speed", "vx", "sigma"].find((name) => store.columns.some((column) => column.name === name)) ??
    store.columns[0].name;
  await page.select("#colour", quantity);
  await page.keyboard.press("g");
  const picture = await eyes.look(page, "elements");
  const { arrays } = unpack(await ask(`/api/stores/0/frames/${frame}?columns=${quantity}`));
  const camera = await cameraOf(page);
  const found = compare(colourMask(picture), ballMask(camera, arrays, r), picture.width);
  must(found.area > 500, `only ${found.area} pixels of elements should be seen`);
  must(found.overlap > 0.93, `drawn and expected elements overlap by ${found.overlap}`);
  must(found.apart < 3, `drawn elements are ${found.apart} pixels from where they should be`);
  figures.overlap = +found.overlap.toFixed(4);

  await page.keyboard.press("x");
  const cut = await eyes.look(page, "section");
  const kept = compare(colourMask(cut), ballMask(await cameraOf(page), arrays, r), cut.width);
  must(difference(picture, cut) > 0.005, "the section changes nothing");
  must(
    kept.area < 0.9 * found.area && kept.overlap > 0.88,
    `drawn and expected elements of the section overlap by ${kept.overlap}`,
  );
  figures.section = +kept.overlap.toFixed(4);
  await page.keyboard.press("x");

  await checkPick(page, eyes, { arrays, r, quantity, picture, camera, centre: found.centre });
  await page.keyboard.press("g");
  return picture;
}

async function checkPick(page, eyes, { arrays, r, quantity, picture, camera, centre }) {
  const at = nearestCovered(ballMask(camera, arrays, r), camera.width, centre);
  const element = firstBall(camera, arrays, r, at);
  must(element >= 0, "no element lies under the middle of the picture");
  await page.mouse.click(picture.x + at[0], picture.y + at[1]);
  await until(page, () => document.querySelector("#selection .picked") !== null, "picking");
  const title = await page.$eval("#selection .picked", (node) => node.textContent);
  must(title === `Element ${element}`, `a click on element ${element} picks ${title}`);
  await page.keyboard.press("Escape");
  await until(page, () => document.querySelector("#selection .picked") === null, "clearing the selection");

  // Values above the range have the map's last colour, yellow, and values below it the first, purple.
  const value = arrays[quantity][element];
  const pixel = async (low, high, name) => {
    for (const [id, number] of [
      ["range-min", low],
      ["range-max", high],
    ]) {
      await page.$eval(
        `#${id}`,
        (field, text) => {
          field.value = text;
          field.dispatchEvent(new Event("change"));
        },
        String(number),
      );
    }
    const seen = await eyes.look(page, name);
    const k = 4 * (Math.floor(at[1]) * seen.width + Math.floor(at[0]));
    return [...seen.data.subarray(k, k + 3)];
  };
  const span = Math.abs(value) + 1;
  const [red, green, blue] = await pixel(value - 2 * span, value - span, "range_below");
  must(red > 1.5 * blue && green > 1.4 * blue, `a value above the range is ${[red, green, blue]}, not yellow`);
  const low = await pixel(value + span, value + 2 * span, "range_above");
  must(low[2] > 1.5 * low[1] && low[0] > 1.5 * low[1], `a value below the range is ${low}, not purple`);
  await page.select("#range", "seen");
}

async function checkLooks(page, eyes, store, elements) {
  const last = store.frames.length - 1;
  if (store.surfaces.length > 0) {
    await page.keyboard.press("s");
    await page.evaluate((index) => culletView.page.timeline.seek(index), store.frames.indexOf(store.surfaces.at(-1)));
    const plain = await eyes.look(page, "surfaces");
    await page.select("#colour", "fragment");
    const coloured = await eyes.look(page, "surfaces_fragment");
    must(difference(plain, elements) > 0.003, "surfaces look like elements");
    must(difference(plain, coloured) > 0.003, "colours by fragment change nothing");
    await page.select("#colour", "");
    await page.keyboard.press("e");
  }
  await page.keyboard.press("Home");
  const first = await eyes.look(page, "first");
  await page.keyboard.press("End");
  const end = await eyes.look(page, "last");
  if (last > 0) must(difference(first, end) > 0.001, "the first and the last frame look the same");
  await page.select("#colour", "");
  must(difference(await eyes.look(page, "plain"), end) > 0.003, "a plain picture looks like a coloured one");
  await page.keyboard.press("b");
  await page.evaluate(() => culletView.rested());
  await page.keyboard.press("b");
}

async function checkTime(page, ask, store) {
  const shown = () => page.evaluate(async () => (await culletView.rested(), culletView.page.player.shown));
  const last = store.frames.length - 1;
  for (const [key, index] of [
    ["Home", 0],
    ["ArrowRight", Math.min(1, last)],
    ["End", last],
    ["ArrowLeft", Math.max(0, last - 1)],
  ]) {
    await page.keyboard.press(key);
    must((await shown()) === index, `${key} shows ${await shown()}, not ${index}`);
  }
  await page.keyboard.press("?");
  must(
    await page.$eval("#help", (help) => help.open && help.querySelectorAll("kbd").length > 10),
    "? does not show the keys",
  );
  await page.keyboard.press("Escape");

  const chart = await page.$("#charts canvas");
  if (chart && last > 0) {
    await chart.scrollIntoView();
    const box = await chart.boundingBox();
    const history = JSON.parse((await ask("/api/stores/0/tables/history")).toString());
    const times = history.columns.find((column) => column.name === "time").values;
    const [low, high] = [Math.min(...times), Math.max(...times)];
    const wanted = low + 0.6 * (high - low);
    // The axis leaves 44 pixels at the left and 8 at the right.
    await page.mouse.click(box.x + 44 + 0.6 * (box.width - 52), box.y + box.height / 2);
    const time = store.times[await shown()];
    const away = Math.min(...store.times.map((other) => Math.abs(other - wanted)));
    must(Math.abs(time - wanted) <= away + 0.02 * (high - low), `a click on the chart at ${wanted} s shows ${time} s`);
  }
}

/** Frames a second while playing, and whether memory grows over three rounds. */
async function checkPlaying(page, store, figures) {
  const session = await page.createCDPSession();
  const held = async () => {
    await session.send("HeapProfiler.collectGarbage");
    await wait(200);
    await session.send("HeapProfiler.collectGarbage");
    const usage = await session.send("Runtime.getHeapUsage");
    const counters = await page.evaluate(() => culletView.counters());
    return { bytes: usage.usedSize + (usage.backingStorageSize ?? 0) + (usage.embedderHeapUsedSize ?? 0), ...counters };
  };
  const round = async () => {
    for (let k = 0; k < store.frames.length; k++)
      await page.evaluate((index) => (culletView.page.timeline.seek(index), culletView.drawn(index)), k);
  };
  await round();
  const before = await held();
  for (let k = 0; k < 3; k++) await round();
  const after = await held();
  must(after.bytes < 1.05 * before.bytes + 2e6, `memory grew from ${before.bytes} to ${after.bytes} bytes`);
  must(
    after.memory.geometries === before.memory.geometries,
    `geometries grew from ${before.memory.geometries} to ${after.memory.geometries}`,
  );
  Object.assign(figures, { heap: after.bytes, held: after.held });

  await page.setViewport({ width: 1920, height: 1080 });
  await page.keyboard.press("Home");
  await page.evaluate(() => culletView.rested());
  await page.keyboard.press(" ");
  await wait(1500);
  const start = await page.evaluate(() => ({ ...culletView.counters(), now: performance.now() }));
  await wait(4000);
  const end = await page.evaluate(() => ({ ...culletView.counters(), now: performance.now() }));
  await page.keyboard.press(" ");
  must(end.framesShown > start.framesShown, "playing does not advance");
  const rate = (1000 * (end.framesShown - start.framesShown)) / (end.now - start.now);
  Object.assign(figures, { fps: +rate.toFixed(1), pixels: end.part, draw_ms: +end.cost.toFixed(1) });
}

async function checkNarrow(page) {
  await page.setViewport({ width: 360, height: 640 });
  await wait(300);
  const wide = await page.evaluate(() =>
    [...document.querySelectorAll("header *, footer *, #side")]
      .filter((node) => {
        const box = node.getBoundingClientRect();
        return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5);
      })
      .map((node) => node.id || node.tagName)
      .concat(document.documentElement.scrollWidth > innerWidth ? ["document"] : []),
  );
  must(wide.length === 0, `wider than a window of 360 pixels: ${wide.join(", ")}`);
  await page.setViewport({ width: 1280, height: 800 });
}

/** Names that are HTML, answers that are broken, a run in progress, a lost connection. */
async function checkHostile(browser, url, store) {
  const page = await browser.newPage();
  let phase = "names";
  await page.setRequestInterception(true);
  page.on("request", async (request) => {
    const where = new URL(request.url()).pathname;
    if (phase === "lost") return request.abort();
    if (where === "/api/stores") {
      const answer = await (await fetch(request.url())).json();
      for (const one of answer.stores) {
        const few = Math.max(1, one.frames.length - 1);
        const live =
          phase === "names"
            ? {
                frames: one.frames.slice(0, few),
                times: one.times.slice(0, few),
                live: { ...one.live, running: true, awake: 1 },
              }
            : { live: { ...one.live, running: true } };
        Object.assign(one, live, {
          name: HOSTILE,
          bodies: one.bodies.map(() => ({ name: HOSTILE, material: HOSTILE })),
        });
        one.columns.push({ name: HOSTILE, unit: HOSTILE, doc: HOSTILE });
      }
      return request.respond({ contentType: "application/json", body: JSON.stringify(answer) });
    }
    if (phase === "broken" && /frames|surfaces/.test(where))
      return request.respond({
        contentType: "application/octet-stream",
        body: Buffer.from([255, 255, 255, 0, 1, 2, 3, 4, 5]),
      });
    return request.continue();
  });
  await page.goto(url);
  await page.waitForFunction(() => window.culletView);
  await page.evaluate(() => culletView.started);
  await until(page, () => culletView.page.player.shown >= 0, "showing a frame");
  must(
    (await page.$eval("#title", (title) => title.textContent)).includes(HOSTILE),
    "a name with HTML is not shown as it is",
  );
  must(
    await page.evaluate(() => document.querySelectorAll("img").length === 0 && window.hit === undefined),
    "a name became HTML",
  );
  must(
    await page.$eval("#live", (live) => !live.hidden && live.textContent.includes("awake")),
    "a run in progress is not shown",
  );
  phase = "grown";
  await page.waitForFunction(
    (count) =>
      culletView.page.player.moments.length >= count &&
      culletView.page.player.shown === culletView.page.player.moments.length - 1,
    { timeout: 20000 },
    store.frames.length,
  );
  phase = "broken";
  await page.keyboard.press("Home");
  await until(page, () => !document.getElementById("message").hidden, "a message about a broken answer");
  phase = "whole";
  await page.keyboard.press("End");
  await until(page, () => document.getElementById("message").hidden, "recovering from a broken answer");
  phase = "lost";
  await until(
    page,
    () => document.getElementById("message").textContent.includes("Connection lost"),
    "noticing that the server is gone",
  );
  phase = "whole";
  await until(page, () => document.getElementById("message").hidden, "noticing that the server is back");
  await page.close();
}

async function main() {
  const [url, out, ...flags] = process.argv.slice(2);
  if (!url || !out) {
    console.error(`usage: ${process.argv[1]} URL OUT_DIR [--store2] [--recorded]`);
    process.exit(1);
  }
  const recorded = flags.includes("--recorded");
  fs.mkdirSync(out, { recursive: true });
  const browser = await puppeteer.launch({
    executablePath: BROWSER,
    headless: true,
    protocolTimeout: 120000,
    defaultViewport: { width: 1280, height: 800 },
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--enable-precise-memory-info"],
  });
  try {
    const eyes = new Eyes(await browser.newPage(), out);
    const page = await browser.newPage();
    const faults = [];
    page.on("console", (message) => ["error", "warn"].includes(message.type()) && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error.stack ?? error)));
    page.on("requestfailed", (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`));
    await page.goto(url);
    await page.waitForFunction(() => window.culletView);
    await page.evaluate(() => culletView.started);
    const ask = answers(url, recorded);
    const { stores } = JSON.parse((await ask("/api/stores")).toString());
    const store = stores[0];
    const figures = { frames: store.frames.length, elements: store.elements };
    if (flags.includes("--store2")) {
      must(stores.length === 2 && (await page.$$(".pane")).length === 2, "two stores do not get two panes");
      // A pane has its label once it shows a frame.
      await until(
        page,
        () => [...document.querySelectorAll(".label")].every((label) => label.textContent.includes("frame")),
        "both panes showing their labels",
      );
    }
    const elements = await checkBalls(page, eyes, ask, store, figures);
    await checkLooks(page, eyes, store, elements);
    if (stores.length === 1) await checkTime(page, ask, store);
    await checkNarrow(page);
    await checkPlaying(page, store, figures);
    must(faults.length === 0, `the browser complains:\n${faults.join("\n")}`);
    if (!recorded) await checkHostile(browser, url, store);
    console.log(JSON.stringify(figures));
  } finally {
    await browser.close();
  }
}

main().catch((error) => {
  console.error(`failed: ${error.stack ?? error}`);
  process.exit(1);
});

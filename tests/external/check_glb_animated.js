// Reads exports/*.animated.glb with glTF-Transform and meshoptimizer's decoder, validates what it is uncompressed, and compares every
// fragment at every frame with the PLY file of that frame. Usage: NODE_PATH=DIR/node_modules node check_glb_animated.js STORE
"use strict";
const fs = require("fs");
const path = require("path");
const { need, run } = require("./common.js");

const [{ NodeIO }, { EXTMeshoptCompression, KHRMeshQuantization }, { MeshoptDecoder }, validator] = need(
  "@gltf-transform/core",
  "@gltf-transform/extensions",
  "meshoptimizer",
  "gltf-validator"
);

const add = (a, b) => a.map((x, k) => x + b[k]);
const times = (a, s) => a.map((x) => x * s);

function rotated([x, y, z, w], v) {
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const t = times(cross([x, y, z], v), 2);
  return add(add(v, times(t, w)), cross([x, y, z], t));
}

/** The rotation a player shows between two. */
function slerp(a, b, part) {
  let dot = a.reduce((sum, x, k) => sum + x * b[k], 0);
  assert(dot >= 0, "of two rotations in a row one is the long way round");
  const angle = Math.acos(Math.min(dot, 1));
  const [p, q] = angle < 1e-6 ? [1 - part, part] : [Math.sin((1 - part) * angle), Math.sin(part * angle)].map((s) => s / Math.sin(angle));
  const sum = add(times(a, p), times(b, q));
  return times(sum, 1 / Math.hypot(...sum));
}

function assert(holds, what) {
  if (!holds) {
    throw new Error(what);
  }
}

/** What a track gives at a time; `still` where there is no track. */
function sampled(channel, time, still) {
  if (!channel) {
    return still;
  }
  const sampler = channel.getSampler();
  const [input, output] = [sampler.getInput(), sampler.getOutput()];
  const key = (k) => output.getElement(k, []);
  const at = input.getArray();
  if (time <= at[0]) {
    return key(0);
  }
  const next = at.findIndex((t) => t > time);
  if (next < 0) {
    return key(at.length - 1);
  }
  if (sampler.getInterpolation() === "STEP") {
    return key(next - 1);
  }
  const part = (time - at[next - 1]) / (at[next] - at[next - 1]);
  const [a, b] = [key(next - 1), key(next)];
  return channel.getTargetPath() === "rotation" ? slerp(a, b, part) : add(times(a, 1 - part), times(b, part));
}

class Bounds {
  constructor() {
    this.low = [Infinity, Infinity, Infinity];
    this.high = [-Infinity, -Infinity, -Infinity];
  }
  take(point) {
    this.low = this.low.map((x, k) => Math.min(x, point[k]));
    this.high = this.high.map((x, k) => Math.max(x, point[k]));
  }
  size() {
    return Math.hypot(...this.high.map((x, k) => x - this.low[k]));
  }
  off(other) {
    return Math.max(...[...this.low, ...this.high].map((x, k) => Math.abs(x - [...other.low, ...other.high][k])));
  }
}

/** Bounds of every fragment of a PLY file, by label. */
function fragmentsOf(file) {
  const bytes = fs.readFileSync(file);
  const marker = "end_header\n";
  const start = bytes.indexOf(marker) + marker.length;
  const head = bytes.toString("latin1", 0, start);
  const count = (what) => Number(head.match(new RegExp(`element ${what} (\\d+)`))[1]);
  const found = new Map();
  const [vertexHead, faceHead] = head.slice(head.indexOf("element vertex")).split("element face");
  const sizeOf = { uchar: 1, int: 4, float: 4 };
  const sizes = (part) => [...part.matchAll(/property (\w+) \w+\n/g)].reduce((sum, [, type]) => sum + sizeOf[type], 0);
  // The position of a vertex comes first. A face is a triangle: its list has 13 bytes, its label comes next.
  const [stride, faceStride] = [sizes(vertexHead), 13 + sizes(faceHead)];
  const faces = start + stride * count("vertex");
  for (let face = 0; face < count("face"); face++) {
    const row = faces + faceStride * face;
    const label = bytes.readInt32LE(row + 13);
    if (!found.has(label)) {
      found.set(label, new Bounds());
    }
    for (let corner = 0; corner < 3; corner++) {
      const vertex = start + stride * bytes.readInt32LE(row + 1 + 4 * corner);
      found.get(label).take([0, 4, 8].map((k) => bytes.readFloatLE(vertex + k)));
    }
  }
  return found;
}

/** What is shown at a time, by label. */
function shownAt(objects, time) {
  const shown = new Map();
  for (const { node, points, tracks } of objects) {
    const [scale] = sampled(tracks.scale, time, node.getScale());
    if (scale === 0) {
      continue;
    }
    const label = Number(node.getName().split("_")[1]);
    assert(!shown.has(label), `${node.getName()} at ${time}: another of its label is shown too`);
    const rotation = sampled(tracks.rotation, time, node.getRotation());
    const place = sampled(tracks.translation, time, node.getTranslation());
    const bounds = new Bounds();
    points.forEach((point) => bounds.take(add(rotated(rotation, times(point, scale)), place)));
    shown.set(label, bounds);
  }
  return shown;
}

async function checkFile(file, folder) {
  await MeshoptDecoder.ready;
  const io = new NodeIO()
    .registerExtensions([EXTMeshoptCompression, KHRMeshQuantization])
    .registerDependencies({ "meshopt.decoder": MeshoptDecoder });
  const document = await io.read(file);
  for (const extension of document.getRoot().listExtensionsUsed()) {
    if (extension.extensionName === "EXT_meshopt_compression") {
      extension.dispose();
    }
  }
  const plain = await io.writeBinary(document);
  const report = await validator.validateBytes(plain, { maxIssues: 20 });
  for (const issue of report.issues.messages) {
    // Writing it again, glTF-Transform leaves one buffer and names nothing; what it keeps must be without fault.
    assert(issue.severity > 1, `${file}, uncompressed: ${issue.code} ${issue.pointer}: ${issue.message}`);
  }
  const root = document.getRoot();
  const [animation] = root.listAnimations();
  const objects = root
    .listNodes()
    .filter((node) => node.getMesh())
    .map((node) => {
      const tracks = {};
      const points = node.getMesh().listPrimitives().flatMap((primitive) => {
        const positions = primitive.getAttribute("POSITION");
        return [...new Set(primitive.getIndices().getArray())].map((vertex) => positions.getElement(vertex, []));
      });
      return { node, points, tracks };
    });
  const byNode = new Map(objects.map((object) => [object.node, object]));
  for (const channel of animation.listChannels()) {
    byNode.get(channel.getTargetNode()).tracks[channel.getTargetPath()] = channel;
  }
  const { frames, framesPerSecond, stiffened } = root.getExtras();
  let [compared, fragments, farthest] = [0, 0, 0];
  for (let frame = frames[0]; frame <= frames[1]; frame++) {
    const [name] = fs.readdirSync(path.join(folder, "ply")).filter((name) => name.endsWith(`.${String(frame).padStart(6, "0")}.ply`));
    assert(name, `no PLY file of frame ${frame}`);
    const wanted = fragmentsOf(path.join(folder, "ply", name));
    const shown = shownAt(objects, (frame - frames[0]) / framesPerSecond);
    assert(shown.size === wanted.size, `frame ${frame}: ${shown.size} fragments shown, ${wanted.size} in PLY`);
    for (const [label, bounds] of wanted) {
      assert(shown.has(label), `frame ${frame}: fragment ${label} is not shown`);
      const off = bounds.off(shown.get(label));
      // A rigid fragment may be off by 2e-4 of its size, a bent one by what the file says; whole numbers take 5e-5 of the size.
      const allowed = Math.max(2e-4 * bounds.size(), stiffened ? stiffened.off : 0) + 5e-5 * bounds.size();
      assert(off <= allowed, `frame ${frame}, fragment ${label}: off by ${off}, ${allowed} is allowed`);
      farthest = Math.max(farthest, off);
      fragments += 1;
    }
    compared += 1;
  }
  return `${objects.length} objects, ${animation.listChannels().length} tracks, ${fragments} fragments in ${compared} frames as in PLY, off by at most ${farthest.toExponential(1)}`;
}

run(async (store) => {
  const folder = path.join(store, "exports");
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".animated.glb"));
  assert(files.length > 0, `no animated GLB file in ${folder}`);
  const told = await Promise.all(files.map((name) => checkFile(path.join(folder, name), folder)));
  return `animated glb: ${told.join("; ")}`;
});

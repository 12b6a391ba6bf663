// Plays the clip of an animated GLB file with three.js and writes what each node shows, for clip.py.
// Usage: NODE_PATH=DIR/node_modules node sample_clip.js FILE.glb PARTS FOLDER
//
// FOLDER gets clip.json (nodes with their largest scale, duration, extras of the file), matrices.f64 (16 numbers a node at each time, columns first; times are every
// 1/PARTS of a frame from the first frame to the last) and points.f32 (positions of each node's mesh, decoded, without the node's matrix).
"use strict";
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { need } = require("./common.js");

/** three.js and its loader as modules: `import` does not look into NODE_PATH, and two copies of three.js must not mix. */
async function three() {
  const load = (file) => import(pathToFileURL(file));
  const core = path.join(path.dirname(require.resolve("three")), "three.module.js");
  const { GLTFLoader } = await load(require.resolve("three/examples/jsm/loaders/GLTFLoader.js"));
  return { ...(await load(core)), GLTFLoader };
}

/** Positions of all meshes below a node; their own matrices are the identity. */
function pointsOf(object) {
  const found = [];
  const seen = new Set();
  object.traverse((part) => {
    // Primitives of one mesh share their vertices.
    const positions = part.isMesh && part.geometry.getAttribute("position");
    if (!positions || seen.has(positions)) {
      return;
    }
    seen.add(positions);
    for (let vertex = 0; vertex < positions.count; vertex++) {
      found.push(positions.getX(vertex), positions.getY(vertex), positions.getZ(vertex));
    }
  });
  return found;
}

/** The nodes of the file that have a mesh, under their names in the file. */
function nodesOf(gltf) {
  const { json, associations } = gltf.parser;
  const nodes = [];
  gltf.scene.traverse((object) => {
    const association = associations.get(object);
    const node = association && json.nodes[association.nodes];
    if (node && node.mesh !== undefined) {
      const body = json.nodes[associations.get(object.parent).nodes];
      nodes.push({ object, name: node.name, body: body.name, reach: 0 });
    }
  });
  return nodes;
}

async function sample(file, parts, folder) {
  const [, { MeshoptDecoder }] = need("three", "meshoptimizer");
  const { AnimationMixer, GLTFLoader, LoopOnce } = await three();
  await MeshoptDecoder.ready;
  const bytes = fs.readFileSync(file);
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  const gltf = await loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), "");
  const nodes = nodesOf(gltf);
  const extras = gltf.parser.json.extras;
  const [clip] = gltf.animations;
  const mixer = new AnimationMixer(gltf.scene);
  const action = mixer.clipAction(clip).setLoop(LoopOnce).play();
  const times = (extras.frames[1] - extras.frames[0]) * parts + 1;
  const matrices = new Float64Array(times * nodes.length * 16);
  for (let time = 0; time < times; time++) {
    // Keys have 32 bits; a step at this very time counts.
    action.time = Math.fround(time / parts / extras.framesPerSecond);
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    nodes.forEach((node, at) => {
      matrices.set(node.object.matrixWorld.elements, (time * nodes.length + at) * 16);
      node.reach = Math.max(node.reach, node.object.scale.x);
    });
  }
  const points = nodes.map(({ object }) => pointsOf(object));
  fs.writeFileSync(path.join(folder, "matrices.f64"), matrices);
  fs.writeFileSync(path.join(folder, "points.f32"), new Float32Array(points.flat()));
  const listed = nodes.map(({ name, body, reach }, at) => ({ name, body, reach, vertices: points[at].length / 3 }));
  const told = { nodes: listed, duration: clip.duration, tracks: clip.tracks.length, extras, parts };
  fs.writeFileSync(path.join(folder, "clip.json"), JSON.stringify(told));
}

const [file, parts, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: sample_clip.js FILE.glb PARTS FOLDER");
  process.exit(1);
}
sample(file, Number(parts), folder).catch((error) => {
  console.error(`failed: ${error.stack ?? error}`);
  process.exit(1);
});

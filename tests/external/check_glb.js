// Validates exports/*.glb with Khronos's glTF validator. Usage: NODE_PATH=DIR/node_modules node check_glb.js STORE
"use strict";
const fs = require("fs");
const path = require("path");
const { need, run } = require("./common.js");

const [validator] = need("gltf-validator");

/** The validator does not know this extension, says so once, and takes what only it uses as unused; check_glb_animated.js looks inside. */
const UNKNOWN = "EXT_meshopt_compression";

/** Texture coordinates are there for a texture that the user chooses; the file has none. */
function textured(issue) {
  return issue.code === "UNUSED_OBJECT" && issue.pointer.endsWith("/attributes/TEXCOORD_0");
}

/** The issues that are nothing but that extension. */
function expected(messages) {
  const unknown = messages.filter((issue) => issue.code === "UNSUPPORTED_EXTENSION" && issue.message.includes(`'${UNKNOWN}'`));
  const unused = messages.filter((issue) => issue.code === "UNUSED_OBJECT" && issue.pointer === "/buffers/0");
  return unknown.length > 0 ? [...unknown, ...unused] : [];
}

run(async (store) => {
  const folder = path.join(store, "exports");
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".glb")).sort();
  if (files.length === 0) {
    throw new Error(`no GLB file in ${folder}`);
  }
  const sum = { draws: 0, triangles: 0, compressed: 0 };
  const faults = [];
  for (const name of files) {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, name)));
    const report = await validator.validateBytes(bytes, { maxIssues: 0 });
    sum.draws += report.info.drawCallCount;
    sum.triangles += report.info.totalTriangleCount;
    const known = expected(report.issues.messages);
    sum.compressed += known.length > 0 ? 1 : 0;
    for (const issue of report.issues.messages.filter((issue) => !known.includes(issue) && !textured(issue))) {
      faults.push(`${name}: severity ${issue.severity} ${issue.code} ${issue.pointer}: ${issue.message}`);
    }
  }
  if (faults.length > 0) {
    throw new Error(faults.slice(0, 20).join("\n"));
  }
  return `glb: ${files.length} files, ${sum.compressed} of them compressed, ${sum.draws} draws, ${sum.triangles} triangles, no issue`;
});

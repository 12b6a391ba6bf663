// Validates exports/*.glb with Khronos's glTF validator. Usage: NODE_PATH=DIR/node_modules node check_glb.js STORE
"use strict";
const fs = require("fs");
const path = require("path");

let validator;
try {
  validator = require("gltf-validator");
} catch (error) {
  console.log("skipped: the npm package gltf-validator is missing");
  process.exit(77);
}

async function main() {
  if (process.argv.length !== 3) {
    throw new Error("usage: check_glb.js STORE");
  }
  const folder = path.join(process.argv[2], "exports");
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".glb")).sort();
  if (files.length === 0) {
    throw new Error(`no GLB file in ${folder}`);
  }
  const sum = { numErrors: 0, numWarnings: 0, numInfos: 0, numHints: 0, draws: 0, triangles: 0 };
  for (const name of files) {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, name)));
    const report = await validator.validateBytes(bytes, { maxIssues: 20 });
    for (const key of ["numErrors", "numWarnings", "numInfos", "numHints"]) {
      sum[key] += report.issues[key];
    }
    sum.draws += report.info.drawCallCount;
    sum.triangles += report.info.totalTriangleCount;
    for (const issue of report.issues.messages) {
      if (issue.severity <= 1) {
        console.error(`${name}: ${issue.code} ${issue.pointer}: ${issue.message}`);
      }
    }
  }
  console.log(
    `glb: ${files.length} files, ${sum.draws} draws, ${sum.triangles} triangles, ` +
      `${sum.numErrors} errors, ${sum.numWarnings} warnings, ${sum.numInfos} infos, ${sum.numHints} hints`
  );
  process.exit(sum.numErrors === 0 ? 0 : 1);
}

main().catch((error) => {
  console.error(`failed: ${error.message ?? error}`);
  process.exit(1);
});

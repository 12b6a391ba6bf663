// What the checks in JavaScript share: finding the packages, ending with the right status.
"use strict";

const SKIPPED = 77;

/** The packages called `names`, or the end of the check with status 77. */
function need(...names) {
  return names.map((name) => {
    try {
      return require(name);
    } catch (error) {
      console.log(`skipped: the npm package ${name} is missing (${error.code})`);
      process.exit(SKIPPED);
    }
  });
}

/** Runs `check(store)`, which resolves to the line of figures or rejects. */
function run(check) {
  const [script, ...rest] = process.argv.slice(1);
  if (rest.length !== 1) {
    console.error(`usage: ${script} STORE`);
    process.exit(1);
  }
  check(rest[0]).then(console.log, (error) => {
    console.error(`failed: ${error.stack ?? error}`);
    process.exit(1);
  });
}

module.exports = { need, run, SKIPPED };

// Compiles the job type that `cullet jobs --for flamenco` wrote, with stand-ins for what Flamenco Manager offers to scripts.
//
// check_flamenco.js JOB STORE. The job has simulate, reconstruct of the frames 1 to 5 in chunks of 2, and two exports.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const vm = require("node:vm");

const [, , file, store] = process.argv;

// As in Flamenco's internal/manager/job_compilers/author.go.
const author = {
    Task: (name, type) => {
        assert(name && type);
        return {
            name,
            commands: [],
            dependencies: [],
            addCommand(command) { this.commands.push(command); },
            addDependency(task) { this.dependencies.push(task.name); },
        };
    },
    Command: (name, parameters) => ({ name, ...parameters }),
};
const context = vm.createContext({ author });
vm.runInContext(fs.readFileSync(file, "utf8"), context);
const type = vm.runInContext("JOB_TYPE", context);
const tasks = [];
const settings = Object.fromEntries(type.settings.map((setting) => [setting.key, setting.default]));
context.compileJob({ settings, addTask: (task) => tasks.push(task) });

const split = ["reconstruct-1-2", "reconstruct-3-4", "reconstruct-5-5"];
const after = Object.fromEntries(tasks.map((task) => [task.name, Array.from(task.dependencies)]));
assert.deepStrictEqual(after, {
    simulate: [],
    ...Object.fromEntries(split.map((name) => [name, ["simulate"]])),
    export_usd: split,
    export_usd_elements: split,
});
for (const task of tasks) {
    const [command] = task.commands;
    assert.deepStrictEqual([command.name, command.exe], ["exec", "cullet"]);
    assert.deepStrictEqual(Array.from(command.args).slice(0, 4), ["--progress", "percent", "--threads", "2"]);
    assert.strictEqual(command.args[5], store);
}
assert.deepStrictEqual(Array.from(tasks[1].commands[0].args).slice(-2), ["--frames", "1-2"]);
console.log(`${tasks.length} tasks`);

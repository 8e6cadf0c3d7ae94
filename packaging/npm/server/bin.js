#!/usr/bin/env node
"use strict";
// `npx @stator/server serve ...`: the program itself, with its arguments, signals and exit code.

const { spawn } = require("node:child_process");
const { find } = require("./binary.js");

const child = spawn(find(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`stator: ${error.message}`);
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exitCode = code;
  else process.exitCode = 1;
});

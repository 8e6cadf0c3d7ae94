"use strict";
// start() runs a server for tests: in memory unless `dataDir` is given, on a free port, ready when
// the promise resolves. It stops with its parent, even if that is killed.

const { spawn } = require("node:child_process");
const { find } = require("./binary.js");

const START_MS = 30_000;
const STOP_MS = 5_000;
const KEPT_OUTPUT = 64 * 1024;

function settings(options) {
  const flags = ["serve", "--exit-with-parent", "--port", String(options.port ?? 0)];
  if (options.dataDir === undefined) flags.push("--in-memory");
  else flags.push("--data-dir", options.dataDir);
  if (options.region !== undefined) flags.push("--region", options.region);
  return [...flags, ...(options.args ?? [])];
}

function waitUntilItListens(child) {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => fail("it did not start within 30 s"), START_MS);
    const fail = (why) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`stator: ${why}\n${output}`.trim()));
    };
    const read = (chunk) => {
      output = (output + chunk).slice(-KEPT_OUTPUT);
      const found = /listening on (https?:\/\/\S+?:\d+)/.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found[1]);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => fail(`it ended with code ${code}`));
  });
}

function stopper(child) {
  let stopping;
  return () => {
    stopping ??= new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      child.once("exit", () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill("SIGTERM");
    });
    return stopping;
  };
}

exports.start = async function start(options = {}) {
  const child = spawn(find(options.binary), settings(options), { stdio: ["ignore", "pipe", "pipe"] });
  const endpoint = await waitUntilItListens(child);
  child.removeAllListeners("exit");
  // A test program that has ended its work need not wait for the server.
  child.unref();
  child.stdout.unref();
  child.stderr.unref();
  return {
    endpoint,
    port: Number(new URL(endpoint).port),
    region: options.region ?? "us-east-1",
    credentials: { accessKeyId: "stator", secretAccessKey: "stator" },
    pid: child.pid,
    stop: stopper(child),
  };
};

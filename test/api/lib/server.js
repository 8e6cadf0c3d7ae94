// server.js -- a server of one's own for each test file: started on a free port with a temporary
// directory, stopped by its process id, its directory removed.
//
// $STATOR_BINARY names the binary. $STATOR_URL names a server that runs already; then none is
// started, which is how the tests themselves are checked against another implementation.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 30_000;
const LISTENING = /^stator \S+ listening on (http:\/\/\S+), data in (.*)$/;

function binary() {
  if (process.env.STATOR_BINARY) return process.env.STATOR_BINARY;
  const root = path.join(__dirname, '..', '..', '..');
  const candidates = ['build/asan/stator', 'build/stator'].map((name) => path.join(root, name));
  const found = candidates.find((name) => fs.existsSync(name));
  if (!found) throw new Error(`no server to test: none of ${candidates.join(', ')} exists`);
  return found;
}

function firstLine(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error('the server did not start in time')),
      START_TIMEOUT_MS);
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (!text.includes('\n')) return;
      clearTimeout(timer);
      resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      reject(new Error(`the server ended at once (${signal ?? code})`));
    });
  });
}

// Resolves to { url, port, stop }. `stop` resolves once the process is gone, and rejects if it
// ended with anything but 0: under ASan that is how a leak shows.
async function startServer(...flags) {
  if (process.env.STATOR_URL) {
    const url = new URL(process.env.STATOR_URL);
    return { url: url.origin, port: Number(url.port), stop: async () => {} };
  }
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-test-'));
  const place = flags.includes('--in-memory') ? [] : ['--data-dir', directory];
  const child = spawn(binary(), ['serve', '--port', '0', ...place, ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => { log += chunk; });
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const clean = () => {
    process.removeListener('exit', killOnExit);
    fs.rmSync(directory, { recursive: true, force: true });
  };
  try {
    const match = LISTENING.exec(await firstLine(child));
    if (!match) throw new Error('the first line does not tell where the server listens');
    const url = new URL(match[1]);
    return {
      url: url.origin,
      port: Number(url.port),
      async stop() {
        child.kill('SIGTERM');
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
        const { code, signal } = await ended;
        clearTimeout(timer);
        clean();
        if (code !== 0) throw new Error(`the server ended with ${signal ?? code}:\n${log}`);
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    clean();
    throw new Error(`${error.message}\n${log}`);
  }
}

module.exports = { binary, startServer };

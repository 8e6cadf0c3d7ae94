// server.js -- a server of one's own for each test file: started on a free port with a temporary
// directory, stopped by its process id, its directory removed.
//
// $STATOR_BINARY names the binary. $STATOR_URL names a server that runs already; then none is
// started, which is how the tests themselves are checked against another implementation.
'use strict';
const { spawn } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 90_000;
const START_ATTEMPTS = 5;
// Linux gives ports from 32768 on.
const PORT_MIN = 10_000;
const PORT_COUNT = 20_000;
const LISTENING = /^stator \S+ listening on (https?:\/\/\S+), data in (.*)$/;

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

// Starts a process; resolves to { url, port, end } once it listens. `end` sends a signal and
// resolves once the process is gone; it rejects if the orderly end by SIGTERM has any code but 0:
// under ASan that is how a leak shows.
async function launch(flags) {
  const child = spawn(binary(), ['serve', '--port', '0', ...flags],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => { log += chunk; });
  const ended = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  ended.then(() => process.removeListener('exit', killOnExit));
  try {
    const match = LISTENING.exec(await firstLine(child));
    if (!match) throw new Error('the first line does not tell where the server listens');
    const url = new URL(match[1]);
    return {
      url: url.origin,
      port: Number(url.port),
      pid: child.pid,
      async end(by) {
        child.kill(by);
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
        const { code, signal } = await ended;
        clearTimeout(timer);
        if (by === 'SIGTERM' && code !== 0) {
          throw new Error(`the server ended with ${signal ?? code}:\n${log}`);
        }
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`${error.message}\n${log}`);
  }
}

// Resolves to { url, port, pid, restart, stop }. `restart` ends the process by a signal and starts
// another one on the same data and port.
async function startServer(...flags) {
  if (process.env.STATOR_URL) {
    const url = new URL(process.env.STATOR_URL);
    return {
      url: url.origin, port: Number(url.port), restart: async () => {}, stop: async () => {},
    };
  }
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stator-test-'));
  const clean = () => fs.rmSync(directory, { recursive: true, force: true });
  const place = flags.includes('--in-memory') ? [] : ['--data-dir', directory];
  let running;
  try {
    running = await launch([...place, ...flags]);
  } catch (error) {
    clean();
    throw error;
  }
  const { url, port } = running;
  return {
    url,
    port,
    get pid() { return running.pid; },
    async restart(signal) {
      await running.end(signal);
      running = await launch([...place, ...flags, '--port', String(port)]);
    },
    async stop() {
      try {
        await running.end('SIGTERM');
      } finally {
        clean();
      }
    },
  };
}

// A server to be restarted: its port is not among those that the system gives to whoever asks for
// any, so nobody takes it meanwhile.
async function startServerToRestart(...flags) {
  for (let attempt = 1; ; attempt += 1) {
    const port = PORT_MIN + crypto.randomInt(PORT_COUNT);
    try {
      return await startServer(...flags, '--port', String(port));
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

module.exports = { binary, startServer, startServerToRestart };

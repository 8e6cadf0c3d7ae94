// serving.test.js -- the console's files over HTTP: what browsers get, and that others see no change.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { after, before, test } = require('node:test');
const zlib = require('node:zlib');
const { startServer } = require('../api/lib/server.js');
const { consoleFolder } = require('./lib/browser.js');

let server;
before(async () => { server = await startServer('--in-memory'); });
after(() => server.stop());

const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none',
};

function ask(target, headers = {}, { method = 'GET', from = server } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${from.url}${target}`, { method, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({
        status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks),
      }));
    });
    request.on('error', reject);
    request.end();
  });
}

const FILES = ['', 'app.css', 'app.js', 'icon.svg', 'theme.js'];
// Folders that are files of their own, loaded when their page is opened, with their budgets in KB.
const LATER = { model: [80, 25], capacity: [16, 6], operations: [48, 15] };
const SAMPLES = fs.readdirSync(path.join(consoleFolder, '..', 'examples', 'models')).map((name) => `models/${name}`);

// The size of a file, plain and as gzip.
async function sizesOf(name) {
  const plain = await ask(`/console/${name}`);
  assert.equal(plain.status, 200, name);
  assert.equal(plain.headers['content-encoding'], undefined);
  const zipped = await ask(`/console/${name}`, { 'accept-encoding': 'gzip, deflate, br' });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.equal(zipped.headers.vary, 'Accept-Encoding');
  assert.deepEqual(zlib.gunzipSync(zipped.body), plain.body, name);
  assert.equal(zipped.headers.etag, plain.headers.etag);
  return [plain.body.length, zipped.body.length];
}

test('every file is served plain and as gzip, and all together fit their budget', async () => {
  const sizes = await Promise.all(FILES.map(sizesOf));
  const [size, zippedSize] = [0, 1].map((way) => sizes.reduce((sum, one) => sum + one[way], 0));
  assert.ok(size <= 250 * 1024, `${size} bytes`);
  assert.ok(zippedSize <= 75 * 1024, `${zippedSize} bytes as gzip`);
  let all = zippedSize;
  for (const [name, [most, mostZipped]] of Object.entries(LATER)) {
    const [plain, zipped] = await sizesOf(`${name}.js`);
    assert.ok(plain <= most * 1024 && zipped <= mostZipped * 1024, `${name}: ${plain}, ${zipped}`);
    all += zipped;
  }
  assert.equal(SAMPLES.length, 5);
  for (const name of SAMPLES) {
    all += (await sizesOf(name))[1];
    assert.deepEqual((await ask(`/console/${name}`)).body, fs.readFileSync(path.join(consoleFolder, '..', 'examples', name)));
  }
  assert.ok(all < 300 * 1024, `the binary holds ${all} bytes`);
});

test('the scripts hold every module, and nothing of a module but comments and spaces is left out', async () => {
  const bare = (text) => text.replace(/\s/g, '');
  const scripts = {};
  for (const name of ['app', ...Object.keys(LATER)]) scripts[name] = (await ask(`/console/${name}.js`)).body.toString();
  const modules = fs.readdirSync(consoleFolder, { recursive: true }).filter((name) => name.endsWith('.js') && name !== 'theme.js');
  assert.ok(modules.length > 20);
  for (const name of modules) {
    const script = scripts[name.split('/')[0]] ?? scripts.app;
    const bareScript = bare(script);
    assert.equal(Object.values(scripts).filter((one) => one.includes(`$modules['${name}']=()=>{`)).length, 1, name);
    assert.ok(script.includes(`$modules['${name}']=()=>{`), name);
    const lines = fs.readFileSync(path.join(consoleFolder, name), 'utf8').split('\n').map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('//') && !/\bimport\b|^export/.test(line));
    for (const line of lines.map((one) => one.replace(/([;{},]) \/\/ .*$/, '$1'))) {
      assert.ok(bareScript.includes(bare(line)), `${name}: ${line}`);
      // Texts keep their spaces; only lines in which they are easy to find are looked at.
      for (const [text] of /["`\\/]/.test(line) ? [] : line.matchAll(/'[^']*'/g)) assert.ok(script.includes(text), `${name}: ${text}`);
    }
  }
});

test('a file that the browser has is not sent again', async () => {
  const { headers: { etag } } = await ask('/console/app.js');
  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, body, headers } = await ask('/console/app.js', { 'if-none-match': tags });
    assert.equal(status, 304, tags);
    assert.equal(body.length, 0);
    assert.equal(headers.etag, etag);
  }
  assert.equal((await ask('/console/app.js', { 'if-none-match': '"other"' })).status, 200);
});

test('HEAD has the headers of GET and no body', async () => {
  const get = await ask('/console/app.css');
  const head = await ask('/console/app.css', {}, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.body.length, 0);
  assert.equal(head.headers['content-length'], get.headers['content-length']);
  assert.equal(head.headers.etag, get.headers.etag);
});

test('every answer has a policy that runs our own files only', async () => {
  for (const target of ['/console/', '/console/app.js', '/console/model.js', '/console/models/orders.json', '/console/server.json', '/console/none', '/console']) {
    const { headers } = await ask(target);
    const policy = headers['content-security-policy'];
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/, target);
    assert.match(policy, /require-trusted-types-for 'script'; trusted-types 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.ok(!/unsafe|\*|http/.test(policy));
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
  }
});

test('there are no other files', async () => {
  for (const target of ['/console/none', '/console/../Makefile', '/console/README.md', '/console/core/dom.js', '/console/core/', '/console/model/page.js', '/console/models/', '/console/index.html']) {
    assert.equal((await ask(target)).status, 404, target);
  }
  assert.equal((await ask('/console')).headers.location, '/console/');
});

test('a browser that opens / is sent to the console, and nobody else', async () => {
  const visit = await ask('/', NAVIGATION);
  assert.equal(visit.status, 303);
  assert.equal(visit.headers.location, '/console/');
  const others = [{}, { accept: 'text/html' }, { accept: '*/*', 'sec-fetch-mode': 'cors' },
    { ...NAVIGATION, accept: '*/*' }, { ...NAVIGATION, 'sec-fetch-mode': 'cors' }];
  for (const headers of others) {
    const { status, body } = await ask('/', headers);
    assert.equal(status, 200);
    assert.match(body.toString(), /^healthy: /);
  }
});

// --- What it costs ---

// Processor time of the server so far, in ms.
const spent = ({ pid }) => fs.readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]), 0) / 1e6;

test('the start page takes less than 1 ms of the server\'s time', async () => {
  const COUNT = 50;
  let best = Infinity;
  for (let round = 0; round < 4; round += 1) {
    const before = spent(server);
    for (let i = 0; i < COUNT; i += 1) await ask('/console/', { 'accept-encoding': 'gzip' });
    best = Math.min(best, (spent(server) - before) / COUNT);
  }
  console.log(`/console/: ${best.toFixed(3)} ms`);
  assert.ok(best < 1, `${best} ms`);
});

// Memory that is not of a file, in KB.
const heldBy = ({ pid }) => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/RssAnon:\s+(\d+)/)[1]);

test('an idle server with the console holds less than 1 MB more', async () => {
  let best = Infinity;
  for (let round = 0; round < 3 && best >= 1024; round += 1) {
    const servers = [await startServer('--in-memory', '--console', 'off'), await startServer('--in-memory', '--console', 'on')];
    best = Math.min(best, heldBy(servers[1]) - heldBy(servers[0]));
    for (const one of servers) await one.stop();
  }
  console.log(`idle: ${best} KB more`);
  assert.ok(best < 1024, `${best} KB`);
});

test('pages learn how to sign', async () => {
  const { body } = await ask('/console/server.json');
  const { version, ...rest } = JSON.parse(body);
  assert.deepEqual(rest, { auth: false, region: 'us-east-1' });
  assert.match(version, /^\d+\.\d+/);
});

test('without the setting, and on an address that others reach, there is no console', async () => {
  for (const flags of [['--console', 'off'], ['--bind', '0.0.0.0', '--insecure']]) {
    const other = await startServer('--in-memory', ...flags);
    other.url = `http://127.0.0.1:${other.port}`;
    try {
      assert.equal((await ask('/console/', {}, { from: other })).status, 404);
      assert.equal((await ask('/', NAVIGATION, { from: other })).status, 200);
    } finally {
      await other.stop();
    }
  }
  const forced = await startServer('--in-memory', '--bind', '0.0.0.0', '--insecure', '--console', 'on');
  forced.url = `http://127.0.0.1:${forced.port}`;
  try {
    assert.equal((await ask('/console/', {}, { from: forced })).status, 200);
  } finally {
    await forced.stop();
  }
});

test('the console knows which operations are our own', async () => {
  const { isOwn } = await import('../../console/core/api.js');
  const list = fs.readFileSync(path.join(consoleFolder, '../src/api/operation_list.h'), 'utf8');
  const names = [...list.matchAll(/X\(\w+, "([^":]+)"\)/g)].map((match) => match[1]);
  // Sorted by service and then by name: ours follow those of streams, the last of which is ListStreams.
  const own = names.slice(names.indexOf('ListStreams') + 1);
  assert.ok(own.length > 20);
  assert.deepEqual(names.filter(isOwn), own);
});

// Connections: keep-alive, pipelining and 100-continue; requests that are framed in doubtful ways;
// clients that are slow, silent or many.
'use strict';
const assert = require('node:assert/strict');
const http = require('node:http');
const { after, before, describe, test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const {
  call, connect, disconnectAll, operationHeaders, request, requestText,
} = require('./lib/http.js');
const { startServer } = require('./lib/server.js');

const IDLE_CONNECTIONS = 2000;

let server;
before(async () => { server = await startServer('--in-memory'); });
after(async () => {
  disconnectAll();
  await server.stop();
});

const statusLines = (text) => text.match(/HTTP\/1\.[01] \d{3}/g) ?? [];
const list = requestText('ListTables', '{}');
const isAnswered = (text) => /"TableNames":\[.*\]/.test(text);
const served = async () => assert.equal((await call(server, 'ListTables', {})).status, 200);

describe('one connection', () => {
  test('serves many requests', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    const create = agent.createConnection;
    agent.createConnection = (...parameters) => {
      sockets += 1;
      return create.apply(agent, parameters);
    };
    for (let round = 0; round < 50; round++) {
      const { status } = await request(server,
        { headers: operationHeaders('ListTables'), body: '{}', agent });
      assert.equal(status, 200);
    }
    agent.destroy();
    assert.equal(sockets, 1);
  });

  test('ends after the answer if the client says so', async () => {
    const connection = connect(server);
    connection.write(requestText('ListTables', '{}', ['Connection: close']));
    const text = await connection.closed();
    assert.match(text, /^HTTP\/1\.1 200/);
    assert.match(text, /\r\nconnection: close\r\n/i);
  });

  test('answers pipelined requests in their order', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `pipelined-${index}`);
    const connection = connect(server);
    connection.write(names.map((TableName) => (
      requestText('DescribeTable', JSON.stringify({ TableName })))).join(''));
    const text = await connection.until((read) => (
      (read.match(/not found"}/g) ?? []).length === names.length));
    const order = [...text.matchAll(/Table: (\S+) not found"}/g)].map((match) => match[1]);
    assert.deepEqual(order, names);
    connection.destroy();
  });

  test('takes a request byte by byte', async () => {
    const connection = connect(server);
    for (const byte of list) {
      connection.write(byte);
      await new Promise(setImmediate);
    }
    assert.match(await connection.until(isAnswered), /^HTTP\/1\.1 200/);
    connection.destroy();
  });

  test('takes a body in chunks, with extensions and trailers', async () => {
    const connection = connect(server);
    connection.write(requestText('ListTables', undefined, ['Transfer-Encoding: chunked']));
    connection.write('1;name=value\r\n{\r\n');
    connection.write('1\r\n}\r\n0\r\nTrailer: ignored\r\n\r\n');
    assert.match(await connection.until(isAnswered), /^HTTP\/1\.1 200/);
    connection.write(list);
    await connection.until((text) => statusLines(text).length === 2);
    connection.destroy();
  });

  test('is told to go on if it asks before sending the body', async () => {
    const connection = connect(server);
    connection.write(requestText('ListTables', undefined,
      ['Content-Length: 2', 'Expect: 100-continue']));
    await connection.until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n');
    connection.write('{}');
    const text = await connection.until(isAnswered);
    assert.deepEqual(statusLines(text), ['HTTP/1.1 100', 'HTTP/1.1 200']);
    connection.destroy();
  });

  test('takes HTTP/1.0 and ends after the answer', async () => {
    const connection = connect(server);
    connection.write(list.replace('HTTP/1.1', 'HTTP/1.0'));
    assert.match(await connection.closed(), /^HTTP\/1\.[01] 200/);
  });
});

describe('doubtful framing is refused and the connection ends', () => {
  // Were the first request taken in another way than meant, the second would be answered too.
  const smuggled = requestText('ListTables', '{}');
  const withLines = (...lines) => requestText('ListTables', undefined, lines);
  const cases = [
    ['both lengths', `${withLines('Content-Length: 2', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['two different lengths', `${withLines('Content-Length: 2', 'Content-Length: 3')}{} `],
    ['a list of lengths', `${withLines('Content-Length: 2, 3')}{} `],
    ['a length with a sign', `${withLines('Content-Length: +2')}{}`],
    ['a negative length', `${withLines('Content-Length: -2')}{}`],
    ['a length in hexadecimal', `${withLines('Content-Length: 0x2')}{}`],
    ['a length beyond 64 bits', `${withLines('Content-Length: 36893488147419103234')}{}`],
    ['an empty length', `${withLines('Content-Length:')}{}`],
    ['an unknown transfer encoding', `${withLines('Transfer-Encoding: xchunked')}0\r\n\r\n`],
    ['chunked not last', `${withLines('Transfer-Encoding: chunked, identity')}0\r\n\r\n`],
    ['two transfer encodings',
      `${withLines('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`],
    ['a folded header', `${withLines('X-Folded: a', ' b', 'Content-Length: 2')}{}`],
    ['a bare LF', list.replace('Host: localhost\r\n', 'Host: localhost\n')],
    ['a bare CR', list.replace('Host: localhost\r\n', 'Host: localhost\rX: y\r\n')],
    ['NUL in a value', list.replace('Host: localhost', 'Host: local\0host')],
    ['NUL in a name', list.replace('Host: localhost', 'Host: localhost\r\nX\0Y: z')],
    ['two hosts', list.replace('Host: localhost', 'Host: localhost\r\nHost: localhost')],
    ['no host', list.replace('Host: localhost\r\n', '')],
    ['a space before the colon', `${withLines('Content-Length : 2')}{}`],
    ['a header without a colon', list.replace('Host: localhost', 'Host: localhost\r\nnonsense')],
    ['an empty header name', list.replace('Host: localhost', 'Host: localhost\r\n: x')],
    ['a space before the first header', list.replace('Host:', ' Host:')],
    ['two spaces in the request line', list.replace('POST /', 'POST  /')],
    ['a version that does not exist', list.replace('HTTP/1.1', 'HTTP/1.2x')],
    ['an unreadable chunk size', `${withLines('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`],
    ['a chunk longer than its size',
      `${withLines('Transfer-Encoding: chunked')}1\r\n{}\r\n0\r\n\r\n`],
    ['a chunk size beyond 64 bits',
      `${withLines('Transfer-Encoding: chunked')}${'f'.repeat(17)}\r\n{}\r\n0\r\n\r\n`],
    ['a chunk size with a bare LF', `${withLines('Transfer-Encoding: chunked')}2\n{}\r\n0\r\n\r\n`],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ];
  for (const [name, text] of cases) {
    test(name, async () => {
      const connection = connect(server);
      connection.write(Buffer.from(text + smuggled, 'latin1'));
      const answers = statusLines(await connection.until((read, ended) => (
        ended || statusLines(read).length > 1)));
      assert.equal(answers.length, 1, `answers: ${answers}`);
      assert.match(answers[0], /^HTTP\/1\.1 (400|413|501|505)$/);
      connection.destroy();
    });
  }

  test('and the server goes on', served);
});

describe('a client that', () => {
  test('holds a half-sent request open keeps nobody waiting', async () => {
    const half = Math.floor(list.length / 2);
    const slow = Array.from({ length: 50 }, () => connect(server));
    for (const connection of slow) connection.write(list.slice(0, half));
    for (let round = 0; round < 20; round++) await served();
    for (const connection of slow) connection.write(list.slice(half));
    for (const connection of slow) {
      assert.match(await connection.until(isAnswered), /^HTTP\/1\.1 200/);
      connection.destroy();
    }
  });

  test('leaves in the middle of a body does no harm', async () => {
    for (let round = 0; round < 20; round++) {
      const connection = connect(server);
      connection.write(requestText('ListTables', undefined, ['Content-Length: 1000']));
      connection.write('{"a":');
      await new Promise((resolve) => { connection.socket.once('connect', resolve); });
      await sleep(2);
      connection.destroy();
    }
    await served();
  });

  test('leaves before its answers does no harm', async () => {
    for (let round = 0; round < 20; round++) {
      const connection = connect(server);
      connection.write(list.repeat(20));
      await new Promise((resolve) => { connection.socket.once('connect', resolve); });
      await sleep(round % 5);
      connection.socket.resetAndDestroy();
    }
    await served();
  });

  test(`opens ${IDLE_CONNECTIONS} connections and says nothing keeps nobody waiting`, async () => {
    const idle = [];
    try {
      while (idle.length < IDLE_CONNECTIONS) {
        const batch = Array.from({ length: 100 }, () => connect(server));
        await Promise.all(batch.map(({ socket }) => new Promise((resolve, reject) => {
          socket.once('connect', resolve);
          socket.once('error', reject);
        })));
        idle.push(...batch);
      }
      for (let round = 0; round < 20; round++) await served();
      idle[0].write(list);
      idle[IDLE_CONNECTIONS - 1].write(list);
      await idle[0].until(isAnswered);
      await idle[IDLE_CONNECTIONS - 1].until(isAnswered);
    } finally {
      for (const connection of idle) connection.destroy();
    }
    await served();
  });
});

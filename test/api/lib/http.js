// http.js -- requests below the SDK: one call over node:http, and bytes as they are over node:net.
'use strict';
const http = require('node:http');
const net = require('node:net');

const AUTHORIZATION = 'AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-east-1/dynamodb/'
  + `aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${'0'.repeat(64)}`;
const ANSWER_TIMEOUT_MS = 10_000;

// The headers an SDK sends with an operation.
function operationHeaders(operation) {
  return {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': `DynamoDB_20120810.${operation}`,
    'X-Amz-Date': '20260101T000000Z',
    Authorization: AUTHORIZATION,
  };
}

// One request. Resolves to { status, headers, body, json }; `json` is undefined if the body is none.
function request(server, { method = 'POST', path = '/', headers = {}, body, agent }) {
  return new Promise((resolve, reject) => {
    const message = http.request({
      host: '127.0.0.1', port: server.port, method, path, agent, headers,
      timeout: ANSWER_TIMEOUT_MS,
    }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const bytes = Buffer.concat(chunks);
        let json;
        try {
          json = JSON.parse(bytes.toString('utf8'));
        } catch {
          json = undefined;
        }
        resolve({ status: answer.statusCode, headers: answer.headers, body: bytes, json });
      });
    });
    message.on('timeout', () => message.destroy(new Error('no answer in time')));
    message.on('error', reject);
    message.end(body);
  });
}

// An operation with a body given as text or as a value; `headers` replace or add to the usual ones,
// undefined takes one away.
function call(server, operation, body, headers = {}) {
  const merged = { ...operationHeaders(operation), ...headers };
  for (const name of Object.keys(merged)) if (merged[name] === undefined) delete merged[name];
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return request(server, { headers: merged, body: text });
}

const open = new Set();

// A connection that collects what arrives. `until(test)` waits for the text to satisfy `test`;
// `closed` resolves to the whole text once the other side has ended.
function connect(server) {
  const socket = net.connect(server.port, '127.0.0.1');
  const connection = { socket, text: '', ended: false };
  const waiting = new Set();
  const check = () => { for (const look of waiting) look(); };
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    connection.text += chunk.toString('latin1');
    check();
  });
  const end = () => {
    connection.ended = true;
    check();
  };
  open.add(socket);
  socket.on('end', end);
  socket.on('close', () => {
    open.delete(socket);
    end();
  });
  socket.on('error', end); // A reset after the answer is how a refusal may end.
  connection.until = (test) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(look);
      reject(new Error(`still waiting, having read: ${JSON.stringify(connection.text)}`));
    }, ANSWER_TIMEOUT_MS);
    const look = () => {
      if (!test(connection.text, connection.ended)) return;
      clearTimeout(timer);
      waiting.delete(look);
      resolve(connection.text);
    };
    waiting.add(look);
    look();
  });
  connection.closed = () => connection.until((text, ended) => ended);
  connection.write = (data) => socket.write(data);
  connection.destroy = () => socket.destroy();
  return connection;
}

// Whatever tests that failed have left open: it would keep the process from ending.
function disconnectAll() {
  for (const socket of open) socket.destroy();
}

// The bytes of a request; `lines` are further header lines. Without a body no length is sent.
function requestText(operation, body, lines = []) {
  const headers = Object.entries(operationHeaders(operation)).map(([name, value]) => (
    `${name}: ${value}`));
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return ['POST / HTTP/1.1', 'Host: localhost', ...headers, ...length, ...lines, '', body ?? '']
    .join('\r\n');
}

module.exports = { call, connect, disconnectAll, operationHeaders, request, requestText };

// https: the SDKs against a server with a certificate of its own and with keys.
'use strict';
const assert = require('node:assert/strict');
const { execFile, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const https = require('node:https');
const path = require('node:path');
const { promisify } = require('node:util');
const { after, before, describe, test } = require('node:test');
const {
  BatchGetItemCommand, DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand,
} = require('@aws-sdk/client-dynamodb');
const Sdk2 = require('aws-sdk');
const { createTable, tableShape } = require('./lib/client.js');
const { EVERYTHING, Keys } = require('./lib/keys.js');
const { binary, startServer } = require('./lib/server.js');

const LARGE = 'x'.repeat(300 * 1024);
const LARGE_COUNT = 8; // In one answer of 2.4 MB.
const CONNECTIONS = 10;
const PARALLEL = 60;

const run = promisify(execFile);
let keys;
let cert;
let server;
let credentials;
let agent;
let client;

const settings = () => ({ endpoint: server.url, region: 'us-east-1', credentials, maxAttempts: 1 });
const key = (name) => ({ pk: { S: name } });

before(async () => {
  keys = new Keys();
  credentials = keys.create('admin', EVERYTHING);
  const folder = path.join(keys.folder, 'tls');
  execFileSync(binary(), ['cert', 'self-signed', '--out-dir', folder]);
  cert = path.join(folder, 'cert.pem');
  server = await startServer('--auth', ...keys.flags, '--tls-cert-file', cert,
    '--tls-key-file', path.join(folder, 'key.pem'));
  agent = new https.Agent({ ca: fs.readFileSync(cert), keepAlive: true, maxSockets: CONNECTIONS });
  client = new DynamoDBClient({ ...settings(), requestHandler: { httpsAgent: agent } });
  await createTable(client, tableShape('secrets', 'pk:S'));
});
after(async () => {
  client.destroy();
  agent.destroy();
  await server.stop();
  keys.remove();
});

describe('https', () => {
  test('is what the server speaks', () => {
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  });

  test('large items go and come back, many in one answer', async () => {
    const names = Array.from({ length: LARGE_COUNT }, (_, index) => `large#${index}`);
    await Promise.all(names.map((name) => client.send(new PutItemCommand({
      TableName: 'secrets', Item: { ...key(name), text: { S: LARGE + name } },
    }))));
    const { Responses: { secrets } } = await client.send(new BatchGetItemCommand({
      RequestItems: { secrets: { Keys: names.map(key) } },
    }));
    const found = new Map(secrets.map((item) => [item.pk.S, item.text.S]));
    for (const name of names) assert.equal(found.get(name), LARGE + name);
  });

  test('connections are kept and shared by many requests', async () => {
    let opened = 0;
    const { createConnection } = agent;
    agent.createConnection = (...words) => {
      opened += 1;
      return createConnection.apply(agent, words);
    };
    await Promise.all(Array.from({ length: PARALLEL }, async (_, index) => {
      const Item = { ...key(`small#${index}`), number: { N: String(index) } };
      await client.send(new PutItemCommand({ TableName: 'secrets', Item }));
      const read = await client.send(new GetItemCommand({
        TableName: 'secrets', Key: key(`small#${index}`), ConsistentRead: true,
      }));
      assert.deepEqual(read.Item, Item);
    }));
    agent.createConnection = createConnection;
    assert.ok(opened <= CONNECTIONS, `${opened} connections`);
  });

  test('a certificate that nobody trusts is refused by the SDK', async () => {
    const stranger = new DynamoDBClient(settings());
    await assert.rejects(stranger.send(new ListTablesCommand({})), /self-signed certificate/);
    stranger.destroy();
  });

  test('NODE_EXTRA_CA_CERTS is enough for a program that knows nothing of it', async () => {
    const program = `
      const { DynamoDBClient, ListTablesCommand } = require('@aws-sdk/client-dynamodb');
      const client = new DynamoDBClient({ endpoint: process.argv[1], region: 'us-east-1' });
      client.send(new ListTablesCommand({})).then((out) => console.log(out.TableNames.join()));`;
    const { stdout } = await run(process.execPath, ['-e', program, server.url], {
      cwd: __dirname,
      env: {
        ...process.env,
        NODE_EXTRA_CA_CERTS: cert,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    });
    assert.equal(stdout, 'secrets\n');
  });

  test('version 2 of the SDK works as well', async () => {
    const old = new Sdk2.DynamoDB({ ...settings(), httpOptions: { agent } });
    assert.deepEqual((await old.listTables().promise()).TableNames, ['secrets']);
  });
});

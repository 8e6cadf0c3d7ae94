// Authentication: what the SDK sees with a right key, a wrong one, a wrong region, clock or policy.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  DynamoDBClient, GetItemCommand, ListTablesCommand, PutItemCommand, ScanCommand,
  TransactWriteItemsCommand,
} = require('@aws-sdk/client-dynamodb');
const { createTable, refusal, tableShape } = require('./lib/client.js');
const { EVERYTHING, Keys } = require('./lib/keys.js');
const { startServer } = require('./lib/server.js');

const QUARTER_HOUR_MS = 15 * 60 * 1000;
const INVALID = {
  name: 'UnrecognizedClientException',
  message: 'The security token included in the request is invalid.',
};
const MISMATCH = {
  name: 'InvalidSignatureException',
  message: 'The request signature we calculated does not match the signature you provided. Check '
    + 'your AWS Secret Access Key and signing method. Consult the service documentation for '
    + 'details.',
};

let keys;
let server;
let admin;
let reader;
let disabled;
let session;
const clients = [];

function client(credentials, settings) {
  const made = new DynamoDBClient({
    endpoint: server.url, region: 'us-east-1', credentials, maxAttempts: 1, ...settings,
  });
  clients.push(made);
  return made;
}

const list = (credentials, settings) => (
  client(credentials, settings).send(new ListTablesCommand({})));

before(async () => {
  keys = new Keys();
  admin = keys.create('admin', EVERYTHING);
  reader = keys.create('reader', {
    Effect: 'Allow',
    Action: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    Resource: 'arn:aws:dynamodb:*:*:table/games',
    Condition: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': '${aws:username}#*' },
    },
  });
  disabled = keys.create('disabled', EVERYTHING);
  keys.command(['key', 'disable', disabled.accessKeyId]);
  session = keys.session(admin, 3600);
  server = await startServer('--auth', ...keys.flags);
  await createTable(client(admin), tableShape('games', 'pk:S'));
});
after(async () => {
  clients.forEach((made) => made.destroy());
  await server.stop();
  keys.remove();
});

describe('credentials', () => {
  test('a right key is let in', async () => {
    assert.deepEqual((await list(admin)).TableNames, ['games']);
  });

  test('an unknown key, a disabled one and a made-up token are told the same', async () => {
    const unknown = { ...admin, accessKeyId: 'AKIAAAAAAAAAAAAAAAAA' };
    assert.deepEqual(await refusal(list(unknown)), INVALID);
    assert.deepEqual(await refusal(list(disabled)), INVALID);
    assert.deepEqual(await refusal(list({ ...admin, sessionToken: 'made-up' })), INVALID);
  });

  test('a wrong secret is a wrong signature', async () => {
    assert.deepEqual(await refusal(list({ ...admin, secretAccessKey: 'wrong' })), MISMATCH);
    assert.deepEqual(await refusal(list({ ...session, secretAccessKey: 'wrong' })), MISMATCH);
  });

  test('a temporary key is let in with its token', async () => {
    assert.deepEqual((await list(session)).TableNames, ['games']);
    for (const sessionToken of [undefined, 'made-up']) {
      assert.deepEqual(await refusal(list({ ...session, sessionToken })), INVALID);
    }
  });

  test('a wrong region is refused', async () => {
    assert.deepEqual(await refusal(list(admin, { region: 'eu-west-1' })), {
      name: 'InvalidSignatureException',
      message: "Credential should be scoped to a valid region, not 'eu-west-1'. ",
    });
  });

  test('a wrong clock is refused, and the SDK corrects it when it may try again', async () => {
    const settings = { systemClockOffset: -QUARTER_HOUR_MS - 60_000 };
    const told = await refusal(list(admin, settings));
    assert.equal(told.name, 'InvalidSignatureException');
    assert.match(told.message, /^Signature expired: \d{8}T\d{6}Z is now earlier than /);
    const corrected = await list(admin, { ...settings, maxAttempts: 2 });
    assert.deepEqual(corrected.TableNames, ['games']);
  });

  for (const hours of [-5, 5]) {
    test(`the SDK on a machine whose clock is ${hours} hours off recovers by itself`, async (t) => {
      const now = Date.now.bind(Date);
      t.mock.method(Date, 'now', () => now() + hours * 3600_000);
      const skewed = client(admin, { maxAttempts: 3 });
      const first = await skewed.send(new ListTablesCommand({}));
      assert.deepEqual(first.TableNames, ['games']);
      assert.equal(first.$metadata.attempts, 2);
      // It remembers: the next request is right at once.
      assert.equal((await skewed.send(new ListTablesCommand({}))).$metadata.attempts, 1);
    });
  }
});

describe('policies', () => {
  const key = (pk) => ({ TableName: 'games', Key: { pk: { S: pk } } });
  const item = (pk) => ({ TableName: 'games', Item: { pk: { S: pk } } });

  test('what is allowed works, for the keys that are allowed', async () => {
    const own = client(reader);
    await own.send(new PutItemCommand(item('reader#1')));
    assert.deepEqual((await own.send(new GetItemCommand(key('reader#1')))).Item,
      { pk: { S: 'reader#1' } });
    assert.deepEqual(await refusal(own.send(new GetItemCommand(key('admin#1')))), {
      name: 'AccessDeniedException',
      message: 'User: arn:aws:iam::000000000000:user/reader is not authorized to perform: '
        + 'dynamodb:GetItem on resource: arn:aws:dynamodb:us-east-1:000000000000:table/games '
        + 'because no identity-based policy allows the dynamodb:GetItem action',
    });
  });

  test('each action of a transaction is asked about', async () => {
    const own = client(reader);
    const puts = (...names) => new TransactWriteItemsCommand({
      TransactItems: names.map((name) => ({ Put: item(name) })),
    });
    await own.send(puts('reader#2', 'reader#3'));
    const told = await refusal(own.send(puts('reader#4', 'admin#2')));
    assert.equal(told.name, 'AccessDeniedException');
    assert.match(told.message, /dynamodb:PutItem on resource/);
    assert.equal((await own.send(new GetItemCommand(key('reader#4')))).Item, undefined);
  });

  test('a table that one may not use is not told from one that does not exist', async () => {
    const own = client(reader);
    for (const TableName of ['games', 'nothing']) {
      const told = await refusal(own.send(new ScanCommand({ TableName })));
      assert.equal(told.name, 'AccessDeniedException');
    }
  });
});

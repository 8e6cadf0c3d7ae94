// Denied means denied, as the SDK sees it: no item is shown by a failed condition, no trigger is set
// on a table that is none of the caller's business, and nobody learns what exists.
'use strict';
const assert = require('node:assert/strict');
const { Readable } = require('node:stream');
const { after, before, describe, test } = require('node:test');
const {
  BatchExecuteStatementCommand, DeleteItemCommand, DynamoDBClient, ExecuteStatementCommand,
  ExecuteTransactionCommand, GetItemCommand, ListTablesCommand, PutItemCommand, QueryCommand,
  ScanCommand, TransactGetItemsCommand, TransactWriteItemsCommand, UpdateItemCommand,
} = require('@aws-sdk/client-dynamodb');
const { createTable, refusal, tableShape } = require('./lib/client.js');
const { EVERYTHING, Keys } = require('./lib/keys.js');
const { startServer } = require('./lib/server.js');

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/';
const ITEM = { pk: { S: 'a' }, nick: { S: 'known' }, pay: { S: 'classified' } };
const ALLOW = { Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' };
const DENY_SECRET = {
  Effect: 'Deny', Action: 'dynamodb:*', Resource: [`${ARN}secret`, `${ARN}secret/*`],
};

let keys;
let server;
let admin;
const clients = [];
const users = {};

function client(credentials) {
  const made = new DynamoDBClient({
    endpoint: server.url, region: 'us-east-1', credentials, maxAttempts: 1,
  });
  clients.push(made);
  return made;
}

// One of our own operations, sent and signed by the SDK in place of another one.
async function stator(credentials, operation, input) {
  const own = client(credentials);
  let answer;
  own.middlewareStack.add((next) => (args) => {
    args.request.headers['x-amz-target'] = `Stator_20261101.${operation}`;
    args.request.body = JSON.stringify(input);
    return next(args);
  }, { step: 'build', priority: 'high' });
  own.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    const body = Buffer.concat(await result.response.body.toArray());
    answer = { status: result.response.statusCode, ...JSON.parse(body.toString()) };
    result.response.body = Readable.from([body]);
    return result;
  }, { step: 'deserialize', priority: 'low' });
  await own.send(new ListTablesCommand({})).catch((error) => {
    if (answer === undefined) throw error;
  });
  return answer;
}

before(async () => {
  keys = new Keys();
  users.admin = keys.create('admin', EVERYTHING);
  users.silent = keys.create('silent', {
    ...ALLOW, Condition: { StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' } },
  });
  users.limited = keys.create('limited', {
    ...ALLOW,
    Condition: { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'nick'] } },
  });
  users.kept = keys.create('kept', ALLOW, {
    Effect: 'Deny',
    Action: 'dynamodb:*',
    Resource: '*',
    Condition: { StringEquals: { 'dynamodb:ReturnValues': 'ALL_OLD' } },
  });
  users.outside = keys.create('outside', ALLOW, DENY_SECRET);
  users.stranger = keys.create('stranger', {
    Effect: 'Allow', Action: 'dynamodb:*', Resource: `${ARN}games`,
  });
  server = await startServer('--auth', ...keys.flags);
  admin = client(users.admin);
  for (const name of ['games', 'secret']) {
    const shape = tableShape(name, 'pk:S', 'nick:S');
    await createTable(admin, {
      ...shape,
      KeySchema: shape.KeySchema.slice(0, 1),
      GlobalSecondaryIndexes: [{
        IndexName: 'by-nick',
        KeySchema: [{ AttributeName: 'nick', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    await admin.send(new PutItemCommand({ TableName: name, Item: ITEM }));
  }
});
after(async () => {
  clients.forEach((made) => made.destroy());
  await server.stop();
  keys.remove();
});

describe('a failed condition', () => {
  const failing = {
    TableName: 'games',
    ConditionExpression: 'attribute_not_exists(pk)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  };
  const Key = { pk: { S: 'a' } };
  const statement = (text) => ({
    Statement: text, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const update = "UPDATE games SET nick='x' WHERE pk='a' AND nick='wrong'";
  const requests = {
    PutItem: () => new PutItemCommand({ ...failing, Item: { pk: { S: 'a' } } }),
    UpdateItem: () => new UpdateItemCommand({ ...failing, Key }),
    DeleteItem: () => new DeleteItemCommand({ ...failing, Key }),
    PartiQLUpdate: () => new ExecuteStatementCommand(statement(update)),
    PartiQLDelete: () => new ExecuteStatementCommand(
      statement("DELETE FROM games WHERE pk='a' AND nick='wrong'")),
  };
  for (const user of ['silent', 'limited', 'kept']) {
    for (const [action, request] of Object.entries(requests)) {
      test(`shows no item to one that may not see it: ${action} by ${user}`, async () => {
        const error = await client(users[user]).send(request()).then(assert.fail, (told) => told);
        assert.equal(error.name, 'AccessDeniedException');
        assert.equal(error.Item, undefined);
        assert.match(error.message, new RegExp(`dynamodb:${action} on resource: ${ARN}games `));
        assert.ok(!JSON.stringify(error).includes('classified'));
      });
    }
  }

  test('shows the item to one that may see it', async () => {
    for (const request of Object.values(requests)) {
      const error = await admin.send(request()).then(assert.fail, (told) => told);
      assert.equal(error.name, 'ConditionalCheckFailedException');
      assert.deepEqual(error.Item, ITEM);
    }
  });

  test('changed nothing', async () => {
    const { Item } = await admin.send(new GetItemCommand({ TableName: 'games', Key }));
    assert.deepEqual(Item, ITEM);
  });
});

describe('triggers', () => {
  const Url = 'http://127.0.0.1:1/f?token=hidden';
  const add = (user, TableName) => stator(users[user], 'AddTrigger', { TableName, Url });
  const listed = async (user, input = {}) => (
    JSON.stringify(await stator(users[user], 'ListTriggers', input)));
  let uuid;
  before(async () => {
    const added = await add('admin', 'secret');
    assert.equal(added.status, 200);
    uuid = added.UUID;
  });

  test('are not set on a table that is denied', async () => {
    for (const user of ['outside', 'stranger']) {
      const told = await add(user, 'secret');
      assert.equal(told.status, 400);
      assert.match(told.__type, /AccessDeniedException$/);
      const missing = await add(user, 'nothing-here');
      if (user === 'stranger') {
        assert.equal(missing.Message.replaceAll('nothing-here', 'secret'), told.Message);
      }
    }
  });

  test('need the right to read the stream', async () => {
    const told = await add('stranger', 'games');
    assert.match(told.__type, /AccessDeniedException$/);
    assert.match(told.Message, /table\/games\/stream\//);
  });

  test('of a table that is denied are not listed, and no token is', async () => {
    for (const user of ['outside', 'stranger']) {
      for (const input of [{}, { TableName: 'secret' }]) {
        assert.ok(!(await listed(user, input)).includes(uuid));
      }
    }
    assert.ok((await listed('admin')).includes(uuid));
    assert.ok(!(await listed('admin')).includes('hidden'));
  });

  test('of a table that is denied are not removed, and are like none', async () => {
    const none = '00000000-0000-4000-8000-000000000000';
    for (const user of ['outside', 'stranger']) {
      const told = await stator(users[user], 'RemoveTrigger', { UUID: uuid });
      const absent = await stator(users[user], 'RemoveTrigger', { UUID: none });
      assert.equal(told.status, 400);
      assert.equal(JSON.stringify(told).replaceAll(uuid, none), JSON.stringify(absent));
    }
    assert.ok((await listed('admin')).includes(uuid));
    assert.equal((await stator(users.admin, 'RemoveTrigger', { UUID: uuid })).status, 200);
  });
});

describe('a caller without rights', () => {
  const Key = { pk: { S: 'a' } };
  const ExpressionAttributeValues = { ':v': { S: 'x' } };
  const requests = {
    'Query': (TableName) => new QueryCommand({
      TableName, KeyConditionExpression: 'pk = :v', ExpressionAttributeValues,
    }),
    'Query of a wrong key': (TableName) => new QueryCommand({
      TableName, KeyConditionExpression: 'wrong = :v', ExpressionAttributeValues,
    }),
    'Query of an index': (TableName) => new QueryCommand({
      TableName,
      IndexName: 'by-nick',
      KeyConditionExpression: 'nick = :v',
      ExpressionAttributeValues,
    }),
    'Scan of an index': (TableName) => new ScanCommand({ TableName, IndexName: 'by-nick' }),
    'GetItem of a wrong key': (TableName) => new GetItemCommand({
      TableName, Key: { wrong: { S: 'x' } },
    }),
    'TransactGetItems': (TableName) => new TransactGetItemsCommand({
      TransactItems: [{ Get: { TableName, Key } }],
    }),
    'TransactWriteItems': (TableName) => new TransactWriteItemsCommand({
      TransactItems: [{ Put: { TableName, Item: Key } }],
    }),
    'a SELECT': (name) => new ExecuteStatementCommand({
      Statement: `SELECT * FROM "${name}" WHERE pk='a'`,
    }),
    'a SELECT from an index': (name) => new ExecuteStatementCommand({
      Statement: `SELECT * FROM "${name}"."by-nick" WHERE nick='a'`,
    }),
    'an UPDATE without a key': (name) => new ExecuteStatementCommand({
      Statement: `UPDATE "${name}" SET pay='x' WHERE nick='a'`,
    }),
    'an INSERT without a key': (name) => new ExecuteStatementCommand({
      Statement: `INSERT INTO "${name}" VALUE {'nick':'a'}`,
    }),
    'ExecuteTransaction': (name) => new ExecuteTransactionCommand({
      TransactStatements: [{ Statement: `DELETE FROM "${name}" WHERE pk='a'` }],
    }),
  };
  for (const [name, request] of Object.entries(requests)) {
    test(`is told the same of a table that is there and of one that is not: ${name}`, async () => {
      const own = client(users.stranger);
      const told = await refusal(own.send(request('secret')));
      const absent = await refusal(own.send(request('nowhere')));
      assert.equal(told.name, 'AccessDeniedException');
      assert.deepEqual(
        { ...absent, message: absent.message.replaceAll('nowhere', 'secret') }, told);
    });
  }

  test('is told the same in a batch of statements', async () => {
    const batch = async (name) => (await client(users.stranger).send(
      new BatchExecuteStatementCommand({
        Statements: [
          { Statement: `SELECT * FROM "${name}" WHERE pk='a'` },
          { Statement: `SELECT * FROM "${name}" WHERE nick='a'` },
        ],
      }))).Responses;
    const told = JSON.stringify(await batch('secret'));
    assert.ok(told.includes('AccessDenied'));
    assert.ok(!told.includes('classified'));
    assert.equal(JSON.stringify(await batch('nowhere')).replaceAll('nowhere', 'secret'), told);
  });
});

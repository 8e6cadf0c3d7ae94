// TransactWriteItems through the SDK: effects, reasons, the exact body, tokens, the document client.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  DescribeTableCommand, GetItemCommand, PutItemCommand, QueryCommand, TransactWriteItemsCommand,
} = require('@aws-sdk/client-dynamodb');
const { DynamoDBDocumentClient, TransactWriteCommand } = require('@aws-sdk/lib-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { call } = require('./lib/http.js');
const { startServer } = require('./lib/server.js');

const PLAIN = 'transact-plain'; // pk:S
const INDEXED = 'transact-indexed'; // h:S, r:N; local index on l:S, global index on g:S
const ACTIONS_MAX = 100;
const NESTING_MAX = 32;

const indexedShape = () => {
  const shape = tableShape(INDEXED, 'h:S', 'r:N');
  shape.AttributeDefinitions.push(
    { AttributeName: 'l', AttributeType: 'S' }, { AttributeName: 'g', AttributeType: 'S' });
  const Projection = { ProjectionType: 'ALL' };
  shape.LocalSecondaryIndexes = [{
    IndexName: 'by-l',
    KeySchema: [
      { AttributeName: 'h', KeyType: 'HASH' }, { AttributeName: 'l', KeyType: 'RANGE' }],
    Projection,
  }];
  shape.GlobalSecondaryIndexes = [{
    IndexName: 'by-g', KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }], Projection,
  }];
  return shape;
};

let server;
let client;
before(async () => {
  server = await startServer();
  client = createClient(server);
  await dropTables(client, PLAIN, INDEXED);
  await createTable(client, tableShape(PLAIN, 'pk:S'));
  await createTable(client, indexedShape());
});
after(async () => {
  await dropTables(client, PLAIN, INDEXED);
  client.destroy();
  await server.stop();
});

const transact = (TransactItems, options = {}) => client.send(
  new TransactWriteItemsCommand({ TransactItems, ...options }));
const key = (text) => ({ pk: { S: text } });
const item = (text, number) => ({ pk: { S: text }, n: { N: String(number) } });
const put = (Item, options) => ({ Put: { TableName: PLAIN, Item, ...options } });
const remove = (text, options) => ({ Delete: { TableName: PLAIN, Key: key(text), ...options } });
const check = (text, ConditionExpression, options) => ({
  ConditionCheck: { TableName: PLAIN, Key: key(text), ConditionExpression, ...options },
});
const update = (text, UpdateExpression, values, options) => ({
  Update: {
    TableName: PLAIN, Key: key(text), UpdateExpression, ExpressionAttributeValues: values,
    ...options,
  },
});
const increment = (text) => update(text, 'ADD n :one', { ':one': { N: '1' } });
const putItem = (Item) => client.send(new PutItemCommand({ TableName: PLAIN, Item }));
const read = async (text) => (await client.send(
  new GetItemCommand({ TableName: PLAIN, Key: key(text), ConsistentRead: true }))).Item;
const range = (count, make = (index) => index) => (
  Array.from({ length: count }, (_, index) => make(index)));

const TOO_DEEP = range(NESTING_MAX + 1).reduce((inner) => ({ L: [inner] }), { S: 'x' });

// What a transaction was cancelled with.
async function cancellation(promise) {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.name, 'TransactionCanceledException');
    return { message: error.message, reasons: error.CancellationReasons };
  }
  throw new Error('done, though it should have been cancelled');
}
const cancelled = (...codes) => (
  'Transaction cancelled, please refer cancellation reasons for specific reasons '
  + `[${codes.join(', ')}]`);
const FAILED = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };
const NONE = { Code: 'None' };
const fault = (Message) => ({ Code: 'ValidationError', Message });

describe('a transaction', () => {
  test('puts, updates, deletes and checks in one step', async () => {
    await putItem(item('all-update', 1));
    await putItem(item('all-delete', 1));
    const answer = await transact([
      put(item('all-put', 1)), increment('all-update'), remove('all-delete'),
      check('all-check', 'attribute_not_exists(pk)'),
    ]);
    assert.equal(answer.ConsumedCapacity, undefined);
    assert.deepEqual(await read('all-put'), item('all-put', 1));
    assert.deepEqual(await read('all-update'), item('all-update', 2));
    assert.equal(await read('all-delete'), undefined);
    assert.equal(await read('all-check'), undefined);
  });

  test('does nothing if one condition fails', async () => {
    await putItem(item('none-update', 1));
    const { message, reasons } = await cancellation(transact([
      put(item('none-put', 1)), increment('none-update'),
      check('none-check', 'attribute_exists(pk)'),
    ]));
    assert.equal(message, cancelled('None', 'None', 'ConditionalCheckFailed'));
    assert.deepEqual(reasons, [NONE, NONE, FAILED]);
    assert.equal(await read('none-put'), undefined);
    assert.deepEqual(await read('none-update'), item('none-update', 1));
  });

  test('shows the item that failed if it is asked to', async () => {
    await putItem(item('shown', 7));
    const condition = { ConditionExpression: 'attribute_not_exists(pk)' };
    const shown = { ...condition, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    const hidden = { ...condition, ReturnValuesOnConditionCheckFailure: 'NONE' };
    for (const [options, want] of [[shown, { ...FAILED, Item: item('shown', 7) }],
      [hidden, FAILED], [condition, FAILED]]) {
      const { reasons } = await cancellation(transact([put(key('shown'), options)]));
      assert.deepEqual(reasons, [want]);
    }
  });

  test('answers with the body the service has', async () => {
    await putItem(item('body', 1));
    const { status, body } = await call(server, 'TransactWriteItems', {
      TransactItems: [
        put(key('body-2')),
        put(key('body'), {
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ],
    });
    assert.equal(status, 400);
    assert.equal(body.toString(), '{"__type":"com.amazonaws.dynamodb.v20120810#'
      + 'TransactionCanceledException","CancellationReasons":[{"Code":"None"},'
      + '{"Code":"ConditionalCheckFailed","Item":{"n":{"N":"1"},"pk":{"S":"body"}},'
      + '"Message":"The conditional request failed"}],"Message":"Transaction cancelled, please '
      + 'refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]"}');
  });

  test('writes index entries and statistics with its items', async () => {
    const indexed = (number, g) => ({
      Put: {
        TableName: INDEXED,
        Item: { h: { S: 'x' }, r: { N: String(number) }, l: { S: `l${number}` }, g: { S: g } },
      },
    });
    await transact([...range(5, (number) => indexed(number, 'blue')), put(key('beside'))]);
    await transact([indexed(0, 'green'),
      { Delete: { TableName: INDEXED, Key: { h: { S: 'x' }, r: { N: '1' } } } }]);
    const query = async (IndexName, condition, values) => (await client.send(new QueryCommand({
      TableName: INDEXED, IndexName, KeyConditionExpression: condition,
      ExpressionAttributeValues: values,
    }))).Items.map((found) => found.r.N);
    assert.deepEqual((await query('by-g', 'g = :g', { ':g': { S: 'blue' } })).sort(),
      ['2', '3', '4']);
    assert.deepEqual(await query('by-l', 'h = :h', { ':h': { S: 'x' } }), ['0', '2', '3', '4']);
    const { Table } = await client.send(new DescribeTableCommand({ TableName: INDEXED }));
    assert.equal(Table.ItemCount, 4);
  });

  test(`has up to ${ACTIONS_MAX} actions`, async () => {
    await transact(range(ACTIONS_MAX, (index) => increment(`many-${index}`)));
    assert.deepEqual(await read(`many-${ACTIONS_MAX - 1}`), item(`many-${ACTIONS_MAX - 1}`, 1));
    const { name, message } = await refusal(
      transact(range(ACTIONS_MAX + 1, (index) => increment(`many-${index}`))));
    assert.equal(name, 'ValidationException');
    assert.match(message, /^1 validation error detected: Value '\[.*\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/s);
    assert.deepEqual(await read('many-0'), item('many-0', 1));
  });
});

describe('reasons', () => {
  const MISMATCH = fault('The provided key element does not match the schema');
  const cases = [
    ['a put without the key', put({ x: { S: '1' } }),
      fault('One or more parameter values were invalid: Missing the key pk in the item')],
    ['a put with a key of another type', put({ pk: { N: '1' } }),
      fault('One or more parameter values were invalid: Type mismatch for key pk expected: S '
        + 'actual: N')],
    ['a key of another type', { Delete: { TableName: PLAIN, Key: { pk: { N: '1' } } } }, MISMATCH],
    ['a key with another attribute',
      { Delete: { TableName: PLAIN, Key: { ...key('a'), x: { S: '1' } } } }, MISMATCH],
    ['a key that is a list', { Delete: { TableName: PLAIN, Key: { pk: { L: [] } } } }, MISMATCH],
    ['an update of the key', update('a', 'SET pk = :v', { ':v': { S: 'b' } }),
      fault('One or more parameter values were invalid: Cannot update attribute pk. This attribute '
        + 'is part of the key')],
    ['an attribute that is not there', update('a', 'SET n = n + :v', { ':v': { N: '1' } }),
      fault('The provided expression refers to an attribute that does not exist in the item')],
    ['a path that is not there', update('a', 'SET m.x = :v', { ':v': { N: '1' } }),
      fault('The document path provided in the update expression is invalid for update')],
    ['a value that is nested too deep, of an update', update('a', 'SET d = :v', { ':v': TOO_DEEP }),
      fault('Nesting Levels have exceeded supported limits: Attributes in the item have nested '
        + 'levels beyond supported limit')],
    ['an index key of another type', {
      Put: { TableName: INDEXED, Item: { h: { S: 'a' }, r: { N: '1' }, g: { N: '1' } } },
    }, fault('One or more parameter values were invalid: Type mismatch for Index Key g Expected: S '
      + 'Actual: N IndexName: by-g')],
  ];
  for (const [name, action, want] of cases) {
    test(`${name} is one`, async () => {
      const { message, reasons } = await cancellation(transact([action, put(key('beside-it'))]));
      assert.equal(message, cancelled('ValidationError', 'None'));
      assert.deepEqual(reasons, [want, NONE]);
      assert.equal(await read('beside-it'), undefined);
    });
  }
});

test('a value of a check that is nested too deep is compared like any other', async () => {
  await transact([put(key('shallow'))]);
  const deep = { ExpressionAttributeValues: { ':v': TOO_DEEP } };
  await transact([check('shallow', 'd <> :v', deep)]);
  const { reasons } = await cancellation(transact([check('shallow', 'd = :v', deep)]));
  assert.deepEqual(reasons, [FAILED]);
});

describe('the whole request is refused', () => {
  const EMPTY = 'One or more parameter values are not valid. The AttributeValue for a key attribute '
    + 'cannot contain an empty string value. Key: pk';
  const cases = [
    ['for an item named twice', [put(key('a')), remove('a')],
      'Transaction request cannot include multiple operations on one item'],
    ['for an empty key to put', [put(key(''))], EMPTY],
    ['for an empty key to check', [check('', 'attribute_exists(pk)')], EMPTY],
    ['for an action of no kind', [{}],
      'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request'],
    ['for an action of two kinds', [{ ...put(key('a')), ...remove('b') }],
      'TransactItems can only contain one of Check, Put, Update or Delete'],
    ['for an empty list', [],
      "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
      + 'Member must have length greater than or equal to 1'],
    ['for a condition that cannot be read',
      [put(key('a'), { ConditionExpression: '((attribute_exists(pk)))' })],
      'Invalid ConditionExpression: The expression has redundant parentheses;'],
    ['for an item that is nested too deep', [put({ ...key('a'), d: TOO_DEEP })],
      'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels '
        + 'beyond supported limit'],
    ['for a value that no expression uses',
      [update('a', 'REMOVE n', { ':v': { S: '1' } })],
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}'],
    ['for an item that is too large', [put({ ...key('a'), x: { S: 'x'.repeat(400 * 1024) } })],
      'Item size has exceeded the maximum allowed size'],
    ['for more than 4 MB',
      range(12, (index) => put({ ...key(String(10 + index)), x: { S: 'x'.repeat(380_000) } })),
      'Transaction payload size cannot exceed 4MB. Payload Size: 4560060'],
  ];
  for (const [name, actions, message] of cases) {
    test(name, async () => {
      assert.deepEqual(await refusal(transact(actions)), validation(message));
    });
  }

  test('for a table that is not there', async () => {
    assert.deepEqual(await refusal(transact([
      put(key('a')), { Put: { TableName: 'transact-nowhere', Item: key('a') } }])), {
      name: 'ResourceNotFoundException', message: 'Requested resource not found',
    });
    assert.equal(await read('a'), undefined);
  });
});

describe('a token', () => {
  test('makes a request that is sent again harmless', async () => {
    const options = { ClientRequestToken: 'again', ReturnConsumedCapacity: 'TOTAL' };
    const first = await transact([increment('again')], options);
    const second = await transact([increment('again')], options);
    assert.deepEqual(first.ConsumedCapacity,
      [{ TableName: PLAIN, CapacityUnits: 2, WriteCapacityUnits: 2 }]);
    assert.deepEqual(second.ConsumedCapacity,
      [{ TableName: PLAIN, CapacityUnits: 2, ReadCapacityUnits: 2 }]);
    assert.deepEqual(await read('again'), item('again', 1));
  });

  test('refuses another request', async () => {
    await transact([increment('mine')], { ClientRequestToken: 'taken' });
    assert.deepEqual(
      await refusal(transact([increment('yours')], { ClientRequestToken: 'taken' })), {
        name: 'IdempotentParameterMismatchException',
        message: 'DynamoDB rejected the request because you retried a request with a different '
          + 'payload but with an idempotent token that was already used.',
      });
    assert.equal(await read('yours'), undefined);
  });

  test('of concurrent requests lets one of them take effect', async () => {
    await Promise.all(range(20, () => transact([increment('once'), increment('once-too')],
      { ClientRequestToken: 'once' })));
    assert.deepEqual(await read('once'), item('once', 1));
    assert.deepEqual(await read('once-too'), item('once-too', 1));
  });
});

test('the document client sees plain values in reasons', async () => {
  const documents = DynamoDBDocumentClient.from(client);
  await documents.send(new TransactWriteCommand({
    TransactItems: [{ Put: { TableName: PLAIN, Item: { pk: 'document', list: [1, 'two'] } } }],
  }));
  assert.deepEqual(await read('document'),
    { pk: { S: 'document' }, list: { L: [{ N: '1' }, { S: 'two' }] } });
  const { reasons } = await cancellation(documents.send(new TransactWriteCommand({
    TransactItems: [{
      Delete: {
        TableName: PLAIN, Key: { pk: 'document' }, ConditionExpression: 'attribute_exists(zzz)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    }],
  })));
  assert.equal(reasons[0].Code, 'ConditionalCheckFailed');
  assert.ok(reasons[0].Item);
});

// Batches: several tables in one call, limits, and what is left for the next call.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  BatchGetItemCommand, BatchWriteItemCommand, DescribeTableCommand,
} = require('@aws-sdk/client-dynamodb');
const {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient,
} = require('@aws-sdk/lib-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const PLAIN = 'batch-plain'; // pk:S
const SORTED = 'batch-sorted'; // h:S, r:N
const LARGE = 'batch-large'; // pk:S
const WRITES_MAX = 25;
const KEYS_MAX = 100;

let server;
let client;
let documents;
before(async () => {
  server = await startServer();
  client = createClient(server);
  documents = DynamoDBDocumentClient.from(client);
  await dropTables(client, PLAIN, SORTED, LARGE);
  await createTable(client, tableShape(PLAIN, 'pk:S'));
  await createTable(client, tableShape(SORTED, 'h:S', 'r:N'));
  await createTable(client, tableShape(LARGE, 'pk:S'));
});
after(async () => {
  await dropTables(client, PLAIN, SORTED, LARGE);
  client.destroy();
  await server.stop();
});

const get = (RequestItems, options = {}) => client.send(
  new BatchGetItemCommand({ RequestItems, ...options }));
const write = (RequestItems, options = {}) => client.send(
  new BatchWriteItemCommand({ RequestItems, ...options }));
const put = (Item) => ({ PutRequest: { Item } });
const remove = (Key) => ({ DeleteRequest: { Key } });
const plainKey = (text) => ({ pk: { S: text } });
const sortedKey = (text, number) => ({ h: { S: text }, r: { N: String(number) } });
const range = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const byKey = (items) => items.map((item) => item.pk.S).sort();

describe('several tables in one call', () => {
  test('are written and read', async () => {
    const written = await write({
      [PLAIN]: [put({ ...plainKey('a'), v: { S: 'one' } }), put({ ...plainKey('b') })],
      [SORTED]: [put({ ...sortedKey('x', 1), v: { L: [{ N: '1' }, { N: '2' }] } })],
    });
    assert.deepEqual(written.UnprocessedItems, {});
    const read = await get({
      [PLAIN]: { Keys: [plainKey('a'), plainKey('b'), plainKey('nobody')] },
      [SORTED]: { Keys: [sortedKey('x', '1.0')], ConsistentRead: true },
    });
    assert.deepEqual(read.UnprocessedKeys, {});
    assert.deepEqual(byKey(read.Responses[PLAIN]), ['a', 'b']);
    assert.deepEqual(read.Responses[SORTED],
      [{ ...sortedKey('x', 1), v: { L: [{ N: '1' }, { N: '2' }] } }]);
  });

  test('each with its own projection', async () => {
    await write({
      [PLAIN]: [put({ ...plainKey('p'), size: { N: '1' }, other: { S: 'x' } })],
      [SORTED]: [put({ ...sortedKey('p', 1), m: { M: { a: { S: '1' }, b: { S: '2' } } } })],
    });
    const { Responses } = await get({
      [PLAIN]: {
        Keys: [plainKey('p')],
        ProjectionExpression: '#s',
        ExpressionAttributeNames: { '#s': 'size' },
      },
      [SORTED]: { Keys: [sortedKey('p', 1)], ProjectionExpression: 'h, m.b' },
    });
    assert.deepEqual(Responses,
      { [PLAIN]: [{ size: { N: '1' } }], [SORTED]: [{ h: { S: 'p' }, m: { M: { b: { S: '2' } } } }] });
  });

  test('tell what each consumed', async () => {
    const kilobytes = (count) => ({ S: 'x'.repeat(count * 1024) });
    const written = await write({
      [PLAIN]: [put({ ...plainKey('c1'), v: kilobytes(2) }), remove(plainKey('nobody'))],
      [SORTED]: [put(sortedKey('c', 1))],
    }, { ReturnConsumedCapacity: 'TOTAL' });
    const units = (answer) => Object.fromEntries(
      answer.ConsumedCapacity.map((table) => [table.TableName, table.CapacityUnits]));
    assert.deepEqual(units(written), { [PLAIN]: 4, [SORTED]: 1 }); // 3 for 2 KB and the key.
    const read = await get({
      [PLAIN]: { Keys: [plainKey('c1'), plainKey('nobody')] },
      [SORTED]: { Keys: [sortedKey('c', 1)], ConsistentRead: true },
    }, { ReturnConsumedCapacity: 'INDEXES' });
    assert.deepEqual(units(read), { [PLAIN]: 1, [SORTED]: 1 });
    for (const table of read.ConsumedCapacity) {
      assert.deepEqual(table.Table, { CapacityUnits: table.CapacityUnits });
    }
  });

  test('are named by ARN as well, and the answer repeats it', async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: PLAIN }));
    await write({ [Table.TableArn]: [put({ ...plainKey('arn') })] });
    const { Responses } = await get({ [Table.TableArn]: { Keys: [plainKey('arn')] } });
    assert.deepEqual(Responses, { [Table.TableArn]: [plainKey('arn')] });
  });
});

describe('a batch is refused', () => {
  const duplicates = validation('Provided list of item keys contains duplicates');

  test('if it names an item twice', async () => {
    assert.deepEqual(await refusal(write({ [PLAIN]: [put(plainKey('d')), remove(plainKey('d'))] })),
      duplicates);
    assert.deepEqual(await refusal(get({ [PLAIN]: { Keys: [plainKey('d'), plainKey('d')] } })),
      duplicates);
  });

  test('as a whole, if one request is wrong', async () => {
    const wrong = { [PLAIN]: [put(plainKey('whole')), put({ v: { S: 'no key' } })] };
    assert.deepEqual(await refusal(write(wrong)), validation(
      'The provided key element does not match the schema'));
    const { Responses } = await get({ [PLAIN]: { Keys: [plainKey('whole')] } });
    assert.deepEqual(Responses[PLAIN], []);
  });

  test('if one of its tables does not exist', async () => {
    const missing = { name: 'ResourceNotFoundException', message: 'Requested resource not found' };
    assert.deepEqual(await refusal(get({ nobody: { Keys: [plainKey('a')] } })), missing);
    assert.deepEqual(await refusal(
      write({ [PLAIN]: [put(plainKey('whole'))], nobody: [put(plainKey('a'))] })), missing);
    const { Responses } = await get({ [PLAIN]: { Keys: [plainKey('whole')] } });
    assert.deepEqual(Responses[PLAIN], []);
  });

  test(`with more than ${KEYS_MAX} keys`, async () => {
    const keys = (count) => ({ Keys: range(count, (index) => plainKey(`k${index}`)) });
    await get({ [PLAIN]: keys(KEYS_MAX) });
    assert.equal((await refusal(get({ [PLAIN]: keys(KEYS_MAX + 1) }))).name, 'ValidationException');
    assert.deepEqual(
      await refusal(get({ [PLAIN]: keys(KEYS_MAX), [SORTED]: { Keys: [sortedKey('a', 1)] } })),
      validation('Too many items requested for the BatchGetItem call'));
  });

  test(`with more than ${WRITES_MAX} writes`, async () => {
    const writes = (count) => range(count, (index) => put(plainKey(`w${index}`)));
    await write({ [PLAIN]: writes(WRITES_MAX) });
    const { message } = await refusal(write({ [PLAIN]: writes(WRITES_MAX + 1) }));
    assert.match(message, /at 'requestItems' failed to satisfy constraint: Map value must satisfy /);
    assert.deepEqual(
      await refusal(write({ [PLAIN]: writes(WRITES_MAX), [SORTED]: [remove(sortedKey('a', 1))] })),
      validation('Too many items requested for the BatchWriteItem call'));
  });
});

test('what an answer of 16 MB does not hold is read by the next call', async () => {
  const SIZE = 300 * 1024;
  const COUNT = 60; // 17.6 MB
  const FITS = Math.floor((16 * 1024 * 1024) / SIZE);
  const name = (index) => `large${String(index).padStart(2, '0')}`;
  const v = { S: 'x'.repeat(SIZE - 'pk'.length - name(0).length - 'v'.length) };
  for (let first = 0; first < COUNT; first += 20) {
    await write({ [LARGE]: range(20, (index) => put({ ...plainKey(name(first + index)), v })) });
  }
  await write({ [SORTED]: [put(sortedKey('behind', 1))] });
  let pending = {
    [LARGE]: { Keys: range(COUNT, (index) => plainKey(name(index))), ConsistentRead: true },
    [SORTED]: {
      Keys: [sortedKey('behind', 1)],
      ProjectionExpression: '#h',
      ExpressionAttributeNames: { '#h': 'h' },
    },
  };
  const counts = [];
  const found = { [LARGE]: [], [SORTED]: [] };
  while (Object.keys(pending).length > 0) {
    const { Responses, UnprocessedKeys } = await get(pending);
    for (const table of Object.keys(Responses)) found[table].push(...Responses[table]);
    counts.push(Responses[LARGE]?.length);
    for (const table of Object.keys(UnprocessedKeys)) {
      const { Keys, ...parameters } = UnprocessedKeys[table];
      const { Keys: asked, ...sent } = pending[table];
      assert.deepEqual(parameters, sent);
      assert.equal(Keys.every((key) => asked.some(
        (one) => JSON.stringify(one) === JSON.stringify(key))), true);
    }
    pending = UnprocessedKeys;
  }
  assert.deepEqual(counts, [FITS, COUNT - FITS]);
  assert.deepEqual(byKey(found[LARGE]), range(COUNT, name));
  assert.deepEqual(found[SORTED], [{ h: { S: 'behind' } }]);
});

test('documents are written and read in batches', async () => {
  const orders = range(10, (index) => ({ h: 'order', r: index, total: index * 1.5, open: true }));
  const user = { pk: 'user', tags: new Set(['a', 'b']) };
  const { UnprocessedItems } = await documents.send(new BatchWriteCommand({
    RequestItems: {
      [SORTED]: orders.map((Item) => ({ PutRequest: { Item } })),
      [PLAIN]: [{ PutRequest: { Item: user } }, { DeleteRequest: { Key: { pk: 'nobody' } } }],
    },
  }));
  assert.deepEqual(UnprocessedItems, {});
  const { Responses, UnprocessedKeys } = await documents.send(new BatchGetCommand({
    RequestItems: {
      [SORTED]: { Keys: orders.map(({ h, r }) => ({ h, r })) },
      [PLAIN]: { Keys: [{ pk: 'user' }] },
    },
  }));
  assert.deepEqual(UnprocessedKeys, {});
  assert.deepEqual(Responses[SORTED].sort((a, b) => a.r - b.r), orders);
  assert.deepEqual(Responses[PLAIN], [user]);
});

// Secondary indexes as single-table designs use them: overloaded, sparse, inverted, local.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  BatchWriteItemCommand, DescribeTableCommand, PutItemCommand, QueryCommand, ScanCommand,
  UpdateItemCommand, paginateQuery, paginateScan,
} = require('@aws-sdk/client-dynamodb');
const {
  DynamoDBDocumentClient, DeleteCommand, PutCommand, QueryCommand: DocumentQueryCommand,
  UpdateCommand,
} = require('@aws-sdk/lib-dynamodb');
const {
  createClient, createTable, dropTables, refusal, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const SHOP = 'indexes-shop'; // Users and orders in one table.
const EVENTS = 'indexes-events'; // Multi-attribute keys.
const LOCAL = 'indexes-local'; // A local index that holds whole items.

const key = (hash, range) => [
  ...[hash].flat().map((AttributeName) => ({ AttributeName, KeyType: 'HASH' })),
  ...[range ?? []].flat().map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' })),
];
const attributes = (...names) => names.map((name) => {
  const [AttributeName, AttributeType] = name.split(':');
  return { AttributeName, AttributeType };
});

let server;
let client;
let documents;
before(async () => {
  server = await startServer('--in-memory');
  client = createClient(server);
  documents = DynamoDBDocumentClient.from(client);
  await dropTables(client, SHOP, EVENTS);
  await createTable(client, {
    TableName: SHOP,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes('PK:S', 'SK:S', 'GSI1PK:S', 'GSI1SK:S', 'open:S', 'total:N'),
    KeySchema: key('PK', 'SK'),
    LocalSecondaryIndexes: [
      { IndexName: 'by-total', KeySchema: key('PK', 'total'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    ],
    GlobalSecondaryIndexes: [
      { IndexName: 'GSI1', KeySchema: key('GSI1PK', 'GSI1SK'), Projection: { ProjectionType: 'ALL' } },
      {
        IndexName: 'open-orders',
        KeySchema: key('open', 'SK'),
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
      },
      { IndexName: 'inverted', KeySchema: key('SK', 'PK'), Projection: { ProjectionType: 'KEYS_ONLY' } },
    ],
  });
  await createTable(client, {
    TableName: EVENTS,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: attributes('id:S', 'tenant:S', 'kind:S', 'year:N', 'month:N'),
    KeySchema: key('id'),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-time',
        KeySchema: key(['tenant', 'kind'], ['year', 'month']),
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
  await documents.send(new PutCommand({
    TableName: SHOP,
    Item: { PK: 'USER#1', SK: 'PROFILE', GSI1PK: 'ann@example.com', GSI1SK: 'USER', name: 'Ann' },
  }));
  for (const [id, status, total, open] of [
    ['2024-01-03', 'PAID', 10], ['2024-02-01', 'NEW', 25, 'y'], ['2024-02-14', 'NEW', 5, 'y'],
    ['2024-03-09', 'SENT', 25],
  ]) {
    await documents.send(new PutCommand({
      TableName: SHOP,
      Item: {
        PK: 'USER#1', SK: `ORDER#${id}`, GSI1PK: `STATUS#${status}`, GSI1SK: id, total, note: 'n', ...(open && { open }),
      },
    }));
  }
});
after(async () => {
  await dropTables(client, SHOP, EVENTS);
  client.destroy();
  await server.stop();
});

const query = (IndexName, condition, values, more = {}) => documents.send(new DocumentQueryCommand({
  TableName: SHOP,
  IndexName,
  KeyConditionExpression: condition,
  ...more,
  ExpressionAttributeValues: values,
}));
const refused = async (promise, expected) => assert.deepEqual(await refusal(promise), expected);
const sortKeys = (page) => page.Items.map((item) => item.SK);

describe('reading', () => {
  test('an overloaded index serves users by e-mail and orders by status', async () => {
    const user = await query('GSI1', 'GSI1PK = :k', { ':k': 'ann@example.com' });
    assert.deepEqual(user.Items, [
      { PK: 'USER#1', SK: 'PROFILE', GSI1PK: 'ann@example.com', GSI1SK: 'USER', name: 'Ann' },
    ]);
    const fresh = await query('GSI1', 'GSI1PK = :k AND begins_with(GSI1SK, :m)',
      { ':k': 'STATUS#NEW', ':m': '2024-02' }, { ScanIndexForward: false });
    assert.deepEqual(sortKeys(fresh), ['ORDER#2024-02-14', 'ORDER#2024-02-01']);
  });

  test('a sparse index holds just the open orders, with what it includes', async () => {
    const page = await query('open-orders', '#o = :y', { ':y': 'y' }, {
      ExpressionAttributeNames: { '#o': 'open' },
    });
    assert.deepEqual(page.Items, [
      { open: 'y', PK: 'USER#1', SK: 'ORDER#2024-02-01', total: 25 },
      { open: 'y', PK: 'USER#1', SK: 'ORDER#2024-02-14', total: 5 },
    ]);
  });

  test('an inverted index has the table\'s key the other way round', async () => {
    const page = await query('inverted', 'SK = :s', { ':s': 'PROFILE' });
    assert.deepEqual(page.Items, [{ PK: 'USER#1', SK: 'PROFILE' }]);
  });

  test('a local index reads consistently and fetches attributes it does not have', async () => {
    const page = await query('by-total', 'PK = :u AND #t >= :t', { ':u': 'USER#1', ':t': 10 }, {
      ConsistentRead: true,
      ExpressionAttributeNames: { '#t': 'total' },
      ProjectionExpression: 'SK, note',
      ReturnConsumedCapacity: 'INDEXES',
    });
    assert.equal(page.Items[0].SK, 'ORDER#2024-01-03'); // The two others have the same total.
    assert.deepEqual(sortKeys(page).sort(), ['ORDER#2024-01-03', 'ORDER#2024-02-01', 'ORDER#2024-03-09']);
    assert.deepEqual(page.Items.map((item) => item.note), ['n', 'n', 'n']);
    assert.deepEqual(page.ConsumedCapacity, {
      TableName: SHOP,
      CapacityUnits: 4,
      Table: { CapacityUnits: 3 },
      LocalSecondaryIndexes: { 'by-total': { CapacityUnits: 1 } },
    });
  });

  test('paginators find each entry once, also of equal sort keys', async () => {
    for (const ScanIndexForward of [true, false]) {
      const found = [];
      for await (const page of paginateQuery({ client, pageSize: 1 }, {
        TableName: SHOP,
        IndexName: 'by-total',
        KeyConditionExpression: 'PK = :u',
        ExpressionAttributeValues: { ':u': { S: 'USER#1' } },
        ScanIndexForward,
      })) found.push(...page.Items);
      const totals = found.map((item) => item.total.N);
      assert.deepEqual(totals, ScanIndexForward ? ['5', '10', '25', '25'] : ['25', '25', '10', '5']);
      assert.equal(new Set(found.map((item) => item.SK.S)).size, 4);
    }
    const scanned = [];
    for await (const page of paginateScan({ client, pageSize: 2 }, { TableName: SHOP, IndexName: 'GSI1' })) {
      scanned.push(...page.Items.map((item) => item.SK.S));
    }
    assert.equal(new Set(scanned).size, 5);
    assert.equal(scanned.length, 5);
  });

  test('a key of several attributes is named from left to right', async () => {
    for (const [id, tenant, kind, year, month] of [
      ['a', 't1', 'login', 2024, 1], ['b', 't1', 'login', 2024, 11], ['c', 't1', 'login', 2023, 12],
      ['d', 't1', 'logout', 2024, 1], ['e', 't1', 'login', 2024, undefined],
    ]) {
      await documents.send(new PutCommand({
        TableName: EVENTS, Item: { id, tenant, kind, year, ...(month && { month }) },
      }));
    }
    const events = async (condition, values) => {
      const page = await documents.send(new DocumentQueryCommand({
        TableName: EVENTS,
        IndexName: 'by-time',
        KeyConditionExpression: condition,
        ExpressionAttributeNames: { '#y': 'year', '#m': 'month' },
        ExpressionAttributeValues: { ':t': 't1', ':k': 'login', ...values },
      }));
      return page.Items.map((item) => item.id).join('');
    };
    const both = 'tenant = :t AND kind = :k';
    assert.equal(await events(`${both} AND #y = :y AND #m > :m`, { ':y': 2024, ':m': 1 }), 'b');
    const all = await client.send(new QueryCommand({
      TableName: EVENTS,
      IndexName: 'by-time',
      KeyConditionExpression: both,
      ExpressionAttributeValues: { ':t': { S: 't1' }, ':k': { S: 'login' } },
      Limit: 2,
    }));
    assert.deepEqual(all.Items.map((item) => item.id.S), ['c', 'a']);
    assert.deepEqual(all.LastEvaluatedKey, {
      tenant: { S: 't1' }, kind: { S: 'login' }, year: { N: '2024' }, month: { N: '1' }, id: { S: 'a' },
    });
    await refused(events(`${both} AND #y > :y AND #m = :m`, { ':y': 2023, ':m': 1 }), validation(
      'RANGE key attributes year must have equality conditions specified in the query because a condition is present '
      + 'on key attribute month',
    ));
  });
});

describe('refusals', () => {
  const values = { ':k': { S: 'k' } };
  const input = (more) => new QueryCommand({
    TableName: SHOP, IndexName: 'inverted', KeyConditionExpression: 'SK = :k', ExpressionAttributeValues: values, ...more,
  });
  test('a global index is read eventually and has what it projects', async () => {
    await refused(client.send(input({ ConsistentRead: true })),
      validation('Consistent reads are not supported on global secondary indexes'));
    await refused(client.send(input({ Select: 'ALL_ATTRIBUTES' })), validation(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary '
      + 'index inverted because its projection type is not ALL',
    ));
    await refused(client.send(input({ ProjectionExpression: 'note' })), validation(
      'One or more parameter values were invalid: Global secondary index inverted does not project [note]',
    ));
    await refused(client.send(new ScanCommand({ TableName: SHOP, IndexName: 'none' })),
      validation('The table does not have the specified index: none'));
  });

  test('values that cannot be index keys are refused by every write', async () => {
    const Item = { PK: { S: 'x' }, SK: { S: 'x' }, total: { S: '1' } };
    const mismatch = validation(
      'One or more parameter values were invalid: Type mismatch for Index Key total Expected: N Actual: S '
      + 'IndexName: by-total',
    );
    await refused(client.send(new PutItemCommand({ TableName: SHOP, Item })), mismatch);
    await refused(client.send(new BatchWriteItemCommand({
      RequestItems: { [SHOP]: [{ PutRequest: { Item } }] },
    })), mismatch);
    await refused(client.send(new UpdateItemCommand({
      TableName: SHOP,
      Key: { PK: { S: 'x' }, SK: { S: 'x' } },
      UpdateExpression: 'SET #t = :t',
      ExpressionAttributeNames: { '#t': 'total' },
      ExpressionAttributeValues: { ':t': { S: '1' } },
    })), mismatch);
  });
});

describe('writing', () => {
  const Key = { PK: 'USER#2', SK: 'ORDER#1' };
  const openOrders = async () => (await query('open-orders', '#o = :y', { ':y': 'later' }, {
    ExpressionAttributeNames: { '#o': 'open' },
  })).Count;
  const update = (UpdateExpression, more = {}) => documents.send(new UpdateCommand({
    TableName: SHOP, Key, UpdateExpression, ReturnConsumedCapacity: 'INDEXES', ...more,
  }));

  test('an entry comes and goes with the attribute, and costs what changes', async () => {
    const put = await documents.send(new PutCommand({
      TableName: SHOP, Item: Key, ReturnConsumedCapacity: 'INDEXES', ReturnItemCollectionMetrics: 'SIZE',
    }));
    assert.deepEqual(put.ConsumedCapacity.GlobalSecondaryIndexes, { inverted: { CapacityUnits: 1 } });
    assert.deepEqual(put.ItemCollectionMetrics, {
      ItemCollectionKey: { PK: 'USER#2' }, SizeEstimateRangeGB: [0, 1],
    });
    assert.equal(await openOrders(), 0);
    const opened = await update('SET #o = :y', {
      ExpressionAttributeNames: { '#o': 'open' }, ExpressionAttributeValues: { ':y': 'later' },
    });
    assert.deepEqual(opened.ConsumedCapacity, {
      TableName: SHOP,
      CapacityUnits: 2,
      Table: { CapacityUnits: 1 },
      GlobalSecondaryIndexes: { 'open-orders': { CapacityUnits: 1 } },
    });
    assert.equal(await openOrders(), 1);
    const noted = await update('SET note = :n', { ExpressionAttributeValues: { ':n': 'n' } });
    assert.equal(noted.ConsumedCapacity.CapacityUnits, 1);
    await update('REMOVE #o', { ExpressionAttributeNames: { '#o': 'open' } });
    assert.equal(await openOrders(), 0);
    await documents.send(new DeleteCommand({ TableName: SHOP, Key }));
    assert.equal((await query('inverted', 'SK = :s', { ':s': 'ORDER#1' })).Count, 0);
  });

  test('stator\'s own: DescribeTable counts the entries of each index at once', async () => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: SHOP }));
    const counts = Object.fromEntries([...Table.LocalSecondaryIndexes, ...Table.GlobalSecondaryIndexes]
      .map((index) => [index.IndexName, index.ItemCount]));
    assert.deepEqual(counts, { 'by-total': 4, GSI1: 5, 'open-orders': 2, inverted: 5 });
    assert.equal(Table.ItemCount, 5);
    assert.equal(Table.LocalSecondaryIndexes[0].IndexSizeBytes,
      4 * ('PK'.length + 'USER#1'.length + 'SK'.length + 'ORDER#2024-01-03'.length + 'total'.length + 2));
  });
});

describe('an item and its entry in a local index', () => {
  const SIZE_MAX = 400 * 1024;
  const Key = { p: { S: 'a' }, s: { S: '1' } };
  // The item's size, keys included, is `size`; it is indexed by `l`.
  const ofSize = (size) => ({ ...Key, l: { S: 'l' }, x: { S: 'x'.repeat(size - 7) } });
  const put = (Item, more = {}) => client.send(new PutItemCommand({ TableName: LOCAL, Item, ...more }));
  const batch = (Item) => client.send(new BatchWriteItemCommand({
    RequestItems: { [LOCAL]: [{ PutRequest: { Item } }] },
  }));
  const tooLarge = validation('Item size has exceeded the maximum allowed size');

  before(async () => {
    await dropTables(client, LOCAL);
    await createTable(client, {
      TableName: LOCAL,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: attributes('p:S', 's:S', 'l:S'),
      KeySchema: key('p', 's'),
      LocalSecondaryIndexes: [
        { IndexName: 'all', KeySchema: key('p', 'l'), Projection: { ProjectionType: 'ALL' } },
      ],
    });
  });

  for (const [name, write] of Object.entries({ PutItem: put, BatchWriteItem: batch })) {
    test(`have 409,600 bytes together in ${name}`, async () => {
      await write(ofSize(SIZE_MAX / 2 - 1));
      await write(ofSize(SIZE_MAX / 2));
      assert.deepEqual(await refusal(write(ofSize(SIZE_MAX / 2 + 1))), tooLarge);
    });
  }

  test('are judged before the condition', async () => {
    const answer = await refusal(put(ofSize(SIZE_MAX / 2 + 1),
      { ConditionExpression: 'attribute_exists(nothing)' }));
    assert.deepEqual(answer, tooLarge);
  });

  test('without an entry the item may have all of it', async () => {
    const { l, ...item } = ofSize(SIZE_MAX);
    await put(item);
  });

  test('have 409,600 bytes together in UpdateItem', async () => {
    const update = (size) => client.send(new UpdateItemCommand({
      TableName: LOCAL,
      Key,
      UpdateExpression: 'SET l = :l, x = :x',
      ExpressionAttributeValues: { ':l': { S: 'l' }, ':x': ofSize(size).x },
    }));
    await update(SIZE_MAX / 2 - 1);
    await update(SIZE_MAX / 2);
    assert.deepEqual(await refusal(update(SIZE_MAX / 2 + 1)),
      validation('Item size to update has exceeded the maximum allowed size'));
  });
});

// Order management in one table, with the plain client of the AWS SDK for JavaScript v3, where each
// value names its type.
//
//   item   pk             sk             index `by-status` (local)  index `by-day`
//   order  CUSTOMER#<id>  ORDER#<order>  <status>#<date>            <day>#<shard>, <date>
//
// `by-status` sorts a customer's orders by a composite key, so one range is "the shipped ones of
// January". `by-day` is for all orders of a day: that is a hot key, so writers spread it over a few
// shards at random and readers ask all of them.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const {
  BatchWriteItemCommand, ConditionalCheckFailedException, CreateTableCommand, DeleteTableCommand,
  DynamoDBClient, GetItemCommand, QueryCommand, UpdateItemCommand, paginateQuery,
  waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const { startServer } = require('../api/lib/server.js');

const TableName = 'orders-sdk3';
const SHARDS = 4;
const BATCH_MAX = 25; // BatchWriteItem takes no more.

const key = (name, KeyType) => ({ AttributeName: name, KeyType });

async function createTable(client) {
  await client.send(new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: ['pk', 'sk', 'statusDate', 'dayShard', 'placed'].map((name) => (
      { AttributeName: name, AttributeType: 'S' })),
    KeySchema: [key('pk', 'HASH'), key('sk', 'RANGE')],
    LocalSecondaryIndexes: [{
      IndexName: 'by-status',
      KeySchema: [key('pk', 'HASH'), key('statusDate', 'RANGE')],
      Projection: { ProjectionType: 'ALL' },
    }],
    GlobalSecondaryIndexes: [{
      IndexName: 'by-day',
      KeySchema: [key('dayShard', 'HASH'), key('placed', 'RANGE')],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    }],
  }));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName });
}

// Data access: the only part of the program that knows the keys.

function orderItem({ customer, order, placed, status, total }) {
  return {
    pk: { S: `CUSTOMER#${customer}` },
    sk: { S: `ORDER#${order}` },
    statusDate: { S: `${status}#${placed}` },
    dayShard: { S: `${placed.slice(0, 10)}#${Math.floor(Math.random() * SHARDS)}` },
    placed: { S: placed },
    status: { S: status },
    total: { N: String(total) },
    version: { N: '1' },
  };
}

// What the service could not take now comes back and is sent again.
async function load(client, items) {
  for (let start = 0; start < items.length; start += BATCH_MAX) {
    let requests = items.slice(start, start + BATCH_MAX).map((Item) => ({ PutRequest: { Item } }));
    while (requests.length > 0) {
      const { UnprocessedItems } = await client.send(
        new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
      requests = UnprocessedItems[TableName] ?? [];
    }
  }
}

// `from` and `to` are days; the order of the text is the order of time.
async function ordersByStatus(client, customer, status, from, to) {
  const { Items } = await client.send(new QueryCommand({
    TableName,
    IndexName: 'by-status',
    KeyConditionExpression: 'pk = :pk AND statusDate BETWEEN :from AND :to',
    ExpressionAttributeValues: {
      ':pk': { S: `CUSTOMER#${customer}` },
      ':from': { S: `${status}#${from}` },
      ':to': { S: `${status}#${to}~` }, // '~' is behind every time of the last day.
    },
  }));
  return Items;
}

async function newestByStatus(client, customer, status, Limit) {
  const { Items } = await client.send(new QueryCommand({
    TableName,
    IndexName: 'by-status',
    KeyConditionExpression: 'pk = :pk AND begins_with(statusDate, :status)',
    ExpressionAttributeValues: {
      ':pk': { S: `CUSTOMER#${customer}` }, ':status': { S: `${status}#` },
    },
    ScanIndexForward: false,
    Limit,
  }));
  return Items;
}

async function ordersOfDay(client, day, pageSize) {
  const shards = await Promise.all(Array.from({ length: SHARDS }, async (_, shard) => {
    const items = [];
    const pages = paginateQuery({ client, pageSize }, {
      TableName,
      IndexName: 'by-day',
      KeyConditionExpression: 'dayShard = :shard',
      ExpressionAttributeValues: { ':shard': { S: `${day}#${shard}` } },
    });
    for await (const { Items } of pages) items.push(...Items);
    return items;
  }));
  return shards.flat().sort((a, b) => (a.placed.S < b.placed.S ? -1 : 1));
}

// Only who read the current version may change the order; the others must read it again.
async function changeStatus(client, item, status) {
  const { Attributes } = await client.send(new UpdateItemCommand({
    TableName,
    Key: { pk: item.pk, sk: item.sk },
    UpdateExpression: 'SET #status = :status, statusDate = :statusDate ADD version :one',
    ConditionExpression: 'version = :seen',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: {
      ':status': { S: status },
      ':statusDate': { S: `${status}#${item.placed.S}` },
      ':one': { N: '1' },
      ':seen': item.version,
    },
    ReturnValues: 'ALL_NEW',
  }));
  return Attributes;
}

// The example at work.

const CUSTOMERS = ['ada', 'bob', 'cem'];
const two = (number) => String(number).padStart(2, '0');
const ORDERS = Array.from({ length: 60 }, (_, n) => ({
  customer: CUSTOMERS[n % 3],
  order: String(1000 + n),
  placed: `2026-01-${two(1 + (n % 20))}T${two(n % 24)}:${two(n % 60)}`,
  status: n % 2 === 0 ? 'PLACED' : 'SHIPPED',
  total: 10 + n,
}));
const inTime = (a, b) => (a.placed < b.placed ? -1 : 1);
const expected = (condition) => ORDERS.filter(condition).sort(inTime).map(({ order }) => order);
const numbers = (items) => items.map(({ sk }) => sk.S.slice('ORDER#'.length));

let server;
let client;
before(async () => {
  server = await startServer('--in-memory');
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  await createTable(client);
  await load(client, ORDERS.map(orderItem));
});
after(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  await server.stop();
});

test('a customer\'s orders of one status between two days', async () => {
  const items = await ordersByStatus(client, 'bob', 'SHIPPED', '2026-01-05', '2026-01-14');
  assert.deepEqual(numbers(items), expected(({ customer, status, placed }) => (
    customer === 'bob' && status === 'SHIPPED' && placed > '2026-01-05' && placed < '2026-01-15')));
  assert.ok(items.length > 3);
});

test('the newest of one status, newest first', async () => {
  const all = expected(({ customer, status }) => customer === 'ada' && status === 'PLACED');
  assert.deepEqual(numbers(await newestByStatus(client, 'ada', 'PLACED', 3)),
    all.reverse().slice(0, 3));
});

test('all orders of a day, whichever shard they are in', async () => {
  for (const pageSize of [1, 100]) {
    const items = await ordersOfDay(client, '2026-01-07', pageSize);
    assert.deepEqual(numbers(items), expected(({ placed }) => placed.startsWith('2026-01-07')));
    assert.equal(items.length, 3);
    assert.deepEqual(Object.keys(items[0]).sort(), ['dayShard', 'pk', 'placed', 'sk']);
  }
  assert.deepEqual(await ordersOfDay(client, '2026-02-01', 100), []);
});

test('of two changes that saw the same version, one is refused', async () => {
  const Key = { pk: { S: 'CUSTOMER#cem' }, sk: { S: 'ORDER#1002' } };
  const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
  assert.equal(Item.status.S, 'PLACED');
  const results = await Promise.allSettled(
    ['SHIPPED', 'CANCELLED'].map((status) => changeStatus(client, Item, status)));
  const won = results.find(({ status }) => status === 'fulfilled').value;
  const lost = results.find(({ status }) => status === 'rejected').reason;
  assert.ok(lost instanceof ConditionalCheckFailedException);
  assert.equal(won.version.N, '2');
  // The winner's order has moved within the index, too.
  assert.deepEqual(numbers(await newestByStatus(client, 'cem', won.status.S, 100))
    .filter((order) => order === '1002'), ['1002']);
  const placed = numbers(await newestByStatus(client, 'cem', 'PLACED', 100));
  assert.equal(placed.includes('1002'), false);
  // With what it returned the winner may go on.
  const { version } = await changeStatus(client, won, 'RETURNED');
  assert.equal(version.N, '3');
});

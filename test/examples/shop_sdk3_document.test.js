// An online shop in one table, with the document client of the AWS SDK for JavaScript v3.
//
//   item      pk                  sk                    index `gsi1`: gsi1pk, gsi1sk
//   user      USER#<id>           USER                  EMAIL#<mail>, USER
//   order     USER#<id>           ORDER#<date>#<id>     STATUS#<status>, <date>
//   cart      USER#<id>           CART                  -
//   category  CATEGORY            <path>                -
//   product   PRODUCT#<id>        PRODUCT               <path of its category>, <padded price>#<id>
//   session   SESSION#<id>        SESSION               -
//
// Categories are a tree told by paths: begins_with finds a branch, and all of them are one Query.
'use strict';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const {
  CreateTableCommand, DeleteTableCommand, DynamoDBClient, waitUntilTableExists,
} = require('@aws-sdk/client-dynamodb');
const {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand,
  UpdateCommand, paginateQuery,
} = require('@aws-sdk/lib-dynamodb');
const { startServer } = require('../api/lib/server.js');

const TableName = 'shop-sdk3';
const IndexName = 'gsi1';
const BATCH_MAX = 25;

const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((AttributeName) => (
    { AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [{
    IndexName,
    KeySchema: [
      { AttributeName: 'gsi1pk', KeyType: 'HASH' }, { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'ALL' },
  }],
};

// Data access. Each entity has one function that knows its keys.

const padded = (cents) => String(cents).padStart(8, '0');
const keys = (pk, sk, gsi1pk, gsi1sk) => ({ pk, sk, gsi1pk, gsi1sk });
const userItem = ({ id, email, ...more }) => (
  { ...keys(`USER#${id}`, 'USER', `EMAIL#${email}`, 'USER'), ...more });
const orderItem = ({ user, id, date, status, ...more }) => (
  { ...keys(`USER#${user}`, `ORDER#${date}#${id}`, `STATUS#${status}`, date), id, ...more });
const categoryItem = (path) => ({ pk: 'CATEGORY', sk: path });
const productItem = ({ id, category, cents, ...more }) => (
  { ...keys(`PRODUCT#${id}`, 'PRODUCT', category, `${padded(cents)}#${id}`), cents, ...more });
const sessionItem = ({ id, user, expires }) => (
  { pk: `SESSION#${id}`, sk: 'SESSION', user, expires });

async function load(documents, items) {
  const waiting = items.map((Item) => ({ PutRequest: { Item } }));
  while (waiting.length > 0) {
    const { UnprocessedItems } = await documents.send(new BatchWriteCommand(
      { RequestItems: { [TableName]: waiting.splice(0, BATCH_MAX) } }));
    waiting.push(...(UnprocessedItems[TableName] ?? []));
  }
}

async function query(documents, request) {
  const items = [];
  for await (const page of paginateQuery({ client: documents }, { TableName, ...request })) {
    items.push(...page.Items);
  }
  return items;
}

const byEmail = async (documents, email) => (await query(documents, {
  IndexName,
  KeyConditionExpression: 'gsi1pk = :email',
  ExpressionAttributeValues: { ':email': `EMAIL#${email}` },
}))[0];

const byStatus = (documents, status, from, to) => query(documents, {
  IndexName,
  KeyConditionExpression: 'gsi1pk = :status AND gsi1sk BETWEEN :from AND :to',
  ExpressionAttributeValues: { ':status': `STATUS#${status}`, ':from': from, ':to': to },
});

const categoriesBelow = async (documents, path) => (await query(documents, {
  KeyConditionExpression: 'pk = :all AND begins_with(sk, :path)',
  ExpressionAttributeValues: { ':all': 'CATEGORY', ':path': `${path}/` },
})).map(({ sk }) => sk);

// One page of products, dearest or cheapest first; `next` starts the following page.
async function productPage(documents, category, { below = 99999999, cheapest, limit, next }) {
  const { Items, LastEvaluatedKey } = await documents.send(new QueryCommand({
    TableName,
    IndexName,
    KeyConditionExpression: 'gsi1pk = :category AND gsi1sk < :below',
    ExpressionAttributeValues: { ':category': category, ':below': padded(below) },
    ScanIndexForward: cheapest,
    Limit: limit,
    ExclusiveStartKey: next,
  }));
  return { products: Items.map(({ pk }) => pk.slice('PRODUCT#'.length)), next: LastEvaluatedKey };
}

async function newestOrders(documents, user, Limit) {
  const { Items } = await documents.send(new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :user AND begins_with(sk, :order)',
    ExpressionAttributeValues: { ':user': `USER#${user}`, ':order': 'ORDER#' },
    ProjectionExpression: 'id, #lines[0].product',
    ExpressionAttributeNames: { '#lines': 'lines' }, // A reserved word, as many nouns are.
    ScanIndexForward: false,
    Limit,
  }));
  return Items;
}

// Each save writes the next version and expects the one that was read. 0: there is none yet.
const saveCart = (documents, user, products, version) => documents.send(new PutCommand({
  TableName,
  Item: { pk: `USER#${user}`, sk: 'CART', products, version: version + 1 },
  ConditionExpression: version === 0 ? 'attribute_not_exists(pk)' : 'version = :version',
  ExpressionAttributeValues: version === 0 ? undefined : { ':version': version },
}));

// Takes from the stock only what is there.
const takeFromStock = (documents, id, count) => documents.send(new UpdateCommand({
  TableName,
  Key: { pk: `PRODUCT#${id}`, sk: 'PRODUCT' },
  UpdateExpression: 'ADD stock :less, sold :count',
  ConditionExpression: 'stock >= :count',
  ExpressionAttributeValues: { ':less': -count, ':count': count },
  ReturnValues: 'UPDATED_NEW',
}));

// Those of the sessions that have not expired, whether or not they have been deleted since.
async function liveSessions(documents, ids, now) {
  const Keys = ids.map((id) => ({ pk: `SESSION#${id}`, sk: 'SESSION' }));
  const { Responses } = await documents.send(
    new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
  return Responses[TableName].filter(({ expires }) => expires > now);
}

// The example at work.

const NOW = 1_767_225_600;
const ITEMS = [
  userItem({ id: 'u1', email: 'ada@example.com', name: 'Ada', address: { city: 'Zürich' } }),
  userItem({ id: 'u2', email: 'bob@example.com', name: 'Bob' }),
  ...['home', 'home/garden', 'home/garden/tools', 'home/light', 'homebrew'].map(categoryItem),
  ...Array.from({ length: 30 }, (_, n) => (
    productItem({ id: `lamp-${n}`, category: 'home/light', cents: 100 * (n + 1), stock: 3 }))),
  ...Array.from({ length: 9 }, (_, n) => orderItem({
    user: n % 2 ? 'u2' : 'u1',
    id: n,
    date: `2026-05-0${n + 1}`,
    status: n % 3 ? 'PAID' : 'SENT',
    lines: [{ product: `lamp-${n}`, count: 1 }],
  })),
  sessionItem({ id: 'old', user: 'u1', expires: NOW - 1 }),
  sessionItem({ id: 'new', user: 'u1', expires: NOW + 3600 }),
];

let server;
let client;
let documents;
before(async () => {
  server = await startServer('--in-memory');
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
  });
  await client.send(new CreateTableCommand(TABLE));
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 }, { TableName });
  await load(documents, ITEMS);
});
after(async () => {
  await client.send(new DeleteTableCommand({ TableName }));
  client.destroy();
  await server.stop();
});
const CONDITION_FAILED = { name: 'ConditionalCheckFailedException' };

test('one index finds users by e-mail and orders by status', async () => {
  assert.deepEqual((await byEmail(documents, 'ada@example.com')).address, { city: 'Zürich' });
  const paid = await byStatus(documents, 'PAID', '2026-05-03', '2026-05-08');
  assert.deepEqual(paid.map(({ id }) => id), [2, 4, 5, 7]);
});

test('a branch of the categories', async () => {
  assert.deepEqual(await categoriesBelow(documents, 'home'),
    ['home/garden', 'home/garden/tools', 'home/light']);
  assert.deepEqual(await categoriesBelow(documents, 'home/garden'), ['home/garden/tools']);
});

test('products by price, page by page, from either end', async () => {
  let page = await productPage(documents, 'home/light', { cheapest: true, limit: 2 });
  assert.deepEqual(page.products, ['lamp-0', 'lamp-1']);
  page = await productPage(documents, 'home/light', { cheapest: true, limit: 2, next: page.next });
  assert.deepEqual(page.products, ['lamp-2', 'lamp-3']);
  page = await productPage(documents, 'home/light', { below: 1000, cheapest: false, limit: 2 });
  assert.deepEqual(page.products, ['lamp-8', 'lamp-7']);
  page = await productPage(documents, 'home/light', { below: 200, cheapest: false, limit: 2 });
  assert.deepEqual(page, { products: ['lamp-0'], next: undefined });
});

test('the newest orders of a user, with what was first in them', async () => {
  assert.deepEqual(await newestOrders(documents, 'u1', 2), [
    { id: 8, lines: [{ product: 'lamp-8' }] }, { id: 6, lines: [{ product: 'lamp-6' }] },
  ]);
});

test('a cart that two browser tabs change', async () => {
  await saveCart(documents, 'u1', ['lamp-1'], 0);
  await assert.rejects(saveCart(documents, 'u1', ['lamp-2'], 0), CONDITION_FAILED);
  await saveCart(documents, 'u1', ['lamp-1', 'lamp-2'], 1);
  await assert.rejects(saveCart(documents, 'u1', [], 1), CONDITION_FAILED);
  const { Item } = await documents.send(
    new GetCommand({ TableName, Key: { pk: 'USER#u1', sk: 'CART' }, ConsistentRead: true }));
  assert.deepEqual(Item.products, ['lamp-1', 'lamp-2']);
});

test('the last pieces are sold once', async () => {
  const buyers = await Promise.allSettled(
    Array.from({ length: 8 }, () => takeFromStock(documents, 'lamp-7', 1)));
  const sold = buyers.filter(({ status }) => status === 'fulfilled');
  assert.equal(sold.length, 3);
  assert.deepEqual(sold.map(({ value }) => value.Attributes.stock).sort(), [0, 1, 2]);
  await assert.rejects(takeFromStock(documents, 'lamp-7', 1), CONDITION_FAILED);
});

test('expired sessions are left out by the reader', async () => {
  const live = await liveSessions(documents, ['old', 'new', 'unknown'], NOW);
  assert.deepEqual(live, [sessionItem({ id: 'new', user: 'u1', expires: NOW + 3600 })]);
});

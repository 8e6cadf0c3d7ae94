// An online shop in one table, with the DocumentClient of the AWS SDK for JavaScript v2.
//
//   item      pk            sk                index `gsi1`: gsi1pk, gsi1sk
//   user      USER#<id>     USER              EMAIL#<mail>, USER#<id>
//   session   USER#<id>     SESSION#<id>      -
//   order     USER#<id>     ORDER#<date>      STATUS#<status>, <date>
//   product   PRODUCT#<id>  PRODUCT           CATEGORY#<name>, <padded price>
//
// And the busiest key of a shop: what is on sale today is one list for everybody. It is written to
// one of a few shards at random, SALE#<shard>, and read from all of them.
'use strict';
process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = '1';
const assert = require('node:assert/strict');
const { after, before, test } = require('node:test');
const AWS = require('aws-sdk');
const { startServer } = require('../api/lib/server.js');

const TableName = 'shop-sdk2';
const SALE_SHARDS = 5;

function createTable(dynamodb) {
  return dynamodb.createTable({
    TableName,
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
      { AttributeName: 'gsi1pk', AttributeType: 'S' },
      { AttributeName: 'gsi1sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [{
      IndexName: 'gsi1',
      KeySchema: [
        { AttributeName: 'gsi1pk', KeyType: 'HASH' }, { AttributeName: 'gsi1sk', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
      ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
    }],
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
  }).promise();
}

function openShop(documents) {
  // All pages of a Query.
  async function all(request) {
    const items = [];
    let ExclusiveStartKey;
    do {
      const page = await documents.query({ TableName, ...request, ExclusiveStartKey }).promise();
      items.push(...page.Items);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    return items;
  }

  return {
    async load(items) {
      for (let start = 0; start < items.length; start += 25) {
        let RequestItems = {
          [TableName]: items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } })),
        };
        do {
          const answer = await documents.batchWrite({ RequestItems }).promise();
          RequestItems = answer.UnprocessedItems;
        } while (RequestItems[TableName]);
      }
    },

    byEmail: (email) => all({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :email',
      ExpressionAttributeValues: { ':email': `EMAIL#${email}` },
    }),

    byStatus: (status, month) => all({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :status AND begins_with(gsi1sk, :month)',
      ExpressionAttributeValues: { ':status': `STATUS#${status}`, ':month': month },
      Limit: 2, // Of a page, not of the whole.
    }),

    byPrice: (category, low, high) => all({
      IndexName: 'gsi1',
      KeyConditionExpression: 'gsi1pk = :category AND gsi1sk BETWEEN :low AND :high',
      ExpressionAttributeValues: {
        ':category': `CATEGORY#${category}`, ':low': padded(low), ':high': padded(high),
      },
    }),

    // The user, all sessions that are alive and all orders: one Query, one filter.
    account: (user, now) => all({
      KeyConditionExpression: 'pk = :user',
      FilterExpression: 'attribute_not_exists(expires) OR expires > :now',
      ExpressionAttributeValues: { ':user': `USER#${user}`, ':now': now },
    }),

    async lastOrder(user) {
      const { Items } = await documents.query({
        TableName,
        KeyConditionExpression: 'pk = :user AND begins_with(sk, :order)',
        ExpressionAttributeValues: { ':user': `USER#${user}`, ':order': 'ORDER#' },
        ScanIndexForward: false,
        Limit: 1,
      }).promise();
      return Items[0];
    },

    // Each use of a session makes it live longer; one that has expired stays dead.
    async touchSession(user, session, now, expires) {
      try {
        const { Attributes } = await documents.update({
          TableName,
          Key: { pk: `USER#${user}`, sk: `SESSION#${session}` },
          UpdateExpression: 'SET expires = :expires ADD uses :one',
          ConditionExpression: 'expires > :now',
          ExpressionAttributeValues: { ':expires': expires, ':now': now, ':one': 1 },
          ReturnValues: 'ALL_NEW',
        }).promise();
        return Attributes;
      } catch (error) {
        if (error.code !== 'ConditionalCheckFailedException') throw error;
        return null;
      }
    },

    putOnSale(product, cents) {
      const shard = Math.floor(Math.random() * SALE_SHARDS);
      return documents.put({
        TableName, Item: { pk: `SALE#${shard}`, sk: `${padded(cents)}#${product}`, product },
      }).promise();
    },

    async cheapestOnSale(count) {
      const shards = await Promise.all(Array.from({ length: SALE_SHARDS }, (_, shard) => (
        documents.query({
          TableName,
          KeyConditionExpression: 'pk = :shard',
          ExpressionAttributeValues: { ':shard': `SALE#${shard}` },
          Limit: count, // No shard can add more than that.
        }).promise())));
      return shards.flatMap(({ Items }) => Items)
        .sort((a, b) => (a.sk < b.sk ? -1 : 1))
        .slice(0, count)
        .map(({ product }) => product);
    },

    // Reads, changes and writes; begins again if another writer was faster.
    async rename(product, change) {
      const Key = { pk: `PRODUCT#${product}`, sk: 'PRODUCT' };
      for (;;) {
        const { Item } = await documents.get({ TableName, Key, ConsistentRead: true }).promise();
        try {
          await documents.put({
            TableName,
            Item: { ...Item, name: change(Item.name), version: Item.version + 1 },
            ConditionExpression: 'version = :version',
            ExpressionAttributeValues: { ':version': Item.version },
          }).promise();
          return;
        } catch (error) {
          if (error.code !== 'ConditionalCheckFailedException') throw error;
        }
      }
    },
  };
}

const padded = (cents) => String(cents).padStart(7, '0');
const user = (id, email) => (
  { pk: `USER#${id}`, sk: 'USER', gsi1pk: `EMAIL#${email}`, gsi1sk: `USER#${id}` });
const order = (id, date, status) => (
  { pk: `USER#${id}`, sk: `ORDER#${date}`, gsi1pk: `STATUS#${status}`, gsi1sk: date });
const session = (id, name, expires) => (
  { pk: `USER#${id}`, sk: `SESSION#${name}`, expires, uses: 0 });
const product = (id, category, cents) => ({
  pk: `PRODUCT#${id}`, sk: 'PRODUCT', gsi1pk: `CATEGORY#${category}`, gsi1sk: padded(cents),
  name: id, version: 1,
});
const NOW = 1_780_000_000;

let server;
let dynamodb;
let documents;
let shop;
before(async () => {
  server = await startServer('--in-memory');
  dynamodb = new AWS.DynamoDB({
    endpoint: server.url, region: 'us-east-1', accessKeyId: 'any', secretAccessKey: 'any',
  });
  documents = new AWS.DynamoDB.DocumentClient({ service: dynamodb });
  await createTable(dynamodb);
  await dynamodb.waitFor('tableExists', { TableName, $waiter: { delay: 1 } }).promise();
  shop = openShop(documents);
  await shop.load([
    user('u1', 'ada@example.com'), user('u2', 'bob@example.com'),
    order('u1', '2026-04-01', 'SENT'), order('u1', '2026-04-09', 'PAID'),
    order('u2', '2026-04-02', 'SENT'), order('u2', '2026-04-30', 'SENT'),
    order('u2', '2026-05-01', 'SENT'),
    session('u1', 'tablet', NOW - 10), session('u1', 'phone', NOW + 10),
    product('pen', 'paper', 150), product('book', 'paper', 2500), product('globe', 'paper', 12000),
    ...Array.from({ length: 30 }, (_, n) => product(`bulk-${n}`, 'bulk', n)),
  ]);
});
after(async () => {
  await dynamodb.deleteTable({ TableName }).promise();
  await server.stop();
});

test('one index for users by e-mail, orders by status and products by price', async () => {
  assert.deepEqual((await shop.byEmail('bob@example.com')).map(({ pk }) => pk), ['USER#u2']);
  assert.deepEqual((await shop.byStatus('SENT', '2026-04')).map(({ gsi1sk }) => gsi1sk),
    ['2026-04-01', '2026-04-02', '2026-04-30']);
  assert.deepEqual((await shop.byPrice('paper', 200, 12000)).map(({ name }) => name),
    ['book', 'globe']);
  assert.equal((await shop.byPrice('bulk', 0, 100)).length, 30);
});

test('an account is one Query, without the sessions that have expired', async () => {
  assert.deepEqual((await shop.account('u1', NOW)).map(({ sk }) => sk),
    ['ORDER#2026-04-01', 'ORDER#2026-04-09', 'SESSION#phone', 'USER']);
  assert.equal((await shop.lastOrder('u2')).sk, 'ORDER#2026-05-01');
});

test('a session lives on while it is used', async () => {
  const phone = await shop.touchSession('u1', 'phone', NOW, NOW + 100);
  assert.deepEqual(phone, { ...session('u1', 'phone', NOW + 100), uses: 1 });
  assert.equal(await shop.touchSession('u1', 'tablet', NOW, NOW + 100), null);
  assert.equal(await shop.touchSession('u1', 'nobody', NOW, NOW + 100), null);
});

test('what is on sale, from all shards', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => shop.putOnSale(`p${n}`, 9 + n)));
  assert.deepEqual(await shop.cheapestOnSale(4), ['p0', 'p1', 'p2', 'p3']);
});

test('no change of a product is lost', async () => {
  await Promise.all(['a', 'b', 'c', 'd'].map((letter) => (
    shop.rename('globe', (name) => name + letter))));
  const { Item } = await documents.get(
    { TableName, Key: { pk: 'PRODUCT#globe', sk: 'PRODUCT' } }).promise();
  assert.equal(Item.version, 5);
  assert.equal([...Item.name.slice('globe'.length)].sort().join(''), 'abcd');
});

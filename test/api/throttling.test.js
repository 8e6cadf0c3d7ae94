// A table whose throughput is enforced: the SDK's retries get through, and batches finish.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const {
  BatchWriteItemCommand, CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand,
  UpdateItemCommand,
} = require('@aws-sdk/client-dynamodb');
const { createClient } = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const BURST_S = 300;
const DEBT = 60;
const COST = 390; // Units of one write that empties a bucket.

let server;
let once; // Does not retry.
let client;
before(async () => {
  server = await startServer('--capacity', 'enforce');
  once = createClient(server);
  client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
    maxAttempts: 12,
  });
});
after(async () => {
  client.destroy();
  once.destroy();
  await server.stop();
});

// A table with so many write units, of which nothing is left for some seconds.
async function createEmptied(name, units) {
  await once.send(new CreateTableCommand({
    TableName: name,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    ProvisionedThroughput: { ReadCapacityUnits: 1000, WriteCapacityUnits: units },
  }));
  for (let left = BURST_S * units + DEBT; left > 0; left -= COST) {
    const v = 'x'.repeat(Math.min(left, COST) * 1024 - 50);
    await once.send(new PutItemCommand({
      TableName: name, Item: { pk: { S: `empty-${left}` }, v: { S: v } },
    }));
  }
}

async function scanAll(name) {
  const items = [];
  let ExclusiveStartKey;
  do {
    const page = await client.send(new ScanCommand({
      TableName: name, ConsistentRead: true, ExclusiveStartKey,
    }));
    items.push(...page.Items.filter((item) => !item.pk.S.startsWith('empty')));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

describe('a throttled table', () => {
  test('tells the reason', async () => {
    await createEmptied('Reasons', 1);
    const put = new PutItemCommand({ TableName: 'Reasons', Item: { pk: { S: 'a' } } });
    await assert.rejects(once.send(put), (error) => {
      assert.equal(error.name, 'ProvisionedThroughputExceededException');
      if (error.ThrottlingReasons) { // Since version 3.868.
        assert.equal(error.ThrottlingReasons[0].reason, 'TableWriteProvisionedThroughputExceeded');
        assert.match(error.ThrottlingReasons[0].resource, /:table\/Reasons$/);
      }
      return true;
    });
  });

  test('gets every write once by retries', async () => {
    await createEmptied('Retries', 20);
    let attempts = 0;
    const add = async (worker) => {
      for (let i = 0; i < 5; i++) {
        const answer = await client.send(new UpdateItemCommand({
          TableName: 'Retries',
          Key: { pk: { S: `${worker}-${i}` } },
          UpdateExpression: 'ADD n :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        }));
        attempts += answer.$metadata.attempts;
      }
    };
    await Promise.all([0, 1, 2, 3, 4, 5].map(add));
    const items = await scanAll('Retries');
    assert.deepEqual(items.map((item) => item.n.N), Array(30).fill('1'));
    assert.ok(attempts > 30, 'something was throttled');
  });

  test('returns what a batch has to send again', async () => {
    await createEmptied('Batches', 30);
    const names = Array.from({ length: 60 }, (_, i) => `item-${i}`);
    let left = names.map((name) => ({ PutRequest: { Item: { pk: { S: name } } } }));
    while (left.length > 0) {
      const sent = left.slice(0, 25);
      const answer = await client.send(
        new BatchWriteItemCommand({ RequestItems: { Batches: sent } }));
      const unprocessed = answer.UnprocessedItems.Batches ?? [];
      left = [...unprocessed, ...left.slice(25)];
    }
    const found = (await scanAll('Batches')).map((item) => item.pk.S);
    assert.deepEqual(found.sort(), names.sort());
  });
});

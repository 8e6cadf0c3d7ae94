// Optimistic locking as applications and ORMs write it: a version that each write expects and
// increments. Of several writers with one version exactly one may win.
'use strict';
const assert = require('node:assert/strict');
const { beforeEach, describe, test } = require('node:test');
const { UpdateItemCommand, ConditionalCheckFailedException } = require('@aws-sdk/client-dynamodb');
const {
  DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand,
} = require('@aws-sdk/lib-dynamodb');
const { KEY, useItemTable } = require('./lib/item_table.js');

const WRITERS = 16;
const table = useItemTable('locking');
const n = (number) => ({ N: String(number) });

// Runs the same write many times at once; tells how many went through. All others must have failed
// for their condition.
async function winners(write) {
  const results = await Promise.allSettled(
    Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  for (const { reason } of results) {
    if (reason) assert.equal(reason.name, 'ConditionalCheckFailedException', reason.message);
  }
  return results.filter(({ status }) => status === 'fulfilled').length;
}

describe('with the client', () => {
  beforeEach(() => table.put({ version: n(3), writer: n(-1) }));

  const writes = {
    'PutItem and ConditionExpression': (writer) => table.put({ version: n(4), writer: n(writer) }, {
      ConditionExpression: '#version = :expected',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':expected': n(3) },
    }),
    'PutItem and Expected': (writer) => table.put({ version: n(4), writer: n(writer) }, {
      Expected: { version: { Value: n(3) } },
    }),
    'PutItem and Expected with an operator': (writer) => table.put(
      { version: n(4), writer: n(writer) },
      { Expected: { version: { ComparisonOperator: 'EQ', AttributeValueList: [n(3)] } } }),
    'UpdateItem and ConditionExpression': (writer) => table.client.send(new UpdateItemCommand({
      TableName: table.name,
      Key: KEY,
      UpdateExpression: 'SET writer = :writer, version = version + :one',
      ConditionExpression: 'version = :expected',
      ExpressionAttributeValues: { ':writer': n(writer), ':one': n(1), ':expected': n(3) },
    })),
    'UpdateItem with AttributeUpdates and Expected': (writer) => table.client.send(
      new UpdateItemCommand({
        TableName: table.name,
        Key: KEY,
        AttributeUpdates: {
          writer: { Action: 'PUT', Value: n(writer) }, version: { Action: 'ADD', Value: n(1) },
        },
        Expected: { version: { Value: n(3), Exists: true } },
      })),
  };
  for (const [name, write] of Object.entries(writes)) {
    test(`one writer of a version wins: ${name}`, async () => {
      let winner;
      assert.equal(await winners(async (writer) => {
        await write(writer);
        winner = writer;
      }), 1);
      assert.deepEqual(await table.attributes(), { version: n(4), writer: n(winner) });
      // And with the version it just wrote nobody can write again.
      assert.equal(await winners(write), 0);
    });
  }

  test('one of many creators wins', async () => {
    for (const options of [
      { ConditionExpression: 'attribute_not_exists(pk)' }, { Expected: { pk: { Exists: false } } },
    ]) {
      await table.remove();
      assert.equal(await winners((writer) => table.put({ writer: n(writer) }, options)), 1);
    }
  });

  test('one of many removers wins', async () => {
    for (const options of [
      { ConditionExpression: 'attribute_exists(pk)' },
      { Expected: { version: { Value: n(3) } } },
    ]) {
      await table.put({ version: n(3) });
      assert.equal(await winners(() => table.remove(options)), 1);
    }
  });

  test('the failure is an exception of its own type and brings the item if asked to', async () => {
    await assert.rejects(table.put({}, {
      ConditionExpression: 'version = :expected',
      ExpressionAttributeValues: { ':expected': n(2) },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }), (error) => {
      assert.ok(error instanceof ConditionalCheckFailedException);
      assert.equal(error.$metadata.httpStatusCode, 400);
      assert.deepEqual(error.Item, { ...KEY, version: n(3), writer: n(-1) });
      return true;
    });
  });
});

describe('with the document client', () => {
  const Key = { pk: 'document' };
  const TableName = table.name;
  let documents;
  beforeEach(async () => {
    documents = DynamoDBDocumentClient.from(table.client);
    await documents.send(new PutCommand({ TableName, Item: { ...Key, version: 1, total: 0 } }));
  });
  const read = async () => (await documents.send(
    new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;

  // Read, change, write if nobody else has; again until it works.
  async function save(change) {
    for (;;) {
      const item = await read();
      try {
        await documents.send(new PutCommand({
          TableName,
          Item: { ...change(item), version: item.version + 1 },
          ConditionExpression: '#v = :v',
          ExpressionAttributeNames: { '#v': 'version' },
          ExpressionAttributeValues: { ':v': item.version },
        }));
        return;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    }
  }

  test('every change is made once when all writers retry', async () => {
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => (
      save((item) => ({ ...item, total: item.total + writer })))));
    const total = (WRITERS * (WRITERS - 1)) / 2;
    assert.deepEqual(await read(), { ...Key, version: 1 + WRITERS, total });
  });

  test('an update returns the version it made', async () => {
    const update = (expected) => documents.send(new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET #t = #t + :five ADD version :one',
      ConditionExpression: 'version = :expected AND #t BETWEEN :zero AND :ten',
      ExpressionAttributeNames: { '#t': 'total' },
      ExpressionAttributeValues: {
        ':five': 5, ':one': 1, ':expected': expected, ':zero': 0, ':ten': 10,
      },
      ReturnValues: 'UPDATED_NEW',
    }));
    assert.deepEqual((await update(1)).Attributes, { version: 2, total: 5 });
    await assert.rejects(update(1), ConditionalCheckFailedException);
    assert.deepEqual((await update(2)).Attributes, { version: 3, total: 10 });
  });

  test('documents are changed in place', async () => {
    await documents.send(new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET entries = list_append(if_not_exists(entries, :none), :line), '
        + 'address = :address ADD tags :tags',
      ExpressionAttributeValues: {
        ':none': [], ':line': [{ sku: 'a', count: 1 }], ':address': { city: 'Bern' },
        ':tags': new Set(['new']),
      },
    }));
    const { Attributes } = await documents.send(new UpdateCommand({
      TableName,
      Key,
      UpdateExpression: 'SET entries[0].#count = entries[0].#count + :one, address.zip = :zip '
        + 'REMOVE address.city',
      ConditionExpression: 'contains(tags, :tag) AND size(entries) = :one',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1, ':zip': '3000', ':tag': 'new' },
      ReturnValues: 'ALL_NEW',
    }));
    assert.deepEqual(Attributes, {
      ...Key, version: 1, total: 0, entries: [{ sku: 'a', count: 2 }], address: { zip: '3000' },
      tags: new Set(['new']),
    });
  });

  test('a document is deleted by its version, and returned', async () => {
    const remove = (expected) => documents.send(new DeleteCommand({
      TableName,
      Key,
      ConditionExpression: 'version = :v',
      ExpressionAttributeValues: { ':v': expected },
      ReturnValues: 'ALL_OLD',
    }));
    await assert.rejects(remove(2), ConditionalCheckFailedException);
    assert.deepEqual((await remove(1)).Attributes, { ...Key, version: 1, total: 0 });
    assert.equal(await read(), undefined);
  });
});

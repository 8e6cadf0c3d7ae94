// Query: one partition key, in the order of the sort keys, page by page.
'use strict';
const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');
const { PutItemCommand, QueryCommand, paginateQuery } = require('@aws-sdk/client-dynamodb');
const {
  DynamoDBDocumentClient, PutCommand, QueryCommand: DocumentQueryCommand,
  paginateQuery: paginateDocumentQuery,
} = require('@aws-sdk/lib-dynamodb');
const {
  createClient, createTable, dropTables, refusal, tableShape, validation,
} = require('./lib/client.js');
const { startServer } = require('./lib/server.js');

const ORDERS = 'query-orders'; // customer:S, placed:S
const READINGS = 'query-readings'; // sensor:S, at:N
const BLOBS = 'query-blobs'; // owner:S, id:B
const LARGE = 'query-large'; // pk:S, sk:N
const MEGABYTE = 1024 * 1024;

let server;
let client;
let documents;
before(async () => {
  server = await startServer('--in-memory');
  client = createClient(server);
  documents = DynamoDBDocumentClient.from(client);
  await dropTables(client, ORDERS, READINGS, BLOBS, LARGE);
  await createTable(client, tableShape(ORDERS, 'customer:S', 'placed:S'));
  await createTable(client, tableShape(READINGS, 'sensor:S', 'at:N'));
  await createTable(client, tableShape(BLOBS, 'owner:S', 'id:B'));
  await createTable(client, tableShape(LARGE, 'pk:S', 'sk:N'));
  for (const [customer, placed, total, status] of [
    ['ann', '2024-01-03#a', 10, 'open'], ['ann', '2024-01-20#b', 25, 'closed'],
    ['ann', '2024-02-01#c', 5, 'open'], ['ann', '2024-02-14#d', 40, 'closed'],
    ['ann', '2024-03-09#e', 15, 'open'], ['bob', '2024-01-05#f', 99, 'open'],
  ]) {
    await documents.send(new PutCommand({
      TableName: ORDERS, Item: { customer, placed, total, status, parts: [{ sku: 'x', count: total }] },
    }));
  }
});
after(async () => {
  await dropTables(client, ORDERS, READINGS, BLOBS, LARGE);
  client.destroy();
  await server.stop();
});

const query = (input) => client.send(new QueryCommand(input));
const orders = (input = {}) => documents.send(new DocumentQueryCommand({
  TableName: ORDERS,
  KeyConditionExpression: 'customer = :c',
  ...input,
  ExpressionAttributeValues: { ':c': 'ann', ...input.ExpressionAttributeValues },
}));
const letters = (page) => page.Items.map((item) => item.placed.slice(-1)).join('');
const month = (from, to) => ({
  KeyConditionExpression: 'customer = :c AND placed BETWEEN :from AND :to',
  ExpressionAttributeValues: { ':from': from, ':to': to },
});

describe('the key condition', () => {
  const sorted = (condition, values) => orders({
    KeyConditionExpression: `customer = :c AND ${condition}`, ExpressionAttributeValues: values,
  });
  for (const [condition, values, want] of [
    ['placed = :v', { ':v': '2024-02-01#c' }, 'c'],
    ['placed < :v', { ':v': '2024-02-01#c' }, 'ab'],
    ['placed <= :v', { ':v': '2024-02-01#c' }, 'abc'],
    ['placed > :v', { ':v': '2024-02-01#c' }, 'de'],
    ['placed >= :v', { ':v': '2024-02-01#c' }, 'cde'],
    [':v > placed', { ':v': '2024-02-01#c' }, 'ab'],
    ['placed BETWEEN :v AND :w', { ':v': '2024-01-20', ':w': '2024-02-14#d' }, 'bcd'],
    ['begins_with(placed, :v)', { ':v': '2024-02' }, 'cd'],
    ['begins_with(placed, :v)', { ':v': '2025' }, ''],
  ]) {
    test(`${condition} with ${Object.values(values)}`, async () => {
      assert.equal(letters(await sorted(condition, values)), want);
    });
  }

  test('alone selects the whole item collection', async () => {
    const page = await orders();
    assert.equal(letters(page), 'abcde');
    assert.equal(page.Count, 5);
    assert.equal(page.ScannedCount, 5);
    assert.equal(page.LastEvaluatedKey, undefined);
  });

  test('of an unknown partition key selects nothing', async () => {
    const page = await orders({ ExpressionAttributeValues: { ':c': 'nobody' } });
    assert.deepEqual(page.Items, []);
    assert.equal(page.Count, 0);
  });

  test('orders numbers by value and binaries by unsigned bytes', async () => {
    const numbers = ['10', '9', '-1', '-10', '0.5', '1E3', '0', '-0.5'];
    for (const at of numbers) {
      await client.send(new PutItemCommand({
        TableName: READINGS, Item: { sensor: { S: 's' }, at: { N: at } },
      }));
    }
    const readings = await query({
      TableName: READINGS, KeyConditionExpression: 'sensor = :s AND #at > :low',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':s': { S: 's' }, ':low': { N: '-10.0' } },
    });
    assert.deepEqual(readings.Items.map((item) => item.at.N),
      ['-1', '-0.5', '0', '0.5', '9', '10', '1000']);

    for (const id of [[255], [0], [0, 0], [1], [127], [128], [255, 0]]) {
      await client.send(new PutItemCommand({
        TableName: BLOBS, Item: { owner: { S: 'o' }, id: { B: Uint8Array.from(id) } },
      }));
    }
    const blobs = await query({
      TableName: BLOBS, KeyConditionExpression: '#o = :o', ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': { S: 'o' } }, ScanIndexForward: false,
    });
    assert.deepEqual(blobs.Items.map((item) => [...item.id.B]),
      [[255, 0], [255], [128], [127], [1], [0, 0], [0]]);
    const prefixed = await query({
      TableName: BLOBS, KeyConditionExpression: '#o = :o AND begins_with(id, :b)',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': { S: 'o' }, ':b': { B: Uint8Array.from([255]) } },
    });
    assert.equal(prefixed.Count, 2);
  });

  test('may be given as KeyConditions', async () => {
    const page = await query({
      TableName: ORDERS,
      KeyConditions: {
        customer: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'ann' }] },
        placed: { ComparisonOperator: 'GE', AttributeValueList: [{ S: '2024-02' }] },
      },
      QueryFilter: {
        total: { ComparisonOperator: 'LT', AttributeValueList: [{ N: '20' }] },
        status: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'closed' }] },
      },
      ConditionalOperator: 'OR',
      AttributesToGet: ['total'],
    });
    assert.deepEqual(page.Items, [{ total: { N: '5' } }, { total: { N: '40' } }, { total: { N: '15' } }]);
  });
});

describe('a page', () => {
  test('newest first, the last two', async () => {
    const page = await orders({ ScanIndexForward: false, Limit: 2 });
    assert.equal(letters(page), 'ed');
    assert.deepEqual(page.LastEvaluatedKey, { customer: 'ann', placed: '2024-02-14#d' });
  });

  test('counts its limit before the filter', async () => {
    const page = await orders({
      Limit: 3, FilterExpression: '#s = :s', ExpressionAttributeNames: { '#s': 'status' },
      ExpressionAttributeValues: { ':s': 'closed' },
    });
    assert.equal(letters(page), 'b');
    assert.equal(page.ScannedCount, 3);
    assert.deepEqual(page.LastEvaluatedKey, { customer: 'ann', placed: '2024-02-01#c' });
  });

  test('that ends with the last item has a key, though the next page is empty', async () => {
    const page = await orders({ Limit: 5 });
    assert.deepEqual(page.LastEvaluatedKey, { customer: 'ann', placed: '2024-03-09#e' });
    const next = await orders({ ExclusiveStartKey: page.LastEvaluatedKey });
    assert.deepEqual(next.Items, []);
    assert.equal(next.LastEvaluatedKey, undefined);
  });

  test('keeps the upper bound on the second page', async () => {
    const condition = month('2024-01', '2024-02-02');
    const page = await orders({ ...condition, Limit: 1 });
    assert.equal(letters(page), 'a');
    assert.equal(letters(await orders({ ...condition, ExclusiveStartKey: page.LastEvaluatedKey })), 'bc');
  });

  test('of every size, both ways, is what the paginators make of it', async () => {
    for (const ScanIndexForward of [true, false]) {
      for (let pageSize = 1; pageSize <= 6; pageSize++) {
        const pages = [];
        for await (const page of paginateDocumentQuery({ client: documents, pageSize }, {
          TableName: ORDERS, KeyConditionExpression: 'customer = :c', ScanIndexForward,
          ExpressionAttributeValues: { ':c': 'ann' },
        })) pages.push(letters(page));
        assert.equal(pages.join(''), ScanIndexForward ? 'abcde' : 'edcba');
        assert.ok(pages.every((text) => text.length <= pageSize));
      }
    }
  });

  test('holds one megabyte, measured before the filter', async () => {
    const text = 'x'.repeat(100 * 1024);
    for (let sk = 0; sk < 25; sk++) {
      await client.send(new PutItemCommand({
        TableName: LARGE, Item: { pk: { S: 'p' }, sk: { N: `${sk}` }, text: { S: text } },
      }));
    }
    const input = {
      TableName: LARGE, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } },
      ReturnConsumedCapacity: 'TOTAL', ConsistentRead: true,
    };
    const pages = [];
    for await (const page of paginateQuery({ client }, { ...input })) pages.push(page);
    assert.deepEqual(pages.map((page) => page.Count), [11, 11, 3]);
    assert.deepEqual(pages.flatMap((page) => page.Items.map((item) => Number(item.sk.N))),
      Array.from({ length: 25 }, (_, index) => index));
    const bytes = 11 * (text.length + 'pk'.length + 'p'.length + 'sk'.length + 2 + 'text'.length);
    assert.ok(bytes >= MEGABYTE);
    assert.equal(pages[1].ConsumedCapacity.CapacityUnits, Math.ceil(bytes / 4096));
    const filtered = await query({ ...input, FilterExpression: 'attribute_not_exists(#t)',
      ExpressionAttributeNames: { '#t': 'text' } });
    assert.deepEqual([filtered.Count, filtered.ScannedCount, filtered.LastEvaluatedKey.sk.N], [0, 11, '10']);
  });
});

describe('what is shown', () => {
  test('parts of items', async () => {
    const page = await orders({
      ...month('2024-01', '2024-01-04'), ProjectionExpression: 'parts[0].sku, #t',
      ExpressionAttributeNames: { '#t': 'total' },
    });
    assert.deepEqual(page.Items, [{ total: 10, parts: [{ sku: 'x' }] }]);
  });

  test('only the count', async () => {
    const page = await orders({ Select: 'COUNT' });
    assert.equal(page.Items, undefined);
    assert.equal(page.Count, 5);
  });

  test('consumed capacity, half when eventually consistent', async () => {
    const units = async (input) => (await orders({ ReturnConsumedCapacity: 'INDEXES', ...input }))
      .ConsumedCapacity;
    assert.deepEqual(await units({}),
      { TableName: ORDERS, CapacityUnits: 0.5, Table: { CapacityUnits: 0.5 } });
    assert.equal((await units({ ConsistentRead: true })).CapacityUnits, 1);
    assert.equal((await units({ ExpressionAttributeValues: { ':c': 'nobody' } })).CapacityUnits, 0.5);
  });
});

describe('refused', () => {
  const cases = [
    ['without a key condition', { KeyConditionExpression: undefined, ExpressionAttributeValues: undefined },
      'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.'],
    ['a filter on a key', { FilterExpression: 'placed > :c' },
      'Filter Expression can only contain non-primary key attributes: Primary key attribute: placed'],
    ['an index that is not there', { IndexName: 'by-status' },
      'The table does not have the specified index: by-status'],
    ['projected attributes of no index', { Select: 'ALL_PROJECTED_ATTRIBUTES' },
      '1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName'],
    ['a count of parts', { Select: 'COUNT', ProjectionExpression: 'placed' },
      '1 validation error detected: Cannot specify the ProjectionExpression when choosing to get only the Count'],
    ['a start of another schema', { ExclusiveStartKey: { customer: { S: 'ann' } } },
      'The provided starting key is invalid'],
    ['a start outside of the condition', {
      KeyConditionExpression: 'customer = :c AND placed > :c',
      ExclusiveStartKey: { customer: { S: 'ann' }, placed: { S: '2024' } },
    }, 'The provided starting key does not match the range key predicate'],
    ['a start of another partition key', { ExclusiveStartKey: { customer: { S: 'bob' }, placed: { S: 'x' } } },
      'The provided starting key is outside query boundaries based on provided conditions'],
    ['an empty key', { ExpressionAttributeValues: { ':c': { S: '' } } },
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an '
      + 'empty string value. Key: customer'],
  ];
  for (const [name, input, message] of cases) {
    test(name, async () => {
      assert.deepEqual(await refusal(query({
        TableName: ORDERS, KeyConditionExpression: 'customer = :c',
        ExpressionAttributeValues: { ':c': { S: 'ann' } }, ...input,
      })), validation(message));
    });
  }
});
